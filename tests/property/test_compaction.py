"""Cutting any history, sense or nonsense, at any place that is offered (spec cache.md C16; report 20)."""

from collections import deque
from collections.abc import Sequence

from hypothesis import assume, example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from openprogram.context.compaction import after, boundaries, choose, newest_user, shown, summary_text
from openprogram.core.compaction import Compaction
from openprogram.core.jsonio import canonical, encode
from openprogram.core.messages import Message, TextBlock
from openprogram.core.prompt import ModelParams, ProviderRequest
from openprogram.fakeapi.dialects.anthropic import AnthropicDialect
from openprogram.fakeapi.dialects.chat import ChatDialect
from openprogram.fakeapi.dialects.responses import ResponsesDialect
from openprogram.fakeapi.exchange import Accepted, examine
from openprogram.fakeapi.state import FakeState
from openprogram.providers import anthropic_prompt, chat_prompt, responses_prompt
from openprogram.providers.catalog import facts_of
from openprogram.providers.hosts import Quirks
from openprogram.providers.segments import segments
from tests.support import histories as made
from tests.support.fake import ANTHROPIC_HEADERS, OPENAI_HEADERS
from tests.support.histories import TOOL, histories
from tests.support.script import chain

_STATE = FakeState()
_MESSAGE = TypeAdapter(Message)


def summarised(history: Sequence[Message], place: int, number: int = 0) -> tuple[Message, ...]:
    """The history with a summary below it that cuts what the model sees at `place`."""
    view = shown(history)
    user = newest_user(view)
    kept = view[place].id if place < len(view) else None
    about = Compaction(kept, user.id if user else None, "full", 100, 10)
    text = TextBlock(summary_text("Much was done.", "", whole=True))
    summary = Message(
        f"m_sum_{number}", history[-1].id, "notice", (text,), "2026-01-01T00:00:00.000Z", compaction=about
    )
    return (*history, summary)


@st.composite
def cut_histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """A history with one or two summaries on it, and perhaps a message behind them."""
    history: tuple[Message, ...] = draw(histories)
    for number in range(draw(st.integers(1, 2))):
        places = boundaries(shown(history))
        assume(places)
        history = summarised(history, draw(st.sampled_from(places)), number)
        if draw(st.booleans()):
            said = Message(
                f"m_said_{number}", history[-1].id, "user", (TextBlock("Go on."),), "2026-01-01T00:00:00.000Z"
            )
            history = (*history, said)
    return history


def _requests(messages: tuple[Message, ...], model: str) -> ProviderRequest:
    return ProviderRequest(model, ("You help.",), (TOOL,), messages, ModelParams(), "s_1")


@given(cut_histories())
def test_every_api_accepts_any_history_cut_at_any_place(history: tuple[Message, ...]) -> None:
    view = shown(history)
    claude, gpt = "claude-opus-5-5", "gpt-6.2"
    bodies = (
        (
            AnthropicDialect(),
            ANTHROPIC_HEADERS,
            anthropic_prompt.request_body(_requests(view, claude), "e", facts_of(claude)),
        ),
        (
            ChatDialect(),
            OPENAI_HEADERS,
            chat_prompt.request_body(_requests(view, "demo"), "e", facts_of("demo"), Quirks()),
        ),
        (ResponsesDialect(), OPENAI_HEADERS, responses_prompt.request_body(_requests(view, gpt), "e", facts_of(gpt))),
    )
    for dialect, headers, body in bodies:
        judged = examine(_STATE, dialect, headers, canonical(body))
        assert isinstance(judged, Accepted), (judged.rule, judged.violation.message)


@given(cut_histories())
def test_the_users_newest_message_stays_in_sight(history: tuple[Message, ...]) -> None:
    assert newest_user(shown(history)) is newest_user(history)


_LATE = made.chain(
    made.message("tool", made.result("c_1")),
    made.message("assistant", made.call("c_1")),
    made.message("user", "hm"),
    made.message("tool", made.result("c_1")),
)


@given(histories)
@example(_LATE)
def test_no_cut_parts_a_call_from_its_result_or_lies_within_a_step(history: tuple[Message, ...]) -> None:
    """Report 20: what goes out behind the cut holds both or neither."""
    for place in boundaries(history):
        assert all(not made < place <= answered for made, answered in _pairs(history))
        before, behind = history[place - 1], history[place : place + 1]
        assert before.role in ("assistant", "tool") or (behind and behind[0].role == "user")
        assert not (before.role == "assistant" and behind and behind[0].role == "tool")


def _pairs(history: Sequence[Message]) -> list[tuple[int, int]]:
    """Each call's place with that of the result which answers it: the first behind it that answers no other."""
    results: dict[str, deque[int]] = {}
    for place, message in enumerate(history):
        for result in message.results:
            results.setdefault(result.call_id, deque()).append(place)
    found: list[tuple[int, int]] = []
    for place, message in enumerate(history):
        for call in message.calls if message.role == "assistant" else ():
            waiting = results.get(call.call_id, deque())
            while waiting and waiting[0] <= place:
                waiting.popleft()
            if waiting:
                found.append((place, waiting.popleft()))
    return found


@given(cut_histories())
def test_nothing_is_lost_but_what_was_summarised(history: tuple[Message, ...]) -> None:
    """Each message is in sight, or stands above the cut of the newest summary. None is there twice, none is edited."""
    view = shown(history)
    assert len({message.id for message in view}) == len(view)
    assert all(any(message is stored for stored in history) for message in view)
    summary = view[0]
    assert summary.compaction is not None
    ids = [message.id for message in history]
    cut = ids.index(summary.compaction.kept_from or summary.id)
    behind = [message for message in history[cut:] if message.compaction is None]
    assert [message for message in view if message in behind] == behind


@given(cut_histories())
def test_a_summary_is_rendered_to_the_same_bytes_after_a_restart(history: tuple[Message, ...]) -> None:  # C13
    again = tuple(_MESSAGE.validate_json(encode(message)) for message in history)
    assert segments(_requests(shown(again), "demo")) == segments(_requests(shown(history), "demo"))


@given(cut_histories(), st.data())
def test_a_branch_from_above_the_summary_sees_what_it_saw(history: tuple[Message, ...], data: st.DataObject) -> None:
    """Edit and regenerate before the cut (C16): the history is whole again, or as the summary before had left it."""
    newest = max(place for place, message in enumerate(history) if message.compaction is not None)
    place = data.draw(st.integers(0, newest))
    branch = history[:place]
    assert all(message.id != history[newest].id for message in shown(branch))
    if all(message.compaction is None for message in branch):
        assert shown(branch) == branch


@given(histories, st.data())
def test_what_the_summary_does_not_cover_stays(history: tuple[Message, ...], data: st.DataObject) -> None:
    sizes = [data.draw(st.integers(0, 50)) for _ in history]
    room, keep = data.draw(st.integers(0, 300)), data.draw(st.integers(0, 300))
    cut = choose(boundaries(history), sizes, room, keep)
    assume(cut is not None)
    assert cut is not None
    assert cut.kept <= cut.covered
    assert sum(sizes[: cut.covered]) <= room
    assert sum(sizes[cut.kept :]) <= keep or cut.kept == cut.covered
    assert after(history, cut.kept)[-len(history[cut.kept :]) :] == history[cut.kept :] or cut.kept == len(history)


@given(st.lists(st.sampled_from([1, 3]), min_size=1, max_size=12), st.integers(1, 12))
def test_a_long_turn_of_whole_steps_can_be_cut_behind_each(calls: list[int], steps: int) -> None:
    """Real agent sessions have one user message and a hundred steps."""
    parts: list[tuple[str, object]] = [("user", "Do it all.")]
    for step in range(steps):
        ids = [f"c_{step}_{number}" for number in range(calls[step % len(calls)])]
        parts += [("assistant", [made.call(each) for each in ids]), ("tool", [made.result(each) for each in ids])]
    history = tuple(chain(*parts))  # type: ignore[arg-type]
    assert boundaries(history) == tuple(range(3, 2 * steps + 2, 2))

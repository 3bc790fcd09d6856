"""Where Messages requests are marked for the cache, and what goes back of their reasoning (spec cache.md C14, C15)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import orjson
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from openprogram.core.jsonio import canonical, encode
from openprogram.core.messages import Message, ReasoningBlock, TextBlock
from openprogram.core.prompt import ProviderRequest
from openprogram.core.surface import Delta, Strategy
from openprogram.providers import anthropic_prompt, responses_prompt
from openprogram.providers.cache_policy import MAX_BREAKPOINTS
from openprogram.providers.catalog import facts_of
from openprogram.surface.reserved import PLACEHOLDER
from tests.support.histories import TOOL, call, chain, message, result

MINE = "e/m"
OTHERS = ("e/other", "f/m", None)
EXTRA = {**TOOL, "name": "weather"}
STORED = TypeAdapter(tuple[Message, ...])


@dataclass(frozen=True)
class Talk:
    """A history that ends where a request is made, and the places where earlier ones were."""

    messages: tuple[Message, ...]
    requests: tuple[int, ...]
    """How many messages each request held; the last holds all."""
    deltas: tuple[Delta, ...]
    strategy: Strategy

    def body(self, number: int) -> dict[str, Any]:
        """The request as the loop makes it: it knows where the one before it ended."""
        length = self.requests[number]
        shown = self.messages[:length]
        known = {each.id for each in shown}
        request = ProviderRequest(
            "m",
            ("You help.", "Here is what there is."),
            (TOOL,),
            shown,
            previous_length=self.requests[number - 1] if number else 0,
            strategy=self.strategy,
            deferred=(PLACEHOLDER,) if self.strategy == "inline_changes" else (PLACEHOLDER, EXTRA),
            deltas=tuple(delta for delta in self.deltas if delta.after in known),
        )
        body: dict[str, Any] = orjson.loads(
            canonical(anthropic_prompt.request_body(request, MINE, facts_of("claude-opus-5")))
        )
        return body


@st.composite
def talks(draw: st.DrawFn) -> Talk:
    """Steps with 1 to 25 parallel calls, some with reasoning, and changes of the tools where requests ended."""
    made: list[Message] = []
    ends: list[int] = []
    for turn in range(draw(st.integers(1, 3))):
        made.append(message("user", f"Do {turn}."))
        for step in range(draw(st.integers(0, 3))):
            ends.append(len(made))
            calls = [call(f"c_{turn}_{step}_{n}") for n in range(draw(st.sampled_from((1, 2, 12, 25))))]
            thought = [ReasoningBlock("So.", "c2ln")] if draw(st.booleans()) else []
            made.append(message("assistant", *thought, *calls, model=MINE))
            made.append(message("tool", *(result(each.call_id) for each in calls)))
        ends.append(len(made))
        made.append(
            message("assistant", *([ReasoningBlock("Ah.", "c2ln")] * draw(st.integers(0, 1))), "Done.", model=MINE)
        )
    messages = chain(*made[:-1])
    strategy: Strategy = draw(st.sampled_from(("inline_changes", "reference_changes", "append")))
    changed = draw(st.lists(st.sampled_from(ends), unique=True, max_size=4)) if strategy != "append" else []
    deltas = []
    for number, end in enumerate(sorted(changed)):
        added = {"defined": (EXTRA,)} if strategy == "inline_changes" else {"referenced": ("weather",)}
        deltas.append(Delta(messages[end - 1].id, **(added if number % 2 == 0 else {"withdrawn": ("weather",)})))
    return Talk(messages, tuple(ends), tuple(deltas), strategy)


def units(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Every part of the request that a mark could stand on."""
    return [*body["tools"], *body["system"], *blocks(body)]


def blocks(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [block | {"role": message["role"]} for message in body["messages"] for block in message["content"]]


def marks(value: Any) -> Iterator[Any]:
    """All marks, however deep they stand."""
    if isinstance(value, dict):
        if "cache_control" in value:
            yield value
        for item in value.values():
            yield from marks(item)
    elif isinstance(value, list):
        for item in value:
            yield from marks(item)


MANY = tuple(call(f"c_{n}") for n in range(25))
WIDE = Talk(
    chain(
        message("user", "Read all."),
        message("assistant", *MANY, model=MINE),
        message("tool", *(result(each.call_id) for each in MANY)),
    ),
    (1, 3),
    (),
    "append",
)


@given(talks())
@example(WIDE)
def test_never_more_than_four_marks_and_none_on_deferred_tools_or_thinking(talk: Talk) -> None:  # C15
    for number in range(len(talk.requests)):
        body = talk.body(number)
        marked = list(marks(body))
        assert len(marked) <= MAX_BREAKPOINTS
        assert len(marked) == len([unit for unit in units(body) if "cache_control" in unit])
        assert not [unit for unit in marked if unit.get("defer_loading")]
        assert not [unit for unit in marked if unit.get("type") in ("thinking", "redacted_thinking")]
        plain = [tool for tool in body["tools"] if not tool.get("defer_loading")]
        assert "cache_control" in plain[-1]
        assert "cache_control" in body["system"][-1]
        assert "cache_control" in blocks(body)[-1]


@given(talks())
@example(WIDE)
def test_the_newest_place_of_the_request_before_is_marked_however_many_blocks_came_since(talk: Talk) -> None:  # C15
    for number in range(1, len(talk.requests)):
        before, after = blocks(talk.body(number - 1)), blocks(talk.body(number))
        assert "cache_control" in after[len(before) - 1]
        unmarked = [
            [{k: v for k, v in block.items() if k != "cache_control"} for block in each] for each in (before, after)
        ]
        assert unmarked[1][: len(before)] == unmarked[0]


_reasoning = st.builds(
    ReasoningBlock,
    st.text(st.characters(codec="utf-8"), max_size=12),
    st.none() | st.text("abcdef+/=", min_size=1, max_size=12),
    st.none() | st.text("abcdef+/=", min_size=1, max_size=12),
)
_answers = st.lists(
    st.tuples(st.sampled_from((MINE, MINE, *OTHERS)), st.lists(_reasoning, max_size=3)), min_size=1, max_size=5
)


@given(_answers)
def test_reasoning_goes_back_to_its_model_byte_by_byte_and_to_no_other(
    answers: list[tuple[str | None, list[ReasoningBlock]]],
) -> None:  # C14
    parts: list[Message] = []
    for number, (model, thoughts) in enumerate(answers):
        parts += [message("user", f"{number}?"), message("assistant", *thoughts, TextBlock(f"{number}."), model=model)]
    kept = STORED.validate_json(encode(chain(*parts, message("user", "So?"))))  # as after a restart
    request = ProviderRequest("m", ("You help.",), (), kept)
    body = orjson.loads(canonical(anthropic_prompt.request_body(request, MINE, facts_of("claude-opus-5"))))
    sent = [
        (block.get("thinking"), block.get("signature"), block.get("data"))
        for block in blocks(body)
        if block["type"] in ("thinking", "redacted_thinking")
    ]
    mine = [thought for model, thoughts in answers if model == MINE for thought in thoughts]
    assert sent == [
        (None, None, thought.redacted) if thought.redacted is not None else (thought.text, thought.signature, None)
        for thought in mine
        if thought.redacted is not None or thought.signature is not None
    ]
    for other in ("e/other", "f/m"):
        theirs = replace(request, messages=tuple(replace(each, model=MINE) for each in kept))
        messages = anthropic_prompt.request_body(theirs, other, facts_of("claude-opus-5"))
        items: Any = responses_prompt.request_body(theirs, other, facts_of("gpt-6-sol"))["input"]
        kinds = {block["type"] for block in blocks(orjson.loads(canonical(messages | {"tools": []})))}
        assert not {"thinking", "redacted_thinking", "reasoning"} & (kinds | {item["type"] for item in items})

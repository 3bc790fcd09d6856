"""A chat that goes to and fro between its branches: what was sent on one stays as it was sent (cache.md C10, C14)."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from hypothesis import example, given, settings
from hypothesis import strategies as st

from openprogram.agent.environment import History
from openprogram.core.events import StepStarted
from openprogram.core.ids import new_id
from openprogram.core.jsonio import canonical
from openprogram.core.messages import Message, ReasoningBlock, TextBlock
from openprogram.core.prompt import ProviderRequest, ResponseStarted, Segment
from openprogram.core.surface import Capability, Strategy, Surface
from openprogram.providers import anthropic_prompt
from openprogram.providers.catalog import facts_of
from openprogram.providers.segments import segments
from tests.support.agent import Chat, FakeTool
from tests.support.deferral import TTL, chat_with, deferred, select
from tests.support.script import MODEL, completed, message, say

STRATEGIES: tuple[Strategy, ...] = (
    "inline_changes",
    "reference_changes",
    "tool_reference",
    "additional_tools",
    "client_tool_search",
)
FOUND = ("notes", "plan")


@dataclass(frozen=True)
class Act:
    """Somebody speaks on this branch, wants the last answer anew, or goes on where an earlier branch ended.

    Before that a tool is found in the answer, one is switched, or the cache goes cold.
    """

    kind: Literal["speak", "again", "return"]
    finds: str | None = None
    switches: bool = False
    waits: bool = False


acts = st.builds(
    Act,
    st.sampled_from(("speak", "again", "return")),
    st.sampled_from((None, *FOUND)),
    st.booleans(),
    st.sampled_from((False, False, False, True)),
)
programs = st.lists(acts, min_size=3, max_size=10)
FOUND_ELSEWHERE = [Act("speak", "notes"), Act("again"), Act("return")]
REBASED_ELSEWHERE = [Act("speak"), Act("speak"), Act("again", switches=True, waits=True), Act("return")]


@dataclass(frozen=True)
class Sent:
    """One request, the surface that it was of, and the id of its answer."""

    request: ProviderRequest
    surface: Surface
    answer: str

    @property
    def segments(self) -> tuple[Segment, ...]:
        return segments(self.request)

    def went_on_to(self, other: "Sent") -> bool:
        """Whether another request goes on from the answer to this one."""
        length = len(self.request.messages)
        return [message.id for message in other.request.messages[length : length + 1]] == [self.answer]


def _play(program: Sequence[Act], strategy: Strategy, *, binds: bool = False) -> list[Sent]:
    chat = chat_with(FakeTool("bash"), *map(deferred, FOUND), scripts=())
    capability = Capability(strategy=strategy, cache_ttl_s=TTL, binds_thinking=binds)
    chat.model = replace(MODEL, capability=capability)
    left: list[tuple[Message, ...]] = []
    for number, act in enumerate(program):
        _prepare(chat, act, left)
        thought = ReasoningBlock(f"thought {number}", f"signature {number}")
        end = (ResponseStarted(), completed(thought, TextBlock(f"answer {number}")))
        begin = (ResponseStarted(), completed(thought, select(act.finds or ""), stop_reason="tool_use"))
        chat.provider.scripts = [begin, say("Found.")] if act.finds else [end]
        _pass_a_millisecond()
        asyncio.run(chat.run())
    started = chat.emit.of(StepStarted)
    return [
        Sent(request, surface, one.message_id)
        for request, surface, one in zip(chat.provider.requests, chat.surfaces.all, started, strict=True)
    ]


def _pass_a_millisecond() -> None:
    """No two answers of an endpoint begin in the same one: their ids tell which was first."""
    now = time.time_ns() // 1_000_000
    while time.time_ns() // 1_000_000 == now:
        continue


def _prepare(chat: Chat, act: Act, left: list[tuple[Message, ...]]) -> None:
    here = chat.history.messages
    if act.switches:
        chat.intent = replace(chat.intent, disabled=() if chat.intent.disabled else ("bash",))
    chat.now += TTL + 1 if act.waits else 1
    branch = here
    if act.kind == "again":
        last = max(place for place, one in enumerate(here) if one.role == "user")
        branch = here[: last + 1]
        left.append(here)
    elif act.kind == "return" and left:
        branch = left.pop(0)
        left.append(here)
    chat.history = chat.inbox.history = History(branch)
    if act.kind != "again":
        said = message("user", "And now?", chat.history.leaf_id)
        chat.history.append(replace(said, id=new_id("m")))


@given(programs, st.sampled_from(STRATEGIES))
@example(FOUND_ELSEWHERE, "inline_changes")
@settings(max_examples=100, deadline=None)
def test_within_an_epoch_a_branch_keeps_its_bytes_whatever_is_sent_on_others(
    program: list[Act], strategy: Strategy
) -> None:  # C10
    sent = _play(program, strategy)
    for number, after in enumerate(sent):
        for before in sent[:number]:
            if before.surface.epoch == after.surface.epoch and before.went_on_to(after):
                assert after.segments[: len(before.segments)] == before.segments


@given(programs, st.sampled_from(STRATEGIES))
@example(REBASED_ELSEWHERE, "inline_changes")
@settings(max_examples=100, deadline=None)
def test_bound_thinking_goes_back_behind_the_very_prefix_that_it_was_made_behind_only(
    program: list[Act], strategy: Strategy
) -> None:  # C14
    sent = _play(program, strategy, binds=True)
    made = {each.answer: each for each in sent}
    for each in sent:
        for answer in _thought_by(each):
            before = made[answer].segments
            assert each.segments[: len(before)] == before


def _thought_by(sent: Sent) -> list[str]:
    """The ids of the answers whose thinking stands in the request's body."""
    body = anthropic_prompt.request_body(sent.request, MODEL.id, facts_of("claude-opus-5"))
    text = canonical(body).decode()
    blocks = ((one.id, block) for one in sent.request.messages for block in one.blocks)
    thoughts = [(by, block.signature) for by, block in blocks if isinstance(block, ReasoningBlock)]
    return [by for by, signature in thoughts if f'"{signature}"' in text]

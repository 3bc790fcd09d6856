"""Any chat on any endpoint, through the real loop: what was sent stays, and what is off is off (cache.md C1 to C10)."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, assert_never, get_args

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from openprogram.agent.environment import History
from openprogram.agent.tool_search import tool_search
from openprogram.context.notices import told
from openprogram.core.events import StepStarted
from openprogram.core.jsonio import encode
from openprogram.core.loaded import LoadedSet
from openprogram.core.messages import Message, ToolUseBlock
from openprogram.core.prompt import ProviderRequest, Segment
from openprogram.core.surface import BRIDGE_NAME, RESERVED_NAMES, Capability, Strategy, Surface
from openprogram.providers import anthropic_prompt
from openprogram.providers.catalog import facts_of
from openprogram.providers.segments import segments
from tests.support.agent import Chat, FakeTool
from tests.support.placement import assert_placed
from tests.support.script import MODEL, ScriptedProvider, call, message, say, use
from tests.support.tools import resolved

TTL = 300.0
RESIDENTS = ("bash", "read", "web_search")
WAITING = ("notes", "plan", "zebra")
SERVED = ("mcp_ant", "mcp_bee")
NAMES = (*RESIDENTS, *WAITING, *SERVED)
SWITCHED = ("bash", "notes", "mcp_ant", "tool_search")
FLOOR = ("tool_search", "web_search")
NEXT_PRESET = {"full": "default", "default": "none", "none": "full"}
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)
STORED = TypeAdapter(Surface)


Kind = Literal["switch", "chip", "preset", "server", "restart", "wait", "again", "silent", "none"]
KINDS: tuple[Kind, ...] = ("switch", "switch", "switch", "chip", "preset", *get_args(Kind))


@dataclass(frozen=True)
class Act:
    """What a person, a server or time does, whether somebody speaks then, and what the model asks for if so."""

    kind: Kind
    name: str
    speaks: bool
    calls: tuple[tuple[str, bool], ...]
    """Tools to load (True) or to call (False), one a step."""


acts = st.builds(
    Act,
    st.sampled_from(KINDS),
    st.sampled_from(SWITCHED),
    st.sampled_from((True, True, False)),
    st.lists(st.tuples(st.sampled_from(NAMES), st.booleans()), max_size=2).map(tuple),
)


@dataclass
class Talk:
    """One chat as it goes on."""

    strategy: Strategy
    binds: bool
    floor: tuple[str, ...]
    chat: Chat = field(init=False)
    wording: int = 0
    served: bool = True

    def __post_init__(self) -> None:
        residents = [FakeTool(name, provides=("web_search",) * (name == "web_search")) for name in RESIDENTS]
        tools = [*residents, *(FakeTool(name, residency="deferred") for name in WAITING)]
        self.chat = Chat(ScriptedProvider(), *tools)
        self.chat.registry.put("builtin", [tool_search, *(tool.spec for tool in tools)])
        self.chat.floor = self.floor
        start = "full" if self.floor else "none"  # nothing at all is declared then
        self.chat.intent = replace(self.chat.intent, toolset=start, web_search=False)
        capability = Capability(strategy=self.strategy, cache_ttl_s=TTL, binds_thinking=self.binds)
        self.chat.model = replace(MODEL, capability=capability)
        self._serve()

    def _serve(self) -> None:
        """A server lists its tools, in another order and other words each time."""
        tools = [FakeTool(name, residency="deferred", description=f"{self.wording}").spec for name in SERVED]
        self.chat.registry.put("mcp:s", tools if self.wording % 2 else tools[::-1])

    async def act(self, act: Act) -> None:
        chat = self.chat
        match act.kind:
            case "switch":
                off = set(chat.intent.disabled) ^ {act.name}
                chat.intent = replace(chat.intent, disabled=tuple(sorted(off)))
            case "chip":
                chat.intent = replace(chat.intent, web_search=not chat.intent.web_search)
            case "preset":
                chat.intent = replace(chat.intent, toolset=NEXT_PRESET[str(chat.intent.toolset)])
            case "server":
                self.wording += 1
                self.served = not self.served
                if self.served:
                    self._serve()
                else:
                    chat.registry.remove("mcp:s")
            case "restart":
                self._restart()
            case "wait":
                chat.now += TTL + 1
            case "again":
                self._back()
            case "silent" | "none":
                pass
            case _:
                assert_never(act.kind)
        if act.speaks or act.kind in ("again", "silent"):
            if act.kind != "again":
                chat.history.append(_said(chat))
            await self._run(act)

    def _restart(self) -> None:
        chat = self.chat
        if chat.surfaces.current is not None:
            chat.surfaces.current = STORED.validate_json(encode(chat.surfaces.current))
        chat.loaded = LoadedSet(chat.loaded.names)

    def _back(self) -> None:
        """The last answer is wanted anew: the branch ends in the person's last message."""
        history = self.chat.history.messages
        last = max((place for place, message in enumerate(history) if message.role == "user"), default=0)
        self.chat.history = History(history[: last + 1])
        self.chat.inbox.history = self.chat.history

    async def _run(self, act: Act) -> None:
        chat = self.chat
        chat.now += 1
        calls = [_select(name) if loading else self._use(name) for name, loading in act.calls]
        chat.provider.scripts = [*map(call, calls), say("" if act.kind == "silent" else "Done.")]
        authorised = set(resolved(chat.intent, chat.registry.snapshot).names)
        known = len(chat.results)
        await chat.run()
        for (name, loading), result in zip(act.calls, chat.results[known:], strict=True):
            if not loading:
                assert (result.status == "denied") == (name not in authorised), (name, result)  # law 6
                assert (result.status == "ok") == (name in authorised), (name, result)

    def _use(self, name: str) -> ToolUseBlock:
        """A call, through the bridge where the tool is not declared."""
        surface = self.chat.surfaces.current
        if self.strategy != "bridge" or (surface is not None and name in surface.names):
            return use(name)
        return replace(use(BRIDGE_NAME), arguments={"name": name, "arguments": {}})


def _said(chat: Chat) -> Message:
    return message("user", "And now?", chat.history.leaf_id)


def _select(name: str) -> ToolUseBlock:
    return use("tool_search", query=f"select:{name}")


@dataclass(frozen=True)
class Sent:
    """One request, the surface that it was of, and how that was planned."""

    request: ProviderRequest
    surface: Surface
    started: StepStarted

    @property
    def segments(self) -> tuple[Segment, ...]:
        return segments(self.request)

    def of(self, *kinds: str) -> list[Segment]:
        return [segment for segment in self.segments if segment.kind in kinds]


def _play(
    program: Sequence[Act], strategy: Strategy, *, binds: bool = False, floor: tuple[str, ...] = FLOOR
) -> tuple[Talk, list[Sent]]:
    talk = Talk(strategy, binds, floor)

    async def played() -> None:
        for act in program:
            await talk.act(act)

    asyncio.run(played())
    chat = talk.chat
    started = chat.emit.of(StepStarted)
    return talk, [Sent(*each) for each in zip(chat.provider.requests, chat.surfaces.all, started, strict=True)]


programs = st.lists(acts, min_size=2, max_size=12)
strategies = st.sampled_from(STRATEGIES)


def _goes_on(before: Sent, after: Sent) -> bool:
    """Whether nothing but the planner could have moved a byte: one branch, one epoch."""
    length = len(before.request.messages)
    same_branch = after.request.messages[:length] == before.request.messages
    return same_branch and before.surface.epoch == after.surface.epoch


@given(programs, strategies, st.booleans())
@settings(max_examples=150, deadline=None)
def test_within_an_epoch_each_request_extends_the_one_before(
    program: list[Act], strategy: Strategy, binds: bool
) -> None:  # law 4, C2, C3, C5, C10
    _, sent = _play(program, strategy, binds=binds)
    for before, after in pairwise(sent):
        if not _goes_on(before, after):
            continue
        if after.started.plan.kind == "append":
            assert strategy in ("append", "frozen")
            assert after.started.plan.reason in ("discovered", "added")
        else:
            assert after.of("tool") == before.of("tool")
        for kinds in (("tool",), ("system", "message", "delta")):
            assert after.of(*kinds)[: len(before.of(*kinds))] == before.of(*kinds)


@given(programs, strategies)
@settings(max_examples=100, deadline=None)
def test_the_array_grows_by_discoveries_only(program: list[Act], strategy: Strategy) -> None:  # C2
    _, sent = _play(program, strategy)
    for each in sent:
        if each.started.plan.kind == "append" and each.started.plan.reason == "added":
            assert "tool_search" not in each.surface.names or "tool_search" in each.surface.masked


@given(programs, strategies, st.sampled_from(((), FLOOR)))
@settings(max_examples=100, deadline=None)
def test_every_request_keeps_the_rules_of_placement(
    program: list[Act], strategy: Strategy, floor: tuple[str, ...]
) -> None:  # C7
    _, sent = _play(program, strategy, floor=floor)
    for each in sent:
        if each.started.plan.kind == "delta" and each.surface.deltas[-1].call_id is None:
            assert each.surface.deltas[-1].after == each.request.messages[-1].id
        assert_placed(anthropic_prompt.request_body(each.request, "fake/model", facts_of("claude-opus-5")))


@given(programs, strategies)
@settings(max_examples=100, deadline=None)
def test_the_model_knows_what_is_off_and_has_what_is_on(program: list[Act], strategy: Strategy) -> None:  # C2, T21
    _, sent = _play(program, strategy)
    for each in sent:
        branch = each.surface.on([*(message.id for message in each.request.messages), each.started.message_id])
        plan = each.started.plan
        assert set(branch.names) == set(plan.declared)
        assert told(each.request.messages).off >= set(plan.masked)
        assert not told(each.request.messages).off & (set(branch.names) - set(plan.masked))
        assert branch.hidden <= set(plan.masked)
        if strategy in ("inline_changes", "reference_changes", "additional_tools"):
            assert branch.hidden == set(plan.masked)
        assert not RESERVED_NAMES & set(plan.masked)


@given(programs, strategies)
@settings(max_examples=100, deadline=None)
def test_equal_wishes_emit_nothing(program: list[Act], strategy: Strategy) -> None:  # C3
    talk, _ = _play(program, strategy)
    quiet = Act("none", "bash", speaks=True, calls=())
    asyncio.run(_twice(talk, quiet))
    last, again = talk.chat.emit.of(StepStarted)[-2:]
    assert (again.plan.kind, again.plan.withdrawn, again.plan.restored, again.plan.added) == ("keep", (), (), ())
    assert (again.plan.declared, again.plan.epoch) == (last.plan.declared, last.plan.epoch)


async def _twice(talk: Talk, act: Act) -> None:
    await talk.act(act)
    off = talk.chat.intent
    talk.chat.intent = replace(off, web_search=not off.web_search)  # on, off and on again: nobody sees it
    talk.chat.intent = off
    await talk.act(act)

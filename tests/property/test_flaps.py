"""A server that drops and returns, and a mode that comes and goes, move no byte of a request, whenever that happens
(spec tools.md T12; cache.md C5; report 10)."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, assert_never, get_args

from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from openprogram.agent.environment import ToolPorts
from openprogram.agent.tool_search import tool_search
from openprogram.core.jsonio import encode
from openprogram.core.prompt import ProviderEvent, ProviderRequest
from openprogram.core.tooling import ToolSpec
from openprogram.providers.catalog import ModelFacts
from openprogram.providers.chat_prompt import request_body
from openprogram.providers.hosts import Quirks
from openprogram.tools.obstacles import obstacle
from tests.support.agent import Chat, FakeTool
from tests.support.deferral import select
from tests.support.obstacles import AWAY, SOURCE, only_looks
from tests.support.script import Script, ScriptedProvider, call, message, say, use

Flap = Literal["down", "up", "relist", "mode"]
Wish = Literal["read", "write", "load_bee", "ant", "bee"]
CALM: tuple[Wish, ...] = ("read", "load_bee")
"""Calls that come to the same whatever is away, or refused."""


@dataclass(frozen=True)
class Turn:
    """What the model asks for, a call a step, and what happens to the world meanwhile: a list for each moment."""

    wishes: tuple[Wish, ...]
    flaps: tuple[tuple[Flap, ...], ...]


def turns(wishes: Sequence[Wish]) -> st.SearchStrategy[list[Turn]]:
    flaps = st.lists(st.sampled_from(get_args(Flap)), max_size=3).map(tuple)
    one = st.builds(
        Turn, st.lists(st.sampled_from(wishes), max_size=4).map(tuple), st.lists(flaps, max_size=12).map(tuple)
    )
    return st.lists(one, min_size=1, max_size=4)


class World(ScriptedProvider):
    """The endpoint, in a world that changes before and in the middle of each of its answers."""

    def __init__(self) -> None:
        super().__init__()
        self.ants, self.bees = FakeTool("ant"), FakeTool("bee", residency="deferred")
        self.writer = FakeTool("write", readonly=False)
        self.waiting: list[tuple[Flap, ...]] = []
        self.chat = Chat(self)
        self.chat.registry.put("builtin", [tool_search, FakeTool("read").spec, self.writer.spec])
        self.chat.registry.put(SOURCE, self._listed)
        self.chat.tool_ports = ToolPorts(
            obstacle=lambda tool: obstacle(tool, self.chat.registry.snapshot, self.chat.switches.mode, only_looks)
        )

    @property
    def _listed(self) -> list[ToolSpec]:
        return [self.ants.spec, self.bees.spec]

    def move(self) -> None:
        """What happens at this moment."""
        registry, switches = self.chat.registry, self.chat.switches
        for flap in self.waiting.pop(0) if self.waiting else ():
            match flap:
                case "down":
                    registry.set_down(SOURCE, AWAY)
                case "up":
                    registry.set_down(SOURCE, None)
                case "relist":
                    registry.put(SOURCE, self._listed[::-1])
                case "mode":
                    switches.mode = "ask" if switches.mode == "auto" else "auto"
                case _:
                    assert_never(flap)

    @override
    async def stream(self, request: ProviderRequest) -> AsyncIterator[ProviderEvent]:
        self.move()
        async for event in super().stream(request):
            yield event
            if event.type == "response_started":
                self.move()

    async def play(self, program: Sequence[Turn], *, calm: bool) -> None:
        for number, turn in enumerate(program):
            if number:
                self.chat.history.append(message("user", f"message {number}", self.chat.history.leaf_id))
            self.waiting = [] if calm else list(turn.flaps)
            self.scripts = [*(_script(wish, f"c_{number}_{at}") for at, wish in enumerate(turn.wishes)), say("Done.")]
            self.move()
            await self.chat.run()


def _script(wish: Wish, call_id: str) -> Script:
    return call(select("bee", call_id=call_id) if wish == "load_bee" else use(wish, call_id))


def played(program: Sequence[Turn], *, calm: bool = False) -> World:
    world = World()
    asyncio.run(world.play(program, calm=calm))
    return world


def bodies(world: World) -> list[bytes]:
    return [encode(_body(request)) for request in world.requests]


def _body(request: ProviderRequest) -> dict[str, object]:
    return dict(request_body(request, "fake/model", ModelFacts(), Quirks()))


@given(turns(CALM))
@settings(max_examples=60, deadline=None)
def test_whatever_flaps_whenever_every_request_is_the_same_to_the_byte(program: list[Turn]) -> None:  # T12, C5
    assert bodies(played(program)) == bodies(played(program, calm=True))


@given(turns(get_args(Wish)))
@settings(max_examples=60, deadline=None)
def test_calls_of_what_is_away_only_add_to_the_end_of_the_conversation(program: list[Turn]) -> None:  # C5, law 4
    world = played(program)
    for before, after in pairwise(map(_body, world.requests)):
        for part in ("tools", "messages"):
            was, now = before[part], after[part]
            assert isinstance(was, list)
            assert isinstance(now, list)
            assert now[: len(was)] == was


@given(turns(get_args(Wish)))
@settings(max_examples=60, deadline=None)
def test_a_result_is_an_error_or_a_refusal_exactly_where_the_tool_did_not_run(program: list[Turn]) -> None:  # T12
    world = played(program)
    wishes = [wish for turn in program for wish in turn.wishes]
    for name, tool in (("ant", world.ants), ("bee", world.bees), ("write", world.writer)):
        results = [result for wish, result in zip(wishes, world.chat.results, strict=True) if wish == name]
        hindered = "denied" if name == "write" else "error"
        assert {result.status for result in results} <= {"ok", hindered}
        assert len(tool.calls) == sum(result.status == "ok" for result in results)

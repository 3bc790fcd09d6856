"""With the chip off no request lets the provider search, in any chat at any endpoint (tools.md T4, T21; cache.md C2).

What may search is judged as the strict fake API judges it, on the wire, at the moment at which a request goes out.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.agent.environment import History
from openprogram.agent.tool_search import tool_search
from openprogram.core.events import StepStarted
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import HostedBlock, Source, TextBlock
from openprogram.core.prompt import (
    Api,
    Completed,
    ModelInfo,
    ProviderEvent,
    ProviderFailure,
    ProviderRequest,
    RequestSent,
    ResponseStarted,
    RetryScheduled,
)
from openprogram.core.surface import Capability, Strategy
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.core.usage import Usage
from openprogram.fakeapi.web_search import offered
from openprogram.providers import anthropic_prompt, responses_prompt
from openprogram.providers.capabilities import HOSTED_SEARCH, SPOKEN
from openprogram.providers.catalog import ModelFacts
from tests.support.agent import Chat, FakeInbox, FakeTool
from tests.support.deferral import deferred, say_more
from tests.support.script import MODEL, ScriptedProvider, use
from tests.support.tools import Switches

SEARCH = "web_search"
Wire = Callable[[ProviderRequest], JsonObject]
PLACES: tuple[tuple[Api, Strategy, bool], ...] = tuple(
    (api, strategy, allowed)
    for api in ("anthropic", "openai-responses")
    for strategy in sorted(SPOKEN[api])  # the two that search
    for allowed in ((False,) if api == "anthropic" else (False, True))
)

Moment = Literal["planned", "retried", "none"]
"""When the chip is flipped while a request is on its way: as it is about to go out, or before it is sent again."""


@dataclass(frozen=True)
class Turn:
    """The chip before the turn, what the model does in it, and when the chip is flipped meanwhile, by request; whether
    the message takes the place of the one before it, with all that came of that."""

    on: bool
    does: tuple[Literal["search", "pause", "flip", "load"], ...]
    flipped: tuple[Moment, ...] = ()
    edits: bool = False


turns = st.builds(
    Turn,
    st.booleans(),
    st.lists(st.sampled_from(("search", "pause", "flip", "load")), max_size=3).map(tuple),
    st.lists(st.sampled_from(("planned", "retried", "none")), max_size=3).map(tuple),
    st.booleans(),
)


class Endpoint:
    """Answers as told, searches whenever it is let, and keeps each body as it goes out with the chip of that moment."""

    def __init__(self, api: Api, chat: "SearchingChat") -> None:
        self._api = api
        self._chat = chat
        self.does: list[str] = []
        self.flips: list[Moment] = []
        self.out: list[tuple[JsonObject, bool]] = []

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[ProviderEvent, None]:
        body = _body(self._api, request)
        moment = self.flips.pop(0) if self.flips else "none"
        if moment == "planned":
            self._chat.flip()
        yield RequestSent(body)
        if moment == "retried":
            self._out(body)
            yield RetryScheduled(ProviderFailure("overloaded", "Busy.", "retry"), 1, 0.0)
            self._chat.flip()
            yield RequestSent(body)
        self._out(body)
        yield ResponseStarted()
        yield self._answer(body)

    def _out(self, body: JsonObject) -> None:
        self.out.append((body, self._chat.on))

    def _answer(self, body: JsonObject) -> Completed:
        does = self.does.pop(0) if self.does else "end"
        if does in ("flip", "load"):
            call = use("flip") if does == "flip" else use("tool_search", query="select:weather")
            return Completed((call,), "tool_use", Usage(uncached=10, cache_read=0, output=5))
        blocks: list[HostedBlock | TextBlock] = []
        if does in ("search", "pause") and offered("anthropic" if self._api == "anthropic" else "responses", body):
            blocks += _searched(self._api, len(self.out), whole=does == "search")
        blocks += [HostedBlock("pause")] if does == "pause" and blocks else [TextBlock("Done.")]
        return Completed(tuple(blocks), "end_turn", Usage(uncached=10, cache_read=0, output=5))


def _searched(api: Api, number: int, *, whole: bool) -> list[HostedBlock | TextBlock]:
    name, page = f"srvtoolu_{number}", (Source("https://example.org", "A page"),)
    if api == "openai-responses":
        item: JsonObject = {"type": "web_search_call", "id": f"ws_{number}", "status": "completed"}
        return [HostedBlock("search", query="x", sources=page, items=({**item, "action": {"type": "search"}},))]
    search: JsonObject = {"type": "server_tool_use", "id": name, "name": SEARCH, "input": {"query": "x"}}
    found: JsonObject = {"type": "web_search_tool_result", "tool_use_id": name, "content": []}
    blocks = [HostedBlock("search", name, query="x", items=(search,))]
    return [*blocks, *([HostedBlock("found", name, sources=page, items=(found,))] if whole else [])]


def _body(api: Api, request: ProviderRequest) -> JsonObject:
    wire = anthropic_prompt.request_body if api == "anthropic" else responses_prompt.request_body
    return wire(request, MODEL.id, ModelFacts())


class Chip(Switches):
    """What the newest intent says of each tool."""

    def __init__(self, chat: "SearchingChat") -> None:
        super().__init__("auto")
        self._chat = chat

    def authorised_now(self, name: str) -> bool:
        return self._chat.on if name == SEARCH else True


@dataclass
class SearchingChat:
    """A chat whose endpoint searches by itself."""

    api: Api
    strategy: Strategy
    allowed: bool
    chat: Chat = field(init=False)
    endpoint: Endpoint = field(init=False)

    def __post_init__(self) -> None:
        hosted = FakeTool(SEARCH, provides=(SEARCH,), hosted=HOSTED_SEARCH[self.api])
        tools = (FakeTool("flip", self._flips), FakeTool("read"), deferred("weather"), hosted)
        self.chat = Chat(ScriptedProvider(), *tools)
        self.chat.registry.put("builtin", [tool_search, *(tool.spec for tool in tools)])
        self.chat.floor = ("tool_search", SEARCH)
        capability = Capability(strategy=self.strategy, cache_ttl_s=1e9, allowed_tools=self.allowed)
        self.chat.model = replace(_MODELS[self.api], capability=capability)
        self.endpoint = Endpoint(self.api, self)
        self.chat.endpoint = self.endpoint  # type: ignore[assignment]  # it lists no models
        self.chat.switches = Chip(self)
        self._set(on=False)

    @property
    def on(self) -> bool:
        return self.chat.intent.web_search is True

    def flip(self) -> None:
        self._set(on=not self.on)

    def _set(self, *, on: bool) -> None:
        self.chat.intent = replace(self.chat.intent, web_search=on)

    async def _flips(self, _arguments: JsonObject, _context: ToolContext) -> ToolOutput:
        self.flip()
        return ToolOutput.text("flipped")

    def _leave_branch(self) -> None:
        messages = self.chat.history.messages
        said = [place for place, message in enumerate(messages) if message.role == "user"]
        self.chat.history = History(messages[: said[-1]] if len(said) > 1 else messages)
        self.chat.inbox = FakeInbox(self.chat.history)

    async def play(self, turn: Turn) -> None:
        self._set(on=turn.on)
        if turn.edits:
            self._leave_branch()
        say_more(self.chat, "And now?")
        self.endpoint.does = [*turn.does]
        self.endpoint.flips = [*turn.flipped]
        await self.chat.run()
        self.endpoint.flips = []


_MODELS: dict[Api, ModelInfo] = {
    api: replace(MODEL, counting=replace(MODEL.counting, api=api)) for api in ("anthropic", "openai-responses")
}


def played(place: tuple[Api, Strategy, bool], program: list[Turn]) -> SearchingChat:
    made = SearchingChat(*place)

    async def play() -> None:
        for turn in program:
            await made.play(turn)

    asyncio.run(play())
    return made


@given(st.sampled_from(PLACES), st.lists(turns, min_size=1, max_size=6))
@settings(max_examples=250, deadline=None)
def test_with_the_chip_off_no_request_may_search(place: tuple[Api, Strategy, bool], program: list[Turn]) -> None:
    made = played(place, program)  # T4, T21
    wire: Any = "anthropic" if place[0] == "anthropic" else "responses"
    for body, on in made.endpoint.out:
        assert on or not offered(wire, body), (place, body.get("tools"), body.get("tool_choice"))
    assert set(made.chat.reasons) <= {"done"}


async def test_with_the_chip_off_no_request_may_search_on_a_branch_without_the_tools_that_joined_another() -> None:
    made = SearchingChat("openai-responses", "additional_tools", allowed=True)  # T4, C10
    await made.play(Turn(False, ()))
    await made.play(Turn(True, ("load",)))
    made.chat.intent = replace(made.chat.intent, disabled=("weather",))
    await made.play(Turn(False, (), edits=True))
    assert [offered("responses", body) for body, _ in made.endpoint.out] == [False, True, True, False]


@given(st.sampled_from(PLACES), st.lists(st.booleans(), min_size=1, max_size=6))
@settings(max_examples=100, deadline=None)
def test_with_the_chip_on_every_request_may_search(place: tuple[Api, Strategy, bool], chips: list[bool]) -> None:
    made = played(place, [Turn(on, ()) for on in chips])  # T4: the chip shows what is
    wire: Any = "anthropic" if place[0] == "anthropic" else "responses"
    assert [offered(wire, body) for body, _ in made.endpoint.out] == chips


@pytest.mark.parametrize("strategy", sorted(SPOKEN["openai-responses"]))
@given(chips=st.lists(st.booleans(), min_size=2, max_size=6))
@settings(max_examples=30, deadline=None)
def test_where_what_may_be_called_is_listed_the_chip_moves_no_byte(strategy: Strategy, chips: list[bool]) -> None:
    made = played(("openai-responses", strategy, True), [Turn(on, ("search",)) for on in chips])  # C2
    plans = [started.plan for started in made.chat.emit.of(StepStarted)]
    assert {plan.kind for plan in plans[1:]} <= {"keep", "delta"}, "a delta only adds at the end"
    assert {plan.predicted_loss for plan in plans} == {0}
    bodies = [body for body, _ in made.endpoint.out]
    for before, after in pairwise(bodies):
        assert after["tools"] == before["tools"]
        assert isinstance(before["input"], list)
        assert isinstance(after["input"], list)
        assert after["input"][: len(before["input"])] == before["input"]


@pytest.mark.parametrize(
    "place", [place for place in PLACES if not place[2]], ids=[f"{p[0]}-{p[1]}" for p in PLACES if not p[2]]
)
def test_elsewhere_off_leaves_the_request_at_the_next_step_and_the_plan_says_why(
    place: tuple[Api, Strategy, bool],
) -> None:  # T4 beats C2
    made = played(place, [Turn(True, ("search", "flip")), Turn(True, ("flip",))])
    reasons = [started.plan.reason for started in made.chat.emit.of(StepStarted)]
    assert reasons.count("search_off") == 1
    off = reasons.index("search_off")
    body, on = made.endpoint.out[off]
    assert not on
    assert SEARCH not in str(body.get("tools"))


def test_an_answer_that_paused_goes_on_from_its_own_last_message_and_not_with_the_chip_off() -> None:
    made = played(("anthropic", "inline_changes", False), [Turn(True, ("pause", "search"))])
    first, going_on = (messages(body) for body, _ in made.endpoint.out)
    assert going_on[: len(first)][0]["content"][0]["text"] == first[0]["content"][0]["text"]
    assert going_on[-1]["role"] == "assistant"
    assert going_on[-1]["content"][-1]["type"] == "server_tool_use"
    flipped = played(("anthropic", "inline_changes", False), [Turn(True, ("pause", "search"), ("none", "planned"))])
    last, _ = flipped.endpoint.out[-1]
    assert messages(last)[-1]["role"] in ("user", "system")


def messages(body: JsonObject) -> list[Any]:
    """The messages of a request."""
    found = body["messages"]
    assert isinstance(found, list)
    return found


def test_what_another_model_did_is_told_in_words() -> None:
    made = played(("anthropic", "append", False), [Turn(True, ("search",))])
    made.chat.model = replace(made.chat.model, id="fake/other")
    asyncio.run(made.play(Turn(True, ())))
    history = made.chat.history.messages
    assert any(isinstance(block, HostedBlock) for message in history for block in message.blocks)
    body = responses_prompt.request_body(ProviderRequest("other", (), (), history), "fake/other", ModelFacts())
    assert "searched the web for: x" in str(body["input"])
    assert "https://example.org" in str(body["input"])
    assert "server_tool_use" not in str(body["input"])

"""One step: plan the surface, send the request, keep the answer."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from openprogram.agent.deferral import undeclared, wanted, worth_keeping
from openprogram.agent.environment import Environment, Setup
from openprogram.agent.sending import Sending, moved
from openprogram.agent.stream import Received, receive
from openprogram.context.assembler import assemble
from openprogram.context.catalog import entries_of, uncovered
from openprogram.context.notices import notice_text, turns_since_switch
from openprogram.core.clock import iso_time
from openprogram.core.events import Event, LoadedChanged, MessageAdded, Notice, StepFinished, StepStarted
from openprogram.core.ids import new_id
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import Message, TextBlock
from openprogram.core.prompt import ProviderRequest, Segment
from openprogram.core.surface import Capability, Surface, SurfacePlan
from openprogram.core.tooling import DISCOVERY_TOOL, ToolSpec
from openprogram.providers.pricing import tool_text
from openprogram.providers.segments import segments
from openprogram.surface.bridge import unbridged
from openprogram.surface.planner import plan
from openprogram.surface.strategies import allowed, deals_in_changes, downgraded
from openprogram.surface.wanted import Warmth


@dataclass(frozen=True, slots=True)
class StepId:
    """Which request this is, and the message that its answer will be."""

    turn_id: str
    number: int
    message_id: str


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The answer as recorded, and how its stream ended."""

    message: Message
    received: Received


def record(env: Environment, message: Message, *before: Event) -> None:
    """Append to the history and tell everyone, in one commit with the events that belong before it."""
    env.history.append(message)
    env.emit(*before, MessageAdded(message))


async def run_step(env: Environment, setup: Setup, turn_id: str, step: int) -> StepOutcome:
    """Send one request and record the answer, whole or partial.

    An endpoint that refuses a change of the tools gets the same request without it, once (spec cache.md C9): what it
    had taken is told anew by a rebase, and what it takes then is remembered.
    """
    at, model = StepId(turn_id, step, new_id("m")), setup.model
    capability = env.capabilities.of(model)
    sent = await _send(env, setup, at, capability)
    if _refused(sent):
        again = await _send(env, setup, at, downgraded(capability))
        if again.accepted:
            await env.capabilities.refused(model, capability.strategy)
            env.emit(Notice("downgraded", _DOWNGRADED.format(title=model.title)))
        sent = again
    return _record_answer(env, setup, at, sent)


_BAD_REQUEST: Final = 400
_TURNS_OF_THE_LOOP: Final = 2
"""So often other tasks get on before a request goes out: the log's writer then works while the request travels, not
when the first piece of the answer already waits to be stored behind it."""
_RATES: Final = (0.1, 1.25)
"""Reading from a cache and writing to it, relative to plain input, where a model's prices are not known."""
_DOWNGRADED: Final = (
    "{title} does not take changes of the tools in mid-chat. They are sent in another way from now on, "
    "which may cost the cached conversation when a tool is found."
)


@dataclass(slots=True)
class _Sent:
    """One request on its way, and what came of it."""

    surface: Surface
    plan: SurfacePlan
    request: ProviderRequest
    started: float
    sending: Sending
    received: Received = field(default_factory=Received)
    accepted: bool = False


async def _send(env: Environment, setup: Setup, at: StepId, capability: Capability) -> _Sent:
    surface, next_plan = await _planned(env, setup, at, capability)
    request = _request(env, setup, surface)
    parts = segments(request)
    kept = _common(env.progress.segments, parts)
    env.progress.segments = parts
    env.emit(_started(env, setup, at, next_plan, kept, parts[kept:]))
    sending = Sending(env, setup, next_plan, at.turn_id, at.number, at.message_id)
    sent = _Sent(surface, next_plan, request, env.monotonic(), sending)

    def accepted() -> None:
        sent.accepted = True
        env.surfaces.accepted(surface)

    events = setup.provider.stream(request)
    for _ in range(_TURNS_OF_THE_LOOP):
        await asyncio.sleep(0)
    try:
        sent.received = await receive(
            events, at.message_id, env.emit, env.stop, sent=sending.sent, accepted=accepted, now=env.monotonic
        )
    finally:
        sending.keep()
    return sent


def _refused(sent: _Sent) -> bool:
    """Whether the endpoint may have refused the changes of the tools in this request."""
    failure = sent.received.failure
    if failure is None or sent.accepted or not deals_in_changes(sent.surface):
        return False
    return failure.code == "bad_request" or (failure.code == "model_not_found" and failure.status == _BAD_REQUEST)


def _record_answer(env: Environment, setup: Setup, at: StepId, sent: _Sent) -> StepOutcome:
    received, price = sent.received, setup.model.price
    answer = Message(
        id=at.message_id,
        parent_id=env.history.leaf_id,
        role="assistant",
        blocks=unbridged(received.whole_or_partial(), sent.surface),
        created_at=iso_time(env.clock()),
        turn_id=at.turn_id,
        status=received.status,
        model=setup.model.id,
    )
    first = received.first_piece_at
    finished = StepFinished(
        at.turn_id,
        at.number,
        at.message_id,
        setup.model.id,
        received.usage,
        price.cost(received.usage) if price else None,
        sent.sending.verdict(received.usage),
        None if first is None else round((first - sent.started) * 1000),
        round((env.monotonic() - sent.started) * 1000),
    )
    if received.status in ("complete", "cut"):
        env.answered(setup.model, sent.request, sent.plan, received.usage)
    record(env, answer, finished)
    return StepOutcome(answer, received)


def _request(env: Environment, setup: Setup, surface: Surface) -> ProviderRequest:
    messages = env.history.messages
    return ProviderRequest(
        model=setup.model.model,
        system=assemble(replace(setup.prompt, catalog=surface.catalog)).texts,
        tools=surface.declared,
        messages=messages,
        params=setup.params,
        cache_key=env.session_id,
        previous_length=_shown_before(messages),
        strategy=surface.strategy,
        deferred=surface.deferred,
        deltas=surface.on([message.id for message in messages]).deltas,
        allowed=allowed(surface, setup.model.capability),
        thinking_after=surface.thinking_after,
    )


def _common(before: Sequence[Segment], now: Sequence[Segment]) -> int:
    """How many leading segments are the same."""
    pairs = zip(before, now, strict=False)
    return next((place for place, (old, new) in enumerate(pairs) if old != new), min(len(before), len(now)))


def _shown_before(history: Sequence[Message]) -> int:
    """How many messages the last answered request held: those before its answer."""
    answers = (place for place in range(len(history) - 1, -1, -1) if history[place].role == "assistant")
    return next(answers, 0)


async def _planned(env: Environment, setup: Setup, at: StepId, capability: Capability) -> tuple[Surface, SurfacePlan]:
    """The surface of the next request, with the model told of what it has to know before.

    A rebase at the start of a turn takes dead weight out of the loaded set (cache.md C4).
    """
    loaded, previous, history = env.loaded.names, env.surfaces.current, env.history
    start = at.number == 1
    kept = worth_keeping(env.loaded, setup.contract, history.messages, previous) if start else loaded
    warmth, force = _warmth(env, setup, turn_start=start), env.surfaces.forced

    def planned() -> tuple[Surface, SurfacePlan]:
        asked = wanted(setup, loaded, kept, history.messages, previous)
        return plan(previous, asked, capability, warmth, force=force)

    surface, chosen = planned()
    if chosen.kind == "rebase" and env.loaded.drop(set(loaded) - set(kept)):
        env.emit(LoadedChanged(env.loaded.names))
    notice = await _notice_text(env, setup, surface, chosen)
    if notice is None:
        return surface, chosen
    record(env, _notice(env, notice, at.turn_id))
    return planned()  # the same, behind the notice


def _warmth(env: Environment, setup: Setup, *, turn_start: bool) -> Warmth:
    model, history = setup.model, env.history.messages
    last = env.progress.answered.get(model.id)

    def size(tool: JsonObject) -> int:
        return round(setup.count(tool_text(model.counting.api, tool)) * model.counting.ratio)

    price = model.price
    rates = (price.cache_read / price.input, price.cache_write_5m / price.input) if price and price.input else _RATES
    return Warmth(
        now=env.clock(),
        turn_start=turn_start,
        prompt_tokens=last.usage.prompt if last else None,
        size=size,
        requests=sum(1 for message in history if message.role == "assistant"),
        turns_since_switch=turns_since_switch(history),
        read_rate=rates[0],
        write_rate=rates[1],
    )


def _untold(setup: Setup, surface: Surface) -> tuple[ToolSpec, ...]:
    """What could be loaded and does not stand in the catalog as it was sent: it came since."""
    if setup.contract.get(DISCOVERY_TOOL) is None:
        return ()
    return uncovered(undeclared(setup.contract, surface), entries_of(surface.catalog))


def _started(
    env: Environment, setup: Setup, at: StepId, next_plan: SurfacePlan, kept: int, changed: tuple[Segment, ...]
) -> StepStarted:
    declared = set(next_plan.declared)
    loaded = tuple(name for name in env.loaded.names if name in declared)
    return StepStarted(
        turn_id=at.turn_id,
        step=at.number,
        message_id=at.message_id,
        parent_id=env.history.leaf_id,
        model=setup.model.id,
        resident=tuple(name for name in next_plan.declared if name not in loaded),
        loaded=loaded,
        deferred_count=sum(1 for name in setup.contract.names if name not in declared),
        plan=next_plan,
        reason=next_plan.reason,
        causes=moved(next_plan),
        kept=kept,
        segments=changed,
    )


async def _notice_text(env: Environment, setup: Setup, surface: Surface, next_plan: SurfacePlan) -> str | None:
    """What the model has to be told before this request, if anything."""
    messages, today = env.history.messages, iso_time(env.clock())[:10]
    untold = _untold(setup, surface.on([message.id for message in messages]))
    return notice_text(next_plan, messages, today, untold, setup.count, await env.news(env.session_id))


def _notice(env: Environment, text: str, turn_id: str) -> Message:
    return Message(
        id=new_id("m"),
        parent_id=env.history.leaf_id,
        role="notice",
        blocks=(TextBlock(text),),
        created_at=iso_time(env.clock()),
        turn_id=turn_id,
    )

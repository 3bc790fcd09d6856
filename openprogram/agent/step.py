"""One step: plan the surface, send the request, keep the answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from openprogram.agent.deferral import undeclared, wanted, worth_keeping
from openprogram.agent.environment import Environment, Setup
from openprogram.agent.sending import Sending, moved
from openprogram.agent.stream import Received, receive
from openprogram.context.assembler import assemble
from openprogram.context.catalog import entries_of, uncovered
from openprogram.context.notices import notice_text
from openprogram.core.clock import iso_time
from openprogram.core.events import Event, LoadedChanged, MessageAdded, StepFinished, StepStarted
from openprogram.core.ids import new_id
from openprogram.core.messages import Message, TextBlock
from openprogram.core.prompt import ProviderRequest, Segment, Surface, SurfacePlan
from openprogram.core.tooling import DISCOVERY_TOOL, ToolSpec
from openprogram.providers.segments import segments
from openprogram.surface.planner import plan


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
    """Send one request and record the answer, whole or partial."""
    at = StepId(turn_id, step, new_id("m"))
    surface, next_plan = _plan(env, setup, step)
    await _tell(env, setup, surface, next_plan, turn_id)
    sending = Sending(env, setup, next_plan, turn_id, step, at.message_id)
    request = ProviderRequest(
        model=setup.model.model,
        system=assemble(replace(setup.prompt, catalog=surface.catalog)).texts,
        tools=surface.declared,
        messages=env.history.messages,
        params=setup.params,
        cache_key=env.session_id,
        previous_length=_shown_before(env.history.messages),
    )
    parts = segments(request)
    kept = _common(env.progress.segments, parts)
    env.progress.segments = parts
    env.emit(_started(env, setup, at, next_plan, kept, parts[kept:]))
    started = env.monotonic()
    received = await receive(
        setup.provider.stream(request),
        at.message_id,
        env.emit,
        env.stop,
        sent=sending.sent,
        accepted=lambda: env.surfaces.accepted(surface),
        now=env.monotonic,
    )
    answer = Message(
        id=at.message_id,
        parent_id=env.history.leaf_id,
        role="assistant",
        blocks=received.whole_or_partial(),
        created_at=iso_time(env.clock()),
        turn_id=turn_id,
        status=received.status,
        model=setup.model.id,
    )
    price = setup.model.price
    first = received.first_piece_at
    finished = StepFinished(
        turn_id,
        step,
        at.message_id,
        setup.model.id,
        received.usage,
        price.cost(received.usage) if price else None,
        sending.verdict(received.usage),
        None if first is None else round((first - started) * 1000),
        round((env.monotonic() - started) * 1000),
    )
    if received.status in ("complete", "cut"):
        env.answered(setup.model, request, next_plan, received.usage)
    record(env, answer, finished)
    return StepOutcome(answer, received)


def _common(before: Sequence[Segment], now: Sequence[Segment]) -> int:
    """How many leading segments are the same."""
    pairs = zip(before, now, strict=False)
    return next((place for place, (old, new) in enumerate(pairs) if old != new), min(len(before), len(now)))


def _shown_before(history: Sequence[Message]) -> int:
    """How many messages the last answered request held: those before its answer."""
    answers = (place for place in range(len(history) - 1, -1, -1) if history[place].role == "assistant")
    return next(answers, 0)


def _plan(env: Environment, setup: Setup, step: int) -> tuple[Surface, SurfacePlan]:
    """Plan the surface. A rebase at the start of a turn takes dead weight out of the loaded set (cache.md C4)."""
    loaded, previous = env.loaded.names, env.surfaces.current
    kept = worth_keeping(env.loaded, setup.contract, env.history.messages, previous) if step == 1 else loaded
    asked = wanted(setup, loaded, kept)
    surface, chosen = plan(previous, asked, now=env.clock(), cache_ttl_s=setup.model.capability.cache_ttl_s)
    if chosen.kind == "rebase" and env.loaded.drop(set(loaded) - set(kept)):
        env.emit(LoadedChanged(env.loaded.names))
    return surface, chosen


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


async def _tell(env: Environment, setup: Setup, surface: Surface, next_plan: SurfacePlan, turn_id: str) -> None:
    """Record what the model has to be told before this request, if anything."""
    untold, news = _untold(setup, surface), await env.news(env.session_id)
    today = iso_time(env.clock())[:10]
    notice = notice_text(next_plan, env.history.messages, today, untold, setup.count, news)
    if notice is not None:
        record(env, _notice(env, notice, turn_id))


def _notice(env: Environment, text: str, turn_id: str) -> Message:
    return Message(
        id=new_id("m"),
        parent_id=env.history.leaf_id,
        role="notice",
        blocks=(TextBlock(text),),
        created_at=iso_time(env.clock()),
        turn_id=turn_id,
    )

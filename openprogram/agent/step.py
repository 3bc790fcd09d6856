"""One step: plan the surface, send the request, keep the answer."""

from collections.abc import Sequence
from dataclasses import dataclass

from openprogram.agent.environment import Environment, Setup
from openprogram.agent.freeze import residency, shown
from openprogram.agent.stream import Received, receive
from openprogram.context.notices import notice_text
from openprogram.core.clock import iso_time
from openprogram.core.events import Event, MessageAdded, StepFinished, StepStarted
from openprogram.core.ids import new_id
from openprogram.core.jsonio import digest
from openprogram.core.messages import Message, TextBlock
from openprogram.core.prompt import ProviderRequest, Segment, Surface, SurfacePlan
from openprogram.core.tooling import LoadedSet
from openprogram.ledger.verdict import verdict
from openprogram.providers.segments import segments
from openprogram.surface.planner import Wanted, plan


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


async def run_step(env: Environment, setup: Setup, loaded: LoadedSet, turn_id: str, step: int) -> StepOutcome:
    """Send one request and record the answer, whole or partial."""
    at = StepId(turn_id, step, new_id("m"))
    surface, next_plan = _plan(env, setup, loaded)
    notice = notice_text(next_plan, env.history.messages, iso_time(env.clock())[:10])
    if notice is not None:
        record(env, _notice(env, notice, turn_id))
    request = ProviderRequest(
        model=setup.model.model,
        system=setup.prompt.texts,
        tools=surface.declared,
        messages=env.history.messages,
        params=setup.params,
        cache_key=env.session_id,
        previous_length=_shown_before(env.history.messages),
    )
    parts = segments(request)
    kept = _common(env.progress.segments, parts)
    env.progress.segments = parts
    env.emit(_started(env, setup, loaded, at, next_plan, kept, parts[kept:]))
    started = env.monotonic()
    received = await receive(
        setup.provider.stream(request),
        at.message_id,
        env.emit,
        env.stop,
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
        verdict(env.progress.usage, received.usage, next_plan),
        None if first is None else round((first - started) * 1000),
        round((env.monotonic() - started) * 1000),
    )
    env.progress.usage = received.usage
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


def _plan(env: Environment, setup: Setup, loaded: LoadedSet) -> tuple[Surface, SurfacePlan]:
    wanted = Wanted(
        model=setup.model.id,
        tools=tuple(spec.declaration for spec in shown(setup.contract, loaded)),
        floor=tuple(spec.declaration for spec in setup.floor),
        system_digest=digest(list(setup.prompt.texts)),
    )
    return plan(env.surfaces.current, wanted, now=env.clock(), cache_ttl_s=setup.model.capability.cache_ttl_s)


def _started(
    env: Environment,
    setup: Setup,
    loaded: LoadedSet,
    at: StepId,
    next_plan: SurfacePlan,
    kept: int,
    changed: tuple[Segment, ...],
) -> StepStarted:
    how = residency(setup.contract)
    causes = tuple(
        f"{what}:{name}"
        for what, names in (
            ("withdrawn", next_plan.withdrawn),
            ("restored", next_plan.restored),
            ("added", next_plan.added),
        )
        for name in names
    )
    return StepStarted(
        turn_id=at.turn_id,
        step=at.number,
        message_id=at.message_id,
        parent_id=env.history.leaf_id,
        model=setup.model.id,
        resident=next_plan.declared,
        loaded=loaded.names,
        deferred_count=sum(1 for kind in how.values() if kind == "deferred") - len(loaded.names),
        plan=next_plan,
        reason=next_plan.reason,
        causes=causes,
        kept=kept,
        segments=changed,
    )


def _notice(env: Environment, text: str, turn_id: str) -> Message:
    return Message(
        id=new_id("m"),
        parent_id=env.history.leaf_id,
        role="notice",
        blocks=(TextBlock(text),),
        created_at=iso_time(env.clock()),
        turn_id=turn_id,
    )

"""One step: plan the surface, send the request, keep the answer."""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Final

from openprogram.agent.compact import KEPT, compact
from openprogram.agent.environment import Environment, Setup
from openprogram.agent.hosted import Gate
from openprogram.agent.planning import StepId, planned, record, request_of
from openprogram.agent.sending import Sending, common, moved
from openprogram.agent.stream import Received, receive
from openprogram.core.clock import iso_time
from openprogram.core.events import ErrorRaised, Notice, StepFinished, StepStarted
from openprogram.core.ids import new_id
from openprogram.core.messages import Message
from openprogram.core.prompt import ProviderRequest, Segment
from openprogram.core.surface import Capability, Surface, SurfacePlan
from openprogram.providers.segments import segments
from openprogram.surface.bridge import unbridged
from openprogram.surface.hosted import callable_in
from openprogram.surface.strategies import deals_in_changes, without


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """The answer as recorded, and how its stream ended."""

    message: Message
    received: Received


async def run_step(env: Environment, setup: Setup, turn_id: str, step: int, *, compacted: bool = False) -> StepOutcome:
    """Send one request and record the answer, whole or partial.

    An endpoint that refuses a change of the tools gets the same request without it, once (spec cache.md C9): what it
    had taken is told anew by a rebase, and what it takes then is remembered. So does, before that, one that may refuse
    to be asked what its cache did: leaving that out moves no byte of the prompt. One that refuses the conversation as
    too long gets it shorter, once (C16): by all that can go, if it was `compacted` for this step already.
    """
    at, model = StepId(turn_id, step, new_id("m")), setup.model
    capability = env.capabilities.of(model)
    sent = await _sent_in_time(env, setup, at, capability)
    if _refused_asking(sent):
        capability = replace(capability, diagnosis=False)
        sent = await _sent_in_time(env, setup, at, capability)
        if sent.accepted:
            await env.capabilities.refused_diagnosis(model)
            env.emit(Notice("downgraded", _UNASKED.format(title=model.title)))
    if _refused(sent):
        refused = sent.surface.strategy
        again = await _sent_in_time(env, setup, at, without(capability, refused))
        if again.accepted:
            await env.capabilities.refused(model, refused)
            env.emit(Notice("downgraded", _DOWNGRADED.format(title=model.title)))
        sent = again
    if _too_long(sent):
        sent = await _shorter(env, setup, at, sent, 0.0 if compacted else KEPT)
    return _record_answer(env, setup, at, sent)


async def _shorter(env: Environment, setup: Setup, at: StepId, sent: "_Sent", keep: float) -> "_Sent":
    """Compact the conversation and send the step again; where that does not help either, say what does."""
    result = await compact(env, setup, at.turn_id, "refused", keep=keep)
    if result.outcome == "stopped":
        sent.received.status, sent.received.failure = "stopped", None
        return sent
    if result.error is not None:
        env.emit(ErrorRaised(result.error))
    elif result.outcome == "done":
        sent = await _sent_in_time(env, setup, at, env.capabilities.of(setup.model))
    failure = sent.received.failure
    if failure is not None and failure.code == "context_too_long":
        text = _STILL_TOO_LONG if result.outcome == "done" else _CANNOT_BE_SHORTER
        if result.error is None:
            sent.received.failure = replace(failure, message=text, action="choose_model")
    return sent


def _too_long(sent: "_Sent") -> bool:
    """Whether the endpoint has refused the conversation for its length, before anything of an answer."""
    received = sent.received
    too_long = received.failure is not None and received.failure.code == "context_too_long"
    return too_long and received.first_piece_at is None and not received.blocks


_UNFIT: Final = (400, 422)
"""What servers answer to a request that they understand and do not take."""
_TURNS_OF_THE_LOOP: Final = 2
"""So often other tasks get on before a request goes out: the log's writer then works while the request travels, not
when the first piece of the answer already waits to be stored behind it."""
_DOWNGRADED: Final = (
    "{title} does not take changes of the tools in mid-chat. They are sent in another way from now on, "
    "which may cost the cached conversation when a tool is found."
)
_UNASKED: Final = "{title} does not take the question what its cache did. It is not asked any more."
_STILL_TOO_LONG: Final = (
    "Even with a summary in place of what was said, this conversation is too long for the model. Choose one with a "
    "larger context window, switch tools off, or go on in a new chat."
)
_CANNOT_BE_SHORTER: Final = (
    "This message is too long for the model, and there is nothing before it to summarise. Shorten it, choose a model "
    "with a larger context window, or switch tools off."
)


@dataclass(slots=True)
class _Sent:
    """One request on its way, and what came of it."""

    surface: Surface
    plan: SurfacePlan
    request: ProviderRequest
    started: float
    sending: Sending
    gate: Gate
    received: Received = field(default_factory=Received)
    accepted: bool = False


async def _sent_in_time(env: Environment, setup: Setup, at: StepId, capability: Capability) -> _Sent:
    """Send the request; planned anew where it would let the provider search and the chip went off before it was out."""
    while True:
        sent = await _send(env, setup, at, capability)
        if not sent.gate.closed:
            return sent


async def _send(env: Environment, setup: Setup, at: StepId, capability: Capability) -> _Sent:
    surface, next_plan = await planned(env, setup, at, capability)
    request = request_of(env, setup, surface, env.history.view, at.message_id, diagnose=capability.diagnosis)
    parts = segments(request)
    kept = common(env.progress.segments, parts)
    env.progress.segments = parts
    env.emit(_started(env, setup, at, next_plan, kept, parts[kept:]))
    sending = Sending(env, setup, next_plan, at.turn_id, at.number, at.message_id)
    gate = Gate(callable_in(request), env.authority)
    sent = _Sent(surface, next_plan, request, env.monotonic(), sending, gate)

    def accepted() -> None:
        sent.accepted = True
        env.surfaces.accepted(surface)

    events = gate.pass_on(setup.provider.stream(request))
    for _ in range(_TURNS_OF_THE_LOOP):
        await asyncio.sleep(0)
    try:
        sent.received = await receive(
            events, at.message_id, env.emit, env.stop, sent=sending.sent, accepted=accepted, now=env.monotonic
        )
    finally:
        sending.keep()
    return sent


def _refused_asking(sent: _Sent) -> bool:
    """Whether the endpoint may have refused to be asked what its cache did."""
    return sent.request.diagnose and _unfit(sent)


def _refused(sent: _Sent) -> bool:
    """Whether the endpoint may have refused the changes of the tools in this request."""
    return deals_in_changes(sent.surface) and _unfit(sent)


def _unfit(sent: _Sent) -> bool:
    failure = sent.received.failure
    if failure is None or sent.accepted:
        return False
    unfit = failure.code == "model_not_found" and failure.status in _UNFIT  # "... is not supported on this model"
    return failure.code == "bad_request" or unfit


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
        replace(sent.sending.verdict(received.usage), provider=received.diagnosis),
        None if first is None else round((first - sent.started) * 1000),
        round((env.monotonic() - sent.started) * 1000),
        received.answer_id,
    )
    if received.answer_id is not None:
        env.progress.answer_ids[setup.model.id] = received.answer_id
    if received.status in ("complete", "cut"):
        env.answered(setup.model, sent.request, sent.plan, received.usage)
    record(env, answer, finished)
    return StepOutcome(answer, received)


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

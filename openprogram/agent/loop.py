"""The agent loop: two nested loops over turns and steps.

The outer pass is a turn: it begins with user input, and the contract is frozen there (spec T21). The inner pass is a
step: one model request with the tool calls that its answer asks for. Everything it needs is in `Environment`.
"""

from collections.abc import Sequence
from typing import Final, assert_never

from openprogram.agent.calls import CallSite, run_calls
from openprogram.agent.compact import compact, make_room
from openprogram.agent.discovery import Discoverable
from openprogram.agent.environment import CompactNow, Environment, Errand, Resumed, Setup
from openprogram.agent.freeze import residency
from openprogram.agent.pictures import PictureRoom
from openprogram.agent.planning import record
from openprogram.agent.step import run_step
from openprogram.agent.stop import Stopped
from openprogram.agent.summary import FAILED
from openprogram.core.clock import iso_time
from openprogram.core.errors import ConfigError, RequestError
from openprogram.core.events import (
    ErrorInfo,
    ErrorRaised,
    Event,
    LoadedChanged,
    Notice,
    TurnFinished,
    TurnReason,
    TurnStarted,
)
from openprogram.core.ids import new_id
from openprogram.core.messages import Message, TextBlock, ToolResultBlock
from openprogram.core.prompt import ProviderFailure
from openprogram.core.tooling import DISCOVERY_TOOL, Contract

_NOTHING_TO_COMPACT: Final = ErrorInfo(FAILED, "There is nothing to summarise yet, or not in one request.")
_GOES_ON: frozenset[TurnReason] = frozenset({"done", "limit", "cut"})


async def run(env: Environment, errand: Errand = None) -> None:
    """Run turns until no message waits. The history ends in user input, or in the calls of a turn that is resumed, or
    wherever a compaction was asked for.

    After a stop or a failure the waiting messages stay in the queue, where the user sees them.
    """
    resumed = errand if isinstance(errand, Resumed) else None
    asked = isinstance(errand, CompactNow)
    while True:
        turn_id = resumed.turn_id if resumed else env.turn_id()
        try:
            setup = await env.stop.run(env.prepare())
        except Stopped:
            _answer_calls(env, resumed)
            env.emit(TurnFinished(turn_id, "stopped"))
            break
        except (RequestError, ConfigError) as error:
            info = ErrorInfo(error.code, error.message, hint=error.hint)
            _answer_calls(env, resumed)
            env.emit(ErrorRaised(info), TurnFinished(turn_id, "error", info))
            break
        if asked:
            reason, failure = await _compaction(env, setup, turn_id)
        else:
            reason, failure = await _turn(env, setup, turn_id, resumed)
        env.emit(TurnFinished(turn_id, reason, failure))
        await env.emit.flush()
        if reason not in _GOES_ON or env.stop.requested:
            break
        unanswered = reason == "done" and not asked and _unanswered(env)
        if not await env.inbox.next_input(unanswered=unanswered):
            break
        resumed, asked = None, False
    await env.emit.flush()


async def _compaction(env: Environment, setup: Setup, turn_id: str) -> tuple[TurnReason, ErrorInfo | None]:
    """The turn of a user who has asked for a compaction."""
    result = await compact(env, setup, turn_id, "asked")
    match result.outcome:
        case "done":
            return "done", None
        case "stopped":
            return "stopped", None
        case "failed":
            return "error", result.error
        case None:
            return "error", _NOTHING_TO_COMPACT
        case _:
            assert_never(result.outcome)


async def _turn(
    env: Environment, setup: Setup, turn_id: str, resumed: Resumed | None
) -> tuple[TurnReason, ErrorInfo | None]:
    _announce(env, setup, turn_id, resumed)
    step = resumed.steps if resumed else 0
    while True:
        answer = env.history.last
        if answer is None or not answer.calls:
            step += 1
            room = await make_room(env, setup, turn_id, turn_start=step == 1)
            if room == "stopped":
                return "stopped", None
            outcome = await run_step(env, setup, turn_id, step, compacted=room == "done")
            answer = outcome.message
            ended = _ending(outcome.received.status, outcome.received.failure, answer)
            if ended is not None:
                return ended
        if answer.calls:
            await _call_tools(env, setup, turn_id, answer, resumed)
            resumed = None
        await env.emit.flush()
        if env.stop.requested:
            return "stopped", None
        if env.inbox.take_steered():
            return "done", None
        if step >= env.max_steps:
            return "limit", None


def _announce(env: Environment, setup: Setup, turn_id: str, resumed: Resumed | None) -> None:
    """The contract is frozen. What it no longer has leaves the loaded set."""
    contract = setup.contract
    started = TurnStarted(
        turn_id,
        contract.fingerprint,
        contract.names,
        residency(contract),
        contract.intent_revision,
        contract.registry_version,
    )
    left = env.loaded.drop(setup.dropped)
    env.emit(started, *([LoadedChanged(env.loaded.names)] if left else []))
    if resumed is not None:
        env.emit(_resumes(resumed, contract))
    elif gone := _gone(env.history.messages, contract):
        text = f"The work goes on without {', '.join(gone)}: used before, but not among this chat's tools any more."
        env.emit(Notice("tools_gone", text))
    env.emit(*map(ErrorRaised, setup.faults))
    for name in setup.unknown:
        env.emit(ErrorRaised(ErrorInfo("unknown_tool", f"There is no tool named {name}; it is left out.")))
    most = setup.model.capability.max_tools
    if contract.get(DISCOVERY_TOOL) is None and len(contract.names) > most:
        text = f"{len(contract.names)} tools are on, and {setup.model.title} takes {most}: the others cannot be used."
        env.emit(ErrorRaised(ErrorInfo("too_many_tools", text, hint=f"switch {DISCOVERY_TOOL} on, or others off")))


def _resumes(resumed: Resumed, contract: Contract) -> Notice:
    """A turn goes on under a fresh contract; where that differs from its first one, people are told (spec T23)."""
    if resumed.fingerprint == contract.fingerprint:
        return Notice("resumed", "The turn goes on after a restart.")
    return Notice("resumed", "The turn goes on after a restart, with the tools of now: they changed since it began.")


def _gone(history: Sequence[Message], contract: Contract) -> tuple[str, ...]:
    """Tools that the model has used since a person's last message and that this turn does not have (T23).

    None where a message begins something new. What was called stays in the history as it was (T24).
    """
    last = next((at for at, message in enumerate(reversed(history)) if message.role == "user"), len(history))
    used = (call.name for message in history[len(history) - last :] for call in message.calls)
    return tuple(name for name in dict.fromkeys(used) if contract.get(name) is None)


def _unanswered(env: Environment) -> bool:
    """Whether the model has not seen the last results: a steered message ended the turn there."""
    return env.history.last is not None and env.history.last.role == "tool"


def _answer_calls(env: Environment, resumed: Resumed | None) -> None:
    """Give the calls of a turn that is not resumed after all their results (design law 7)."""
    answer = env.history.last
    if resumed is None or answer is None or not answer.calls:
        return
    text = TextBlock("Not run: the turn could not be resumed.")
    results = tuple(
        resumed.results.get(call.call_id, ToolResultBlock(call.call_id, "interrupted", (text,), duration_ms=0))
        for call in answer.calls
    )
    added = env.loaded.add(tuple(name for call in answer.calls for name in resumed.discovered.get(call.call_id, ())))
    before = [LoadedChanged(env.loaded.names, added)] if added else []
    _record_results(env, answer, resumed.turn_id, results, *before)


def _record_results(
    env: Environment, answer: Message, turn_id: str, results: tuple[ToolResultBlock, ...], *before: Event
) -> None:
    record(
        env,
        Message(
            id=new_id("m"),
            parent_id=answer.id,
            role="tool",
            blocks=results,
            created_at=iso_time(env.clock()),
            turn_id=turn_id,
        ),
        *before,
    )


def _ending(
    status: str, failure: ProviderFailure | None, answer: Message
) -> tuple[TurnReason, ErrorInfo | None] | None:
    """How the turn ends after this answer, or None where its calls have to be run."""
    if failure is not None:
        info = ErrorInfo(failure.code, failure.message, failure.action, retry_after_s=failure.retry_after_s)
        return "error", info
    if status == "stopped":
        return "stopped", None
    if status == "cut":
        return "cut", None
    return None if answer.calls or answer.paused else ("done", None)


async def _call_tools(env: Environment, setup: Setup, turn_id: str, answer: Message, resumed: Resumed | None) -> None:
    """Run the calls and record their results, with what they added to the loaded set, in one commit."""
    surface = env.surfaces.current
    view = env.history.view
    shown = surface.on([message.id for message in view]) if surface else None
    discoverable = Discoverable(setup.contract, shown, env.loaded, env.authority, setup.rank)
    site = CallSite(
        env.session_id,
        turn_id,
        answer.id,
        setup.workspace,
        discoverable,
        env.emit,
        env.stop,
        env.monotonic,
        PictureRoom(view, resumed.results.values() if resumed else ()),
        env.tool_ports,
    )
    known = len(env.loaded.names)
    results = await run_calls(answer.calls, site, resumed)
    added = env.loaded.names[known:]
    before = [LoadedChanged(env.loaded.names, added)] if added else []
    _record_results(env, answer, turn_id, results, *before)

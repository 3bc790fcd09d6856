"""Running the tool calls of one answer: parallel where the tools are safe, one result per call whatever happens."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import structlog

from openprogram.agent.stop import Stopped, StopSignal
from openprogram.core.errors import ToolFailure
from openprogram.core.events import ToolCallFinished, ToolCallStarted, ToolOutputDelta
from openprogram.core.messages import CallStatus, TextBlock, ToolResultBlock, ToolUseBlock
from openprogram.core.ports import Authority, Emit
from openprogram.core.tooling import Contract, ContractTool, ToolContext, ToolOutput

OUTPUT_EVENT_CHARS = 65_536
"""How much of a call's output goes out as events (spec trust.md R6); the tool keeps the rest in a file."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CallSite:
    """Where the calls of one answer belong and what they may use."""

    session_id: str
    turn_id: str
    message_id: str
    workspace: Path
    contract: Contract
    authority: Authority
    emit: Emit
    stop: StopSignal
    monotonic: Callable[[], float]


async def run_calls(
    calls: Sequence[ToolUseBlock], site: CallSite, finished: dict[str, ToolResultBlock]
) -> tuple[ToolResultBlock, ...]:
    """Run what is not in `finished` yet and return one result per call, in the order of the calls (P15, law 7).

    After a stop the calls that did not finish get a `stopped` result.
    """
    try:
        for batch in _batches(calls, site.contract):
            waiting = [call for call in batch if call.call_id not in finished]
            await site.stop.run(_run_batch(waiting, site, finished))
    except Stopped:
        for call in calls:
            if call.call_id not in finished:
                _finish(call, _result(call, "stopped", _STOPPED), 0.0, site, finished)
    return tuple(finished[call.call_id] for call in calls)


_STOPPED = "Stopped by the user before it finished. If it changes anything, check what it did before going on."


def _batches(calls: Sequence[ToolUseBlock], contract: Contract) -> Iterator[list[ToolUseBlock]]:
    """Runs of calls that may go side by side; any other call is alone."""

    def safe(call: ToolUseBlock) -> bool:
        tool = contract.get(call.name)
        return tool is None or tool.spec.parallel_safe

    for together, group in groupby(calls, safe):
        if together:
            yield list(group)
        else:
            yield from ([call] for call in group)


async def _run_batch(calls: Sequence[ToolUseBlock], site: CallSite, finished: dict[str, ToolResultBlock]) -> None:
    async with asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(_run_call(call, site, finished), name=f"call {call.name}")


async def _run_call(call: ToolUseBlock, site: CallSite, finished: dict[str, ToolResultBlock]) -> None:
    started = site.monotonic()
    site.emit(ToolCallStarted(site.turn_id, site.message_id, call.call_id, call.name, call.arguments))
    tool = site.contract.get(call.name)
    refusal = _refusal(call.name, tool, site.authority)
    if refusal is not None or tool is None:
        result = _result(call, "denied", refusal or "")
    else:
        if not tool.spec.readonly:
            await site.emit.flush()  # the call is on record before its effect can happen (R2)
        output = await _execute(tool, call, site)
        result = ToolResultBlock(call.call_id, output.status, output.content, output.display)
    _finish(call, result, site.monotonic() - started, site, finished)


def _refusal(name: str, tool: ContractTool | None, authority: Authority) -> str | None:
    """Authorisation is decided here, whatever the model was shown (design law 6, spec T21)."""
    if tool is None:
        return f"The tool {name} is not available in this turn. Use one of the available tools, or answer without."
    if not authority.authorised_now(name):
        return f"The user has switched {name} off. Do not call it again unless a note says that it is back on."
    return None


async def _execute(tool: ContractTool, call: ToolUseBlock, site: CallSite) -> ToolOutput:
    """The supervisor of a tool call: whatever the tool does, the model gets a result."""

    room = OUTPUT_EVENT_CHARS

    def output(text: str) -> None:
        nonlocal room
        shown, room = text[:room], room - len(text)
        if shown:
            site.emit(ToolOutputDelta(call.call_id, shown))

    context = ToolContext(site.session_id, site.turn_id, call.call_id, site.workspace, output)
    try:
        return await tool.execute(call.arguments, context)
    except ToolFailure as failure:
        return ToolOutput.error(failure.message if failure.hint is None else f"{failure.message} {failure.hint}")
    except Exception as error:
        _log.exception("tool_crashed", tool=call.name, session_id=site.session_id, call_id=call.call_id)
        return ToolOutput.error(f"{call.name} failed inside ({type(error).__name__}); this is a fault of the tool.")


def _result(call: ToolUseBlock, status: CallStatus, text: str) -> ToolResultBlock:
    return ToolResultBlock(call.call_id, status, (TextBlock(text),))


def _finish(
    call: ToolUseBlock,
    result: ToolResultBlock,
    seconds: float,
    site: CallSite,
    finished: dict[str, ToolResultBlock],
) -> None:
    finished[call.call_id] = result
    site.emit(ToolCallFinished(call.call_id, result.status, result, round(seconds * 1000)))

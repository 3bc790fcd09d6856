"""Running the tool calls of one answer: parallel where the tools are safe, one result per call whatever happens."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path

import structlog

from openprogram.agent.discovery import CallDiscovery, Discoverable
from openprogram.agent.environment import Resumed, ToolPorts
from openprogram.agent.pictures import PictureRoom
from openprogram.agent.stop import Stopped, StopSignal
from openprogram.core.errors import ToolFailure
from openprogram.core.events import ToolCallFinished, ToolCallStarted, ToolOutputDelta
from openprogram.core.jsonio import encode, scrub
from openprogram.core.messages import CallStatus, TextBlock, ToolResultBlock, ToolUseBlock
from openprogram.core.ports import Authority, Discovery, Emit
from openprogram.core.surface import BRIDGE_NAME
from openprogram.core.tooling import Contract, ContractTool, OutputSink, ToolContext, ToolOutput
from openprogram.providers.answer import INVALID_ARGUMENTS
from openprogram.tools.obstacles import hindered
from openprogram.tools.validation import refusal_of

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
    discoverable: Discoverable
    emit: Emit
    stop: StopSignal
    monotonic: Callable[[], float]
    pictures: PictureRoom
    ports: ToolPorts = field(default_factory=ToolPorts)

    @property
    def contract(self) -> Contract:
        """What the turn may call."""
        return self.discoverable.contract


async def run_calls(
    calls: Sequence[ToolUseBlock], site: CallSite, resumed: Resumed | None
) -> tuple[ToolResultBlock, ...]:
    """Run what has no result yet and return one result per call, in the order of the calls (P15, law 7).

    `resumed` tells what an earlier process has recorded of them. After a stop the calls that did not finish get a
    `stopped` result. What was discovered joins the loaded set, in the order of the calls.
    """
    progress = _Progress(dict(resumed.results), dict(resumed.discovered)) if resumed else _Progress({}, {})
    try:
        for batch in _batches(calls, site.contract):
            waiting = [call for call in batch if call.call_id not in progress.results]
            if waiting:
                await site.stop.run(_run_batch(waiting, site, progress))
    except Stopped:
        for call in calls:
            if call.call_id not in progress.results:
                ran_ms = progress.ran_ms(call)
                _finish(call, _result(call, "stopped", _STOPPED if ran_ms else _NOT_BEGUN), ran_ms, site, progress)
    for call in calls:
        site.discoverable.loaded.add(progress.discovered.get(call.call_id, ()))
    return tuple(progress.results[call.call_id] for call in calls)


@dataclass(frozen=True, slots=True)
class _Progress:
    """How far the calls of one answer are: what has a result, what it discovered, and whose effect may have begun."""

    results: dict[str, ToolResultBlock]
    discovered: dict[str, tuple[str, ...]]
    begun: dict[str, "_Stopwatch"] = field(default_factory=dict)

    def ran_ms(self, call: ToolUseBlock) -> int:
        """How long the tool itself has run, at least 1; 0 where the call has not begun."""
        watch = self.begun.get(call.call_id)
        return 0 if watch is None or watch.since is None else max(1, round((watch.now() - watch.since) * 1000))


@dataclass(slots=True)
class _Stopwatch:
    """Since when a call runs. While a person is asked about it, it has not begun."""

    now: Callable[[], float]
    since: float | None

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Not counted; a call that is cut off in here never began."""
        self.since = None
        yield
        self.since = self.now()


_STOPPED = "Stopped by the user before it finished. If it changes anything, check what it did before going on."
_NOT_BEGUN = "Not run: the user stopped the turn before this call began."
_NO_JSON = "The arguments of this call are not a JSON object, so it was not run. Call it again with valid JSON."


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


async def _run_batch(calls: Sequence[ToolUseBlock], site: CallSite, progress: _Progress) -> None:
    for call in calls:
        site.emit(ToolCallStarted(site.turn_id, site.message_id, call.call_id, call.name, call.arguments))
    if not all(_is_readonly(call, site.contract) for call in calls):
        await site.emit.flush()  # the calls are on record before their effects can happen (R2)
    async with asyncio.TaskGroup() as group:
        for call in calls:
            group.create_task(_run_call(call, site, progress), name=f"call {call.name}")


def _is_readonly(call: ToolUseBlock, contract: Contract) -> bool:
    tool = contract.get(call.name)
    return tool is None or tool.spec.readonly


async def _run_call(call: ToolUseBlock, site: CallSite, progress: _Progress) -> None:
    tool = site.contract.get(call.name)
    discovery = CallDiscovery(site.discoverable)
    refusal = _refusal(call.name, tool, site.discoverable.authority)
    obstacle = site.ports.obstacle(tool.spec) if tool is not None and refusal is None else None
    if refusal is not None or tool is None:
        result = _result(call, "denied", refusal or "")
    elif obstacle is not None:
        output = hindered(call.name, obstacle)  # and nothing is loaded by it
        result = ToolResultBlock(call.call_id, output.status, output.content)
    else:
        output = await _execute(tool, call, site, discovery, progress)
        content = site.pictures.admitted(output.content)
        result = ToolResultBlock(call.call_id, output.status, content, output.display)
    if discovery.discovered:
        progress.discovered[call.call_id] = tuple(discovery.discovered)
    _finish(call, result, 0 if result.status == "denied" else progress.ran_ms(call), site, progress)


def _fault(call: ToolUseBlock, tool: ContractTool, site: CallSite) -> str | None:
    """Why a call cannot even begin. One that was written without the tool's schema gets the schema (T20)."""
    unseen = site.discoverable.needs_loading(call.name)
    if INVALID_ARGUMENTS in call.arguments:
        fault = _NO_JSON
    elif unseen and (refused := refusal_of(tool.spec, call.arguments)) is not None:
        fault = refused
    else:
        return None
    return f"{fault}\nIts schema: {encode(tool.spec.declaration).decode()}" if unseen else fault


def _refusal(name: str, tool: ContractTool | None, authority: Authority) -> str | None:
    """Authorisation is decided here, whatever the model was shown (design law 6, spec T21)."""
    if name == BRIDGE_NAME:
        return f"{BRIDGE_NAME} takes the name of a loaded tool and its arguments as an object, and nothing else."
    if tool is None:
        return f"The tool {name} is not available in this turn. Use one of the available tools, or answer without."
    if not authority.authorised_now(name):
        return f"The user has switched {name} off. Do not call it again unless a note says that it is back on."
    return None


async def _execute(
    tool: ContractTool, call: ToolUseBlock, site: CallSite, discovery: Discovery, progress: _Progress
) -> ToolOutput:
    """The supervisor of a tool call: whatever the tool or its check of arguments does, the model gets a result."""
    try:
        if (fault := _fault(call, tool, site)) is not None:
            return ToolOutput.error(fault)
        if site.discoverable.needs_loading(call.name):
            discovery.select([call.name])
        watch = progress.begun[call.call_id] = _Stopwatch(site.monotonic, site.monotonic())
        output = await tool.execute(call.arguments, _context(call, site, discovery, watch))
        encode([output.content, output.display])  # what JSON cannot carry could not be stored
        return output
    except ToolFailure as failure:
        return ToolOutput.error(scrub(f"{failure.message} {failure.hint}" if failure.hint else failure.message))
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        _log.warning("tool_cancelled_itself", tool=call.name, session_id=site.session_id, call_id=call.call_id)
        return ToolOutput.error(f"{call.name} was cut off from what it worked with; this is a fault of the tool.")
    except (GeneratorExit, KeyboardInterrupt):  # this coroutine is closed, the program ended
        raise
    except BaseException as error:  # a library's `sys.exit` or Rust panic is the tool's fault too, not the server's end
        _log.exception("tool_crashed", tool=call.name, session_id=site.session_id, call_id=call.call_id)
        return ToolOutput.error(f"{call.name} failed inside ({type(error).__name__}); this is a fault of the tool.")


def _context(call: ToolUseBlock, site: CallSite, discovery: Discovery, watch: _Stopwatch) -> ToolContext:
    return ToolContext(
        site.session_id,
        site.turn_id,
        call.call_id,
        site.workspace,
        _output(call, site.emit),
        discovery=discovery,
        waiting=watch.waiting,
        person=site.ports.person,
        chats=site.ports.chats,
    )


def _output(call: ToolUseBlock, emit: Emit) -> OutputSink:
    """Where a running call's output goes: events, until `OUTPUT_EVENT_CHARS` of it are out."""
    room = OUTPUT_EVENT_CHARS

    def output(text: str) -> None:
        nonlocal room
        shown = text[:room]
        room -= len(shown)
        if shown:
            emit(ToolOutputDelta(call.call_id, scrub(shown)))

    return output


def _result(call: ToolUseBlock, status: CallStatus, text: str) -> ToolResultBlock:
    return ToolResultBlock(call.call_id, status, (TextBlock(text),))


def _finish(call: ToolUseBlock, result: ToolResultBlock, ran_ms: int, site: CallSite, progress: _Progress) -> None:
    result = progress.results[call.call_id] = replace(result, duration_ms=ran_ms)
    discovered = progress.discovered.get(call.call_id, ())
    site.emit(ToolCallFinished(call.call_id, result.status, result, ran_ms, discovered))

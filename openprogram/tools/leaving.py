"""A call that does not end when it is told to holds nobody up: it is left behind, and the log names whose it is.

Cancelling asks. Code of other people may not listen, by an `except:` that is too wide or a clean-up that hangs; Stop,
time limits and the server's end hold all the same (spec protocol.md P7). What was left goes on for itself: nothing that
it returns, shows or asks reaches the chat.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

import structlog

from openprogram.core.asking import AskPerson, Question, QuestionAnswer
from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolContext, ToolSpec

GRACE_S: Final = 2.0
"""How long a call that was told to end may clean up before it is left behind."""

T = TypeVar("T")
_Work = Callable[[JsonObject, ToolContext], Awaitable[T]]

_log = structlog.get_logger(__name__)


class LeftBehind:
    """Holds the calls that went on after they were told to end. Belongs to one event loop."""

    def __init__(self, grace_s: float = GRACE_S) -> None:
        self._grace_s = grace_s
        self._tasks: set[asyncio.Task[Any]] = set()

    def __len__(self) -> int:
        """How many go on now."""
        return len(self._tasks)

    async def over(self) -> None:
        """Wait until none goes on any more."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    def watched(self, spec: ToolSpec) -> ToolSpec:
        """The tool, all of whose work can be left behind. The program's own tools end by themselves."""
        if spec.source == "builtin":
            return spec
        return replace(
            spec,
            execute=self._watching(spec, spec.execute),
            judge=None if spec.judge is None else self._watching(spec, spec.judge),
            preview=None if spec.preview is None else self._watching(spec, spec.preview),
        )

    def _watching(self, spec: ToolSpec, work: _Work[T]) -> Callable[[JsonObject, ToolContext], Coroutine[Any, Any, T]]:
        async def watched(arguments: JsonObject, context: ToolContext) -> T:
            reins = _Reins(context)
            task = asyncio.create_task(_begun(work, arguments, reins.context), name=f"{spec.name} of {spec.source}")
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                task.cancel()
                if not await self._ended(task, spec, reins) or task.cancelled():
                    raise
            return task.result()

        return watched

    async def _ended(self, task: asyncio.Task[T], spec: ToolSpec, reins: "_Reins") -> bool:
        """Whether it ends within the grace; else it is left."""
        try:
            await asyncio.wait({task}, timeout=self._grace_s)
        finally:
            if not task.done():
                reins.dropped = True
                self._leave(task, spec)
        return task.done()

    def _leave(self, task: asyncio.Task[Any], spec: ToolSpec) -> None:
        self._tasks.add(task)
        task.add_done_callback(self._over)
        _log.warning(
            "tool_left_behind",
            tool=spec.name,
            source=spec.source,
            hint="it goes on after it was told to end; this is a fault of the tool",
        )

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        _log.info("left_tool_ended", task=task.get_name(), error=None if error is None else repr(error))


@dataclass(slots=True)
class _Reins:
    """What a call reaches its chat by, as long as it was not left behind."""

    given: ToolContext
    dropped: bool = False

    @property
    def context(self) -> ToolContext:
        person = None if self.given.person is None else _Asking(self, self.given.person)
        return replace(self.given, output=self._output, person=person)

    def _output(self, text: str) -> None:
        if not self.dropped:
            self.given.output(text)


@dataclass(frozen=True, slots=True)
class _Asking(AskPerson):
    reins: _Reins
    person: AskPerson

    async def __call__(self, question: Question, call_id: str, turn_id: str) -> QuestionAnswer:
        """See `AskPerson`."""
        if self.reins.dropped:
            raise ToolFailure("The call has ended; nobody is asked any more.")
        return await self.person(question, call_id, turn_id)


async def _begun(work: _Work[T], arguments: JsonObject, context: ToolContext) -> T:
    return await work(arguments, context)

"""The durable broker of approvals: asked once, answered once, whatever restarts in between (spec protocol.md P9)."""

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from openprogram.agent.stop import StopSignal
from openprogram.core.events import ApprovalRequested, ApprovalResolved
from openprogram.core.ports import Answer, Emit
from openprogram.core.storage import ApprovalRow

_CHANGED = "What this call would do has changed since you were asked about it, so it was not run."


@dataclass(slots=True, eq=False)
class Question:
    """A call that waits for a person. `settled` is not set while an answer is on its way into the store."""

    answer: asyncio.Future[Answer] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    settled: asyncio.Event | None = None
    answered: bool = False

    def give(self, answer: Answer) -> None:
        """The answer is stored: let the call go on, unless it was stopped meanwhile."""
        self.answered = True
        if not self.answer.done():
            self.answer.set_result(answer)


class Broker:
    """The `Ask` port of one run. `known` are the approvals of the turn that an earlier process asked for."""

    def __init__(self, emit: Emit, stop: StopSignal, known: Iterable[ApprovalRow] = ()) -> None:
        self._emit = emit
        self._stop = stop
        self._known = {row.request.call_id: row for row in known}
        self._waiting: dict[str, Question] = {}

    async def __call__(self, request: ApprovalRequested) -> Answer:
        """Ask, and wait for the answer. A call that was asked about before keeps that question."""
        known = self._known.get(request.call_id)
        if known is not None and known.request.digest != request.digest:
            return Answer("deny", _CHANGED)
        if known is not None:
            return Answer(known.decision or "deny", known.note)
        question = self._waiting[request.approval_id] = Question()
        self._emit(request)
        try:
            return await question.answer
        except asyncio.CancelledError:
            if self._stop.requested:  # a shutdown leaves the question open instead
                await self._withdraw(request.approval_id, question)
            raise
        finally:
            del self._waiting[request.approval_id]

    async def _withdraw(self, approval_id: str, question: Question) -> None:
        """Its turn ends: the question is moot, unless an answer was first."""
        if question.settled is not None:
            await question.settled.wait()
        if not question.answered:
            self._emit(ApprovalResolved(approval_id, None))

    @contextmanager
    def answering(self, approval_id: str) -> Iterator[Question | None]:
        """Hold while an answer is being stored: so long a stop does not withdraw the question.

        Yields the question, or None if it does not wait any more. The caller holds the chat's lock.
        """
        question = self._waiting.get(approval_id)
        if question is None:
            yield None
            return
        question.settled = asyncio.Event()
        try:
            yield question
        finally:
            question.settled.set()
            question.settled = None

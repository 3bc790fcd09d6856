"""The durable broker of approvals: asked once, answered once, whatever restarts in between (spec protocol.md P9)."""

import asyncio
from collections.abc import Iterable

from openprogram.agent.stop import StopSignal
from openprogram.core.events import ApprovalRequested, ApprovalResolved
from openprogram.core.ports import Answer, Emit
from openprogram.core.storage import ApprovalRow

_CHANGED = "What this call would do has changed since you were asked about it, so it was not run."


class Broker:
    """The `Ask` port of one run. `known` are the approvals of the turn that an earlier process asked for."""

    def __init__(self, emit: Emit, stop: StopSignal, known: Iterable[ApprovalRow] = ()) -> None:
        self._emit = emit
        self._stop = stop
        self._known = {row.request.call_id: row for row in known}
        self._waiting: dict[str, asyncio.Future[Answer]] = {}

    async def __call__(self, request: ApprovalRequested) -> Answer:
        """Ask, and wait for the answer. A call that was asked about before keeps that question."""
        known = self._known.get(request.call_id)
        if known is not None and known.request.preview != request.preview:
            return Answer("deny", _CHANGED)
        if known is not None and not known.pending:
            return Answer(known.decision or "deny", known.note)
        approval_id = known.request.approval_id if known else request.approval_id
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._waiting[approval_id] = answer
        if known is None:
            self._emit(request)
        try:
            return await answer
        except asyncio.CancelledError:
            if self._stop.requested:  # a shutdown leaves the question open instead
                self._emit(ApprovalResolved(approval_id, None))
            raise
        finally:
            del self._waiting[approval_id]

    def answered(self, approval_id: str, answer: Answer) -> None:
        """The answer is stored: let the call go on. Unknown ids are ignored (its turn has ended)."""
        waiting = self._waiting.get(approval_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(answer)

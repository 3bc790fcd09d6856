"""The durable broker of approvals: asked once, answered once, whatever restarts in between (spec protocol.md P9)."""

from collections.abc import Iterable
from contextlib import AbstractContextManager

from openprogram.agent.stop import StopSignal
from openprogram.core.asking import Answer, ApprovalRequested, ApprovalResolved
from openprogram.core.errors import ToolFailure
from openprogram.core.ports import Emit
from openprogram.core.storage import ApprovalRow
from openprogram.sessions.waiting import Open, Waiting
from openprogram.tools.approval import CHANGED


class Broker:
    """The `Ask` port of one run. `known` are the approvals of the turn that an earlier process asked for."""

    def __init__(self, emit: Emit, stop: StopSignal, known: Iterable[ApprovalRow] = ()) -> None:
        self._known = {row.request.call_id: row for row in known}
        self._waiting = Waiting[Answer](emit, stop)

    async def __call__(self, request: ApprovalRequested) -> Answer:
        """Ask, and wait for the answer. A call that was asked about before keeps that question, once: a
        later answer of the model may use the ids of its calls again.

        Raises `ToolFailure` where it would do something else by now: nobody has answered for that.
        """
        known = self._known.pop(request.call_id, None)
        if known is not None and known.request.digest != request.digest:
            raise ToolFailure(CHANGED)
        if known is not None:
            return Answer(known.decision or "deny", known.note)
        return await self._waiting.ask(request.approval_id, request, ApprovalResolved(request.approval_id, None))

    def answering(self, approval_id: str) -> AbstractContextManager[Open[Answer] | None]:
        """Hold while an answer is being stored; see `Waiting.answering`."""
        return self._waiting.answering(approval_id)

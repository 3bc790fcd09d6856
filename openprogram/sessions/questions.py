"""The durable broker of questions to the person: asked once, answered once, like approvals (spec protocol.md P9)."""

from collections.abc import Iterable
from contextlib import AbstractContextManager

from openprogram.agent.stop import StopSignal
from openprogram.core.asking import Question, QuestionAnswer, QuestionAnswered, QuestionAsked, QuestionRow
from openprogram.core.ids import new_id
from openprogram.core.ports import Emit
from openprogram.sessions.waiting import Open, Waiting


class Questions:
    """The `AskPerson` port of one run. `known` are the questions of the turn that an earlier process asked."""

    def __init__(self, emit: Emit, stop: StopSignal, known: Iterable[QuestionRow] = ()) -> None:
        self._known = {row.asked.call_id: row for row in known if row.answer is not None}
        self._waiting = Waiting[QuestionAnswer](emit, stop)

    async def __call__(self, question: Question, call_id: str, turn_id: str) -> QuestionAnswer:
        """Ask, and wait for the answer. A call that asked before gets that question's answer, once."""
        known = self._known.pop(call_id, None)
        if known is not None and known.answer is not None:
            return known.answer
        asked = QuestionAsked(new_id("u"), turn_id, call_id, question)
        return await self._waiting.ask(asked.question_id, asked, QuestionAnswered(asked.question_id, None))

    def answering(self, question_id: str) -> AbstractContextManager[Open[QuestionAnswer] | None]:
        """Hold while an answer is being stored; see `Waiting.answering`."""
        return self._waiting.answering(question_id)

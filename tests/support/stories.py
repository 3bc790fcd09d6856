"""Runs of any kind, recorded: what the model says and asks for, what the person answers, when Stop is pressed."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from hypothesis import strategies as st

from openprogram.agent.environment import Resumed
from openprogram.core.asking import (
    Answer,
    ApprovalDecision,
    ApprovalRequested,
    ApprovalResolved,
    Question,
    QuestionAnswer,
    QuestionAnswered,
    QuestionAsked,
)
from openprogram.core.errors import ToolFailure
from openprogram.core.events import Event, MessageAdded
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import ReasoningBlock, TextBlock, ToolUseBlock
from openprogram.core.prompt import Completed, ReasoningPiece, ResponseStarted, StopReason, TextPiece
from openprogram.core.tooling import ContractTool, ToolContext, ToolOutput, ToolSpec
from openprogram.core.usage import Usage
from openprogram.sessions.approvals import Broker
from openprogram.sessions.questions import Questions
from openprogram.tools.leaving import LeftBehind
from openprogram.tools.wrap import wrap
from tests.support.agent import Chat, FakeTool, RecordingEmit
from tests.support.script import Gate, Script, ScriptedProvider, failed, say


@dataclass(frozen=True)
class Call:
    """A call, and what the person answers where it asks (None: never)."""

    tool: str
    decision: ApprovalDecision | None = "once"


@dataclass(frozen=True)
class Answering:
    """One answer of the model."""

    pieces: tuple[tuple[str, str], ...]
    calls: tuple[Call, ...]
    end: StopReason | str


@dataclass(frozen=True)
class Story:
    """A run: the model's answers, waiting messages, and after which event the user presses Stop."""

    answers: tuple[Answering, ...]
    waiting: tuple[str, ...]
    stop_after: int | None


calls = st.builds(
    Call, st.sampled_from(("ask", "safe", "write", "ask", "fail", "ask_user")), st.sampled_from(("once", "deny", None))
)


answers = st.builds(
    Answering,
    st.lists(st.tuples(st.sampled_from(("text", "reasoning")), st.text("ab ", min_size=1, max_size=4)), max_size=3).map(
        tuple
    ),
    st.lists(calls, min_size=1, max_size=3).map(tuple),
    st.sampled_from(("ok",) * 6 + ("max_tokens", "failed", "cut")),
)


stories = st.builds(
    Story,
    st.lists(answers, min_size=1, max_size=4).map(tuple),
    st.lists(st.just("and then?"), max_size=2).map(tuple),
    st.none() | st.integers(3, 20),
)


@dataclass
class Recording:
    """The log of a run, and how far the log was when each call's effect began."""

    events: list[Event] = field(default_factory=list)
    ran: dict[str, int] = field(default_factory=dict)


class StoppingEmit(RecordingEmit):
    """Presses Stop after so many events."""

    def __init__(self, chat: Chat, stop_after: int | None) -> None:
        super().__init__()
        self._chat = chat
        self._stop_after = stop_after

    def __call__(self, *events: Event) -> None:
        super().__call__(*events)
        if self._stop_after is not None and len(self.events) >= self._stop_after:
            self._chat.stop.request()


class Stage:
    """A chat with the five kinds of tools, whose questions are answered by call."""

    def __init__(
        self,
        provider: ScriptedProvider,
        recording: Recording,
        decisions: Mapping[str, ApprovalDecision | None],
        stop_after: int | None = None,
    ) -> None:
        self._recording = recording
        self._decisions = decisions
        self._silent = Gate()
        self.tools = [
            FakeTool("safe", self._act, parallel_safe=True),
            FakeTool("write", self._act, readonly=False),
            FakeTool("ask", self._act, readonly=False, permission="execute"),
            FakeTool("fail", self._fail, readonly=False),
            FakeTool("ask_user", self._question, parallel_safe=True),
        ]
        self.chat = Chat(provider, *self.tools)
        self.chat.switches.mode = "ask"
        self.chat.wrap = self._wrap
        self.chat.emit = StoppingEmit(self.chat, stop_after)
        self.broker = Broker(self.chat.emit, self.chat.stop)
        self.questions = Questions(self.chat.emit, self.chat.stop)

    def _wrap(self, spec: ToolSpec) -> ContractTool:
        return wrap(spec, self.chat.switches, self._ask, LeftBehind())

    async def _ask(self, request: ApprovalRequested) -> Answer:
        reply = asyncio.get_running_loop().call_soon(self._decide, request)  # the person, once this waits
        try:
            return await self.broker(request)
        finally:
            reply.cancel()

    def _decide(self, request: ApprovalRequested) -> None:
        decision = self._decisions[request.call_id]
        if decision is None:
            self._silent.open()
            return
        with self.broker.answering(request.approval_id) as question:
            if question is not None:
                self.chat.emit(ApprovalResolved(request.approval_id, decision))
                question.give(Answer(decision))

    async def _act(self, _arguments: JsonObject, context: ToolContext) -> ToolOutput:
        self._recording.ran[context.call_id] = len(self.chat.emit.events)
        context.output("at it")
        await asyncio.sleep(0)
        return ToolOutput.text("done")

    async def _question(self, _arguments: JsonObject, context: ToolContext) -> ToolOutput:
        reply = asyncio.get_running_loop().call_soon(self._reply, context.call_id)  # the person, once this waits
        try:
            answer = await self.questions(Question("Which?"), context.call_id, context.turn_id)
        finally:
            reply.cancel()
        return ToolOutput.text(answer.text or "")

    def _reply(self, call_id: str) -> None:
        if self._decisions[call_id] is None:
            self._silent.open()
            return
        asked = next(event for event in self.chat.emit.of(QuestionAsked) if event.call_id == call_id)
        with self.questions.answering(asked.question_id) as waits:
            if waits is not None:
                answer = QuestionAnswer(text=f"answer to {call_id}")
                self.chat.emit(QuestionAnswered(asked.question_id, answer))
                waits.give(answer)

    async def _fail(self, _arguments: JsonObject, context: ToolContext) -> ToolOutput:
        self._recording.ran[context.call_id] = len(self.chat.emit.events)
        raise ToolFailure("it does not work")

    async def run(self, resumed: Resumed | None = None) -> None:
        """To the end, or to a question that nobody answers: there the process dies."""
        running = asyncio.ensure_future(self.chat.run(resumed))
        silent = asyncio.ensure_future(self._silent.opened())
        await asyncio.wait({running, silent}, return_when=asyncio.FIRST_COMPLETED)
        if not running.done():
            for _ in range(20):  # what runs beside the question goes on as far as it can
                await asyncio.sleep(0)
        silent.cancel()
        running.cancel()
        await asyncio.wait({running, silent})


def _script(number: int, answer: Answering) -> Script:
    uses = [
        ToolUseBlock(f"c_{number}_{at}", call.tool, {"command": f"do {at}"} if call.tool == "ask" else {})
        for at, call in enumerate(answer.calls)
    ]
    pieces = [
        TextPiece(at, text) if kind == "text" else ReasoningPiece(at, text)
        for at, (kind, text) in enumerate(answer.pieces)
    ]
    blocks = [TextBlock(text) if kind == "text" else ReasoningBlock(text) for kind, text in answer.pieces]
    match answer.end:
        case "failed":
            return (ResponseStarted(), *pieces, failed("overloaded", *blocks))
        case "cut":
            return (ResponseStarted(), *pieces)
        case "max_tokens":
            return (ResponseStarted(), *pieces, Completed((*blocks, *uses), "max_tokens", Usage()))
        case _:
            return (
                ResponseStarted(),
                *pieces,
                Completed((*blocks, *uses), "tool_use" if uses else "end_turn", Usage()),
            )


async def record(story: Story) -> Recording:
    """Play a story to its end, or to a question that nobody answers."""
    recording = Recording()
    scripts = [_script(number, answer) for number, answer in enumerate(story.answers)]
    decisions = {
        f"c_{number}_{at}": call.decision
        for number, answer in enumerate(story.answers)
        for at, call in enumerate(answer.calls)
    }
    stage = Stage(ScriptedProvider(*scripts, *[say("The end.")] * 4), recording, decisions, story.stop_after)
    chat = stage.chat
    chat.inbox.waiting = list(story.waiting)
    chat.inbox.emit = chat.emit
    chat.emit(MessageAdded(chat.history.messages[0]))
    await stage.run()
    recording.events = list(chat.emit.events)
    return recording

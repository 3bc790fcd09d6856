"""Values to store, by hand and by hypothesis: anything a chat can hold, in a form that fits in one screen of output."""

from typing import get_args

from hypothesis import strategies as st

from openprogram.core.asking import (
    ApprovalRequested,
    Choice,
    PutQuestion,
    Question,
    QuestionAnswer,
    QuestionAsked,
    ResolveQuestion,
)
from openprogram.core.clock import iso_time
from openprogram.core.events import (
    ErrorInfo,
    ErrorRaised,
    Event,
    Notice,
    SessionInfo,
    StepFinished,
    TextDelta,
    TurnFinished,
)
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonValue
from openprogram.core.messages import (
    Block,
    HostedBlock,
    Message,
    QueuedMessage,
    ReasoningBlock,
    Source,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from openprogram.core.storage import (
    ANYWHERE,
    AddGrant,
    AddNote,
    DropGrants,
    EndTurn,
    Grant,
    PutApproval,
    PutIntent,
    PutLoaded,
    PutMessage,
    PutQueue,
    PutSession,
    PutUsage,
    RememberRequest,
    ResolveApproval,
    SetLeaf,
    StartTurn,
    UsageRow,
    Write,
)
from openprogram.core.surface import Delta, EndEpoch, PutSurface, Strategy, Surface
from openprogram.core.usage import CacheVerdict, Usage
from tests.support.sent_values import sents

EPOCH = 1_767_225_600.0
"""2026-01-01T00:00:00Z."""
DAY_S = 24 * 3600.0
TIME = iso_time(EPOCH)
USER = "u_1"


class HandClock:
    """A clock that the test moves."""

    def __init__(self, now: float = EPOCH) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


# -- by hand ----------------------------------------------------------------------------------------------------


def info(session_id: str = "s_1", **fields: object) -> SessionInfo:
    """A chat's description."""
    values: dict[str, object] = {"title": "", "created_at": TIME, "updated_at": TIME, **fields}
    return SessionInfo(id=session_id, **values)  # type: ignore[arg-type]


def new_chat(session_id: str = "s_1", user_id: str = USER, **fields: object) -> PutSession:
    """The write that makes a chat."""
    return PutSession(info(session_id, **fields), user_id)


def delta(text: str = "x") -> TextDelta:
    """A small event."""
    return TextDelta("m_1", 0, text)


def message(message_id: str = "m_1", parent_id: str | None = None, text: str = "hi") -> Message:
    """A user message."""
    return Message(message_id, parent_id, "user", (TextBlock(text),), TIME)


def question(question_id: str = "u_1") -> QuestionAsked:
    """A question to the person."""
    asked = Question("Which one?", (Choice("Left", "the short way"), Choice("Right")))
    return QuestionAsked(question_id, "t_1", "c_1", asked)


def approval(approval_id: str = "a_1") -> ApprovalRequested:
    """A question about a command."""
    return ApprovalRequested(approval_id, "t_1", "c_1", "bash", {"command": "ls"}, "command", "ls", "a command", "ls *")


def queued(queued_id: str, text: str = "next") -> QueuedMessage:
    """A message that waits."""
    return QueuedMessage(queued_id, text, "queue", TIME)


def request(client_id: str = "c1", user_id: str = USER, digest: str = "d") -> RememberRequest:
    """An action to be remembered."""
    return RememberRequest(user_id, client_id, digest, b'{"type":"ack","id":"%s"}' % client_id.encode())


# -- by hypothesis ----------------------------------------------------------------------------------------------

texts = st.text(st.characters(codec="utf-8"), max_size=12)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)
flags = st.none() | st.booleans()
tallies = st.none() | st.integers(0, 10**9)
json_values: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=4,
)
json_objects = st.dictionaries(texts, json_values, max_size=2)
name_tuples = st.lists(names, max_size=4).map(tuple)

typeable_intents: st.SearchStrategy[ToolIntent] = st.builds(
    ToolIntent,
    enabled=flags,
    toolset=st.none() | texts,
    web_search=flags,
    disabled=name_tuples,
    picked=st.none() | name_tuples,
    allowed=st.none() | name_tuples,
)
"""Every intent that the type admits, whether or not a client could send it (T2)."""

blocks: st.SearchStrategy[Block] = st.one_of(
    st.builds(TextBlock, texts),
    st.builds(ReasoningBlock, texts, st.none() | texts, st.none() | texts),
    st.builds(ToolUseBlock, names, names, json_objects),
    st.builds(
        HostedBlock,
        st.sampled_from(("search", "found", "sources", "pause")),
        names,
        texts,
        st.lists(st.builds(Source, texts, texts), max_size=2).map(tuple),
        st.none() | texts,
        st.lists(json_objects, max_size=2).map(tuple),
    ),
    st.builds(
        ToolResultBlock,
        names,
        st.sampled_from(("ok", "error", "denied", "stopped", "interrupted")),
        st.lists(st.builds(TextBlock, texts), max_size=2).map(tuple),
        st.none() | json_objects,
    ),
)


def messages(ids: st.SearchStrategy[str]) -> st.SearchStrategy[Message]:
    """Any message under one of these ids."""
    return st.builds(
        Message,
        ids,
        st.none() | ids,
        st.sampled_from(("user", "assistant", "tool", "notice")),
        st.lists(blocks, max_size=3).map(tuple),
        st.just(TIME),
        st.none() | names,
        st.sampled_from(("complete", "stopped", "interrupted", "error", "cut")),
        st.none() | names,
        st.none() | typeable_intents,
    )


usages = st.builds(Usage, tallies, tallies, tallies, tallies, tallies, tallies, tallies)
declarations = st.lists(json_objects, max_size=2).map(tuple)
deltas = st.builds(Delta, names, declarations, name_tuples, name_tuples, texts, st.none() | names)
surfaces = st.builds(
    Surface,
    names,
    st.integers(0, 9),
    declarations,
    name_tuples,
    names,
    st.floats(0, 1e9),
    texts,
    st.sampled_from(get_args(Strategy)),
    declarations,
    st.lists(deltas, max_size=2).map(tuple),
    st.none() | names,
    st.none() | names,
)
queues = st.lists(
    st.builds(
        QueuedMessage, names, texts, st.sampled_from(("queue", "steer")), st.just(TIME), st.none() | typeable_intents
    ),
    max_size=4,
).map(tuple)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(TextDelta, names, st.integers(0, 3), texts),
    st.builds(Notice, names, texts),
    st.builds(TurnFinished, names, st.sampled_from(("done", "stopped"))),
)


def step_finished(message_id: str) -> StepFinished:
    """An answered request."""
    verdict = CacheVerdict(None, None)
    return StepFinished("t_1", 1, message_id, "e/m", Usage(output=1), None, verdict, None, 1)


# Few ids, so that conditions fail often.
_ids = st.sampled_from(("m_1", "m_2", "m_3"))
_turns = st.sampled_from(("t_1", "t_2"))
_approval_ids = st.sampled_from(("a_1", "a_2"))
_question_ids = st.sampled_from(("u_1", "u_2"))
_texts_or_none = st.none() | texts
_directories = st.sampled_from(("/ws", "/other"))
_directories_or_none = st.none() | st.just(ANYWHERE) | _directories

writes: st.SearchStrategy[Write] = st.one_of(
    st.builds(PutIntent, typeable_intents, st.integers(0, 2)),
    st.builds(PutMessage, messages(_ids)),
    st.builds(SetLeaf, st.none() | _ids),
    st.builds(StartTurn, _turns),
    st.builds(EndTurn, st.builds(TurnFinished, _turns, st.sampled_from(("done", "error")))),
    st.builds(AddNote, st.builds(Notice, names, texts) | st.builds(ErrorRaised, st.builds(ErrorInfo, names, texts))),
    st.builds(PutSurface, surfaces),
    st.builds(EndEpoch, st.integers(1, 5)),
    st.builds(PutLoaded, name_tuples),
    st.builds(
        PutUsage,
        st.builds(
            UsageRow,
            _turns,
            st.integers(1, 2),
            st.sampled_from(("e/m", "e/n")),
            usages,
            # Sums of these are exact in whatever order they are added.
            st.none() | st.integers(0, 640).map(lambda part: part / 64),
            st.sampled_from(("step", "title", "subagent", "summary")),
        ),
        st.none() | _ids.map(step_finished),
    ),
    sents,
    st.builds(PutApproval, _approval_ids.map(approval)),
    st.builds(ResolveApproval, _approval_ids, st.sampled_from((None, "once", "session", "deny")), _texts_or_none),
    st.builds(PutQuestion, _question_ids.map(question)),
    st.builds(ResolveQuestion, _question_ids, st.none() | st.builds(QuestionAnswer, name_tuples, _texts_or_none)),
    st.builds(
        AddGrant,
        st.builds(Grant, st.sampled_from(("bash", "write")), st.sampled_from(("ls *", "*")), _directories_or_none),
    ),
    st.builds(DropGrants, _directories),
    st.builds(PutQueue, queues),
    st.builds(request, st.sampled_from(("c1", "c2")), st.sampled_from((USER, "u_2")), texts),
)
"""Every kind of write but `PutSession`."""


@st.composite
def descriptions(draw: st.DrawFn, session_id: str) -> PutSession:
    """Any description of one chat."""
    described = info(
        session_id,
        title=draw(texts),
        updated_at=iso_time(EPOCH + draw(st.integers(0, 3)) * DAY_S),
        visible=draw(st.booleans()),
        pinned=draw(st.booleans()),
        deleted=draw(st.booleans()),
        model=draw(st.none() | names),
        permission_mode=draw(st.sampled_from(("ask", "accept_edits", "auto"))),
        workspace=draw(st.none() | texts),
        leaf_id=draw(st.none() | _ids),
    )
    return PutSession(described, draw(st.sampled_from((USER, "u_2"))))

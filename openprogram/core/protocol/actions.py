"""Every action a client can send. Frozen dataclasses; `codec` validates them strictly and refuses unknown keys.

`id` is made by the client and is the idempotency key: the same id twice has one effect and two equal acks (P5).
"""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from annotated_types import Ge, Interval, MaxLen, MinLen
from pydantic import ConfigDict

from openprogram.core.events import ApprovalDecision, ChatMode, PermissionMode
from openprogram.core.jsonio import JsonValue

ClientId = Annotated[str, MinLen(1), MaxLen(128)]
Name = Annotated[str, MinLen(1), MaxLen(200)]
Title = Annotated[str, MinLen(1), MaxLen(300)]
STRICT: Final = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Action:
    __pydantic_config__ = STRICT
    id: ClientId


@dataclass(frozen=True, slots=True, kw_only=True)
class _SessionAction(_Action):
    session_id: Name


# -- chat -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Override:
    """Per-turn override of the tool intent (spec tools.md T9); null fields fall through."""

    __pydantic_config__ = STRICT
    enabled: bool | None = None
    toolset: str | None = None
    web_search: bool | None = None
    disabled: tuple[str, ...] = ()
    picked: tuple[str, ...] | None = None
    allowed: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat(_Action):
    """Send a message; `session_id` null makes a new chat. While a turn runs, `send` queues and `steer` steers."""

    action: Literal["chat"]
    session_id: Name | None = None
    text: Annotated[str, MinLen(1), MaxLen(2_000_000)]
    attachments: tuple[str, ...] = ()
    mode: ChatMode = "send"
    override: Override | tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(_SessionAction):
    """End the running turn within a second, keeping what was shown (P7)."""

    action: Literal["stop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinueTurn(_SessionAction):
    """Go on after a turn that ended interrupted, stopped, at a limit or cut."""

    action: Literal["continue_turn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditMessage(_SessionAction):
    """Send another text in place of an earlier user message: a sibling branch (P8)."""

    action: Literal["edit_message"]
    message_id: Name
    text: Annotated[str, MinLen(1), MaxLen(2_000_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regenerate(_SessionAction):
    """Answer a user message again, as a sibling of the answer `message_id`."""

    action: Literal["regenerate"]
    message_id: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectBranch(_SessionAction):
    """Make the branch through `message_id` the active one, down to its newest leaf."""

    action: Literal["select_branch"]
    message_id: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class EditQueue(_SessionAction):
    """Change the text of a waiting message; null removes it."""

    action: Literal["edit_queue"]
    queued_id: Name
    text: Annotated[str, MinLen(1), MaxLen(2_000_000)] | None


# -- tools ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SetToolsProfile(_SessionAction):
    """Choose a preset; null follows the profile again."""

    action: Literal["set_tools_profile"]
    toolset: Name | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToggleWebSearch(_SessionAction):
    """The chip: true adds web search, false takes it away everywhere, null leaves it to the preset."""

    action: Literal["toggle_web_search"]
    value: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetToolsEnabled(_SessionAction):
    """The master switch; null follows the profile."""

    action: Literal["set_tools_enabled"]
    value: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetToolDisabled(_SessionAction):
    """Switch one tool off (`value` true) or stop switching it off (false)."""

    action: Literal["set_tool_disabled"]
    name: Name
    value: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PickTools(_SessionAction):
    """The user's own short selection in place of a preset; null goes back to the preset."""

    action: Literal["pick_tools"]
    tools: tuple[Name, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainTools(_SessionAction):
    """Ask for every tool with its state and reason, and for the layer that decided each field."""

    action: Literal["explain_tools"]


# -- session ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribe(_Action):
    """Events after `after_seq`, then live; `session_id` null gives unnumbered hints for the sidebar."""

    action: Literal["subscribe"]
    session_id: Name | None
    after_seq: Annotated[int, Ge(0)] | None = None
    snapshot: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsubscribe(_Action):
    """No more events of this session on this socket."""

    action: Literal["unsubscribe"]
    session_id: Name | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSession(_Action):
    """A draft: it takes switches at once and appears in the sidebar with its first message."""

    action: Literal["create_session"]
    title: Title | None = None
    workspace: Annotated[str, MinLen(1), MaxLen(4096)] | None = None
    model: Name | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSessions(_Action):
    """The user's chats, newest first."""

    action: Literal["list_sessions"]
    before: str | None = None
    limit: Annotated[int, Interval(ge=1, le=1000)] = 200
    deleted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameSession(_SessionAction):
    """Give the chat a title."""

    action: Literal["rename_session"]
    title: Title


@dataclass(frozen=True, slots=True, kw_only=True)
class PinSession(_SessionAction):
    """Keep the chat at the top, or no longer."""

    action: Literal["pin_session"]
    value: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSession(_SessionAction):
    """Hide the chat; `restore_session` brings it back."""

    action: Literal["delete_session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreSession(_SessionAction):
    """Bring a deleted chat back."""

    action: Literal["restore_session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadMessages(_SessionAction):
    """Messages of the active branch before `before` (a message id; null: the end)."""

    action: Literal["load_messages"]
    before: Name | None = None
    limit: Annotated[int, Interval(ge=1, le=500)] = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SetModel(_SessionAction):
    """Choose `endpoint/model` for the turns to come; null is the server's default."""

    action: Literal["set_model"]
    model: Name | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPermissionMode(_SessionAction):
    """ask, accept_edits or auto; read at each dispatch, so it applies at once."""

    action: Literal["set_permission_mode"]
    mode: PermissionMode


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerApproval(_SessionAction):
    """Answer a pending approval once, from any tab."""

    action: Literal["answer_approval"]
    approval_id: Name
    decision: ApprovalDecision
    note: Annotated[str, MaxLen(10_000)] | None = None


# -- settings and link ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class GetSettings(_Action):
    """The user's settings."""

    action: Literal["get_settings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetSetting(_Action):
    """Change one setting; null goes back to its default."""

    action: Literal["set_setting"]
    key: Name
    value: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Ping(_Action):
    """Answered by pong."""

    action: Literal["ping"]


Action = (
    Chat
    | Stop
    | ContinueTurn
    | EditMessage
    | Regenerate
    | SelectBranch
    | EditQueue
    | SetToolsProfile
    | ToggleWebSearch
    | SetToolsEnabled
    | SetToolDisabled
    | PickTools
    | ExplainTools
    | Subscribe
    | Unsubscribe
    | CreateSession
    | ListSessions
    | RenameSession
    | PinSession
    | DeleteSession
    | RestoreSession
    | LoadMessages
    | SetModel
    | SetPermissionMode
    | AnswerApproval
    | GetSettings
    | SetSetting
    | Ping
)

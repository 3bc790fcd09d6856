"""Every action a client can send. Frozen dataclasses; `codec` validates them strictly and refuses unknown keys.

`id` is made by the client and is the idempotency key: the same id twice has one effect and two equal acks (P5).
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Interval, MaxLen, MinLen

from openprogram.core.events import ChatMode, PermissionMode
from openprogram.core.protocol.base import AnyOverride, BaseAction, Name, SessionAction, Title, Workspace
from openprogram.core.protocol.cache_actions import CacheAction
from openprogram.core.protocol.control import AnswerApproval, AnswerQuestion
from openprogram.core.protocol.user_actions import (
    DeletePreset,
    GetSettings,
    ListModels,
    Ping,
    SavePreset,
    SetSetting,
)

# -- chat -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Chat(BaseAction):
    """Send a message; `session_id` null makes a new chat. While a turn runs, `send` queues and `steer` steers."""

    action: Literal["chat"]
    session_id: Name | None = None
    text: Annotated[str, MinLen(1), MaxLen(2_000_000)]
    attachments: tuple[str, ...] = ()
    mode: ChatMode = "send"
    override: AnyOverride | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(SessionAction):
    """End the running turn within a second, keeping what was shown (P7)."""

    action: Literal["stop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContinueTurn(SessionAction):
    """Go on after a turn that ended interrupted, stopped, at a limit or cut."""

    action: Literal["continue_turn"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact(SessionAction):
    """Have the conversation so far summarised: from then on the model sees the summary in its place."""

    action: Literal["compact"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EditMessage(SessionAction):
    """Send another text in place of an earlier user message: a sibling branch (P8)."""

    action: Literal["edit_message"]
    message_id: Name
    text: Annotated[str, MinLen(1), MaxLen(2_000_000)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Regenerate(SessionAction):
    """Answer a user message again, as a sibling of the answer `message_id`."""

    action: Literal["regenerate"]
    message_id: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectBranch(SessionAction):
    """Make the branch through `message_id` the active one, down to its newest leaf."""

    action: Literal["select_branch"]
    message_id: Name


@dataclass(frozen=True, slots=True, kw_only=True)
class EditQueue(SessionAction):
    """Change a message's text while it waits, null removes it. `send` lets it go now (null: as it is)."""

    action: Literal["edit_queue"]
    queued_id: Name
    text: Annotated[str, MinLen(1), MaxLen(2_000_000)] | None
    send: bool = False


# -- tools ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class SetToolsProfile(SessionAction):
    """Choose a preset; null follows the profile again."""

    action: Literal["set_tools_profile"]
    toolset: Name | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToggleWebSearch(SessionAction):
    """The chip: true adds web search, false takes it away everywhere, null leaves it to the preset."""

    action: Literal["toggle_web_search"]
    value: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetToolsEnabled(SessionAction):
    """The master switch; null follows the profile."""

    action: Literal["set_tools_enabled"]
    value: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetToolDisabled(SessionAction):
    """Switch one tool off (`value` true) or stop switching it off (false)."""

    action: Literal["set_tool_disabled"]
    name: Name
    value: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PickTools(SessionAction):
    """The user's own short selection in place of a preset; null goes back to the preset."""

    action: Literal["pick_tools"]
    tools: tuple[Name, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainTools(SessionAction):
    """Ask for every tool with its state and reason, and for the layer that decided each field."""

    action: Literal["explain_tools"]


# -- session ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscribe(BaseAction):
    """Events after `after_seq`, then live; `session_id` null gives unnumbered hints for the sidebar."""

    action: Literal["subscribe"]
    session_id: Name | None
    after_seq: Annotated[int, Ge(0)] | None = None
    snapshot: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Unsubscribe(BaseAction):
    """No more events of this session on this socket."""

    action: Literal["unsubscribe"]
    session_id: Name | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSession(BaseAction):
    """A draft: it takes switches at once and appears in the sidebar with its first message.

    `tools` is the intent of a chat that comes from elsewhere, in place of the user's default for new chats.
    """

    action: Literal["create_session"]
    title: Title | None = None
    workspace: Workspace | None = None
    model: Name | None = None
    tools: AnyOverride | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListSessions(BaseAction):
    """The user's chats, newest first: those behind the one whose `updated_at` and `id` are `before` and `before_id`."""

    action: Literal["list_sessions"]
    before: str | None = None
    before_id: Name | None = None
    limit: Annotated[int, Interval(ge=1, le=1000)] = 200
    deleted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameSession(SessionAction):
    """Give the chat a title."""

    action: Literal["rename_session"]
    title: Title


@dataclass(frozen=True, slots=True, kw_only=True)
class PinSession(SessionAction):
    """Keep the chat at the top, or no longer."""

    action: Literal["pin_session"]
    value: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSession(SessionAction):
    """Hide the chat; `restore_session` brings it back."""

    action: Literal["delete_session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreSession(SessionAction):
    """Bring a deleted chat back."""

    action: Literal["restore_session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadMessages(SessionAction):
    """Messages of the active branch before `before` (a message id; null: the end)."""

    action: Literal["load_messages"]
    before: Name | None = None
    limit: Annotated[int, Interval(ge=1, le=500)] = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SetModel(SessionAction):
    """Choose `endpoint/model` for the turns to come; null is the server's default."""

    action: Literal["set_model"]
    model: Name | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetWorkspace(SessionAction):
    """Work in another directory from the next turn on; null is the server's default."""

    action: Literal["set_workspace"]
    workspace: Workspace | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SetPermissionMode(SessionAction):
    """ask, accept_edits or auto; read at each dispatch, so it applies at once."""

    action: Literal["set_permission_mode"]
    mode: PermissionMode


Action = (
    Chat
    | Stop
    | ContinueTurn
    | Compact
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
    | CacheAction
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
    | SetWorkspace
    | SetPermissionMode
    | AnswerApproval
    | AnswerQuestion
    | ListModels
    | GetSettings
    | SetSetting
    | SavePreset
    | DeletePreset
    | Ping
)

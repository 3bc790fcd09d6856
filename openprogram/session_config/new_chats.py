"""What a new chat starts from: the user's stated default, which is itself an intent (spec tools.md T7)."""

from dataclasses import dataclass, field
from typing import Final, Literal, assert_never, get_args

from openprogram.core.errors import BadField
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonObject, JsonValue
from openprogram.session_config.codec import read_intent, write_intent
from openprogram.session_config.patches import within

NewChatMode = Literal["follow_profile", "last_used", "fixed"]
_MODES: Final[tuple[NewChatMode, ...]] = get_args(NewChatMode)


@dataclass(frozen=True, slots=True)
class NewChats:
    """The user's setting. `intent` counts in mode `fixed` only; the others keep it for when it is chosen again."""

    mode: NewChatMode = "follow_profile"
    intent: ToolIntent = field(default_factory=ToolIntent)


def first_intent(setting: NewChats, last_used: ToolIntent | None) -> ToolIntent:
    """The session layer of a new chat; `last_used` is that of the chat the user changed last, if there is one."""
    match setting.mode:
        case "follow_profile":
            return ToolIntent()
        case "last_used":
            return last_used if last_used is not None else ToolIntent()
        case "fixed":
            return setting.intent
        case _:
            assert_never(setting.mode)


def read_new_chats(value: JsonValue) -> NewChats:
    """The setting from JSON: `{"mode": ..., "intent": {...}}`; null is the default. Raises `BadField` with the path."""
    if value is None:
        return NewChats()
    if isinstance(value, dict) and value.keys() <= {"mode", "intent"}:
        mode = next((mode for mode in _MODES if mode == value.get("mode")), None)
        if mode is not None:
            with within("intent"):
                return NewChats(mode, read_intent(value.get("intent")))
    raise BadField(
        "not a default for new chats",
        hint='{"mode": "follow_profile", "last_used" or "fixed", "intent": {...}}',
    )


def write_new_chats(setting: NewChats) -> JsonObject:
    """The JSON form of the setting."""
    return {"mode": setting.mode, "intent": write_intent(setting.intent)}

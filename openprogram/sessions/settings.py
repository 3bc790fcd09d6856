"""The user's settings: a closed list of keys, each with its type and default."""

from typing import Final, cast

from openprogram.core.errors import BadField
from openprogram.core.events import PermissionMode
from openprogram.core.jsonio import JsonObject, JsonValue
from openprogram.core.protocol.frames import SettingsAck
from openprogram.core.protocol.user_actions import GetSettings, SetSetting
from openprogram.session_config.costly import CostlySend, read_costly_send, write_costly_send
from openprogram.session_config.new_chats import NewChats, read_new_chats, write_new_chats
from openprogram.session_config.patches import check_intent, within
from openprogram.sessions.hub import Hub
from openprogram.sessions.request import Request

KEYLESS_SEARCH: Final = "keyless_search_consent"
"""Whether queries may go to public search sites without a key; false until the user says so."""
NEW_CHATS: Final = "new_chats"
PERMISSION_MODE: Final = "permission_mode"
COSTLY_SEND: Final = "costly_send"
_MODES: Final = ("ask", "accept_edits", "auto")


async def get_settings(hub: Hub, request: Request, action: GetSettings) -> SettingsAck:
    """All settings, defaults filled in."""
    return SettingsAck(id=action.id, settings=_filled(hub, await _stored(hub, request.user_id)))


async def set_setting(hub: Hub, request: Request, action: SetSetting) -> SettingsAck:
    """Change one setting; null goes back to its default."""
    if action.value is not None:
        _check(hub, action.key, action.value)
    elif action.key not in _KEYS:
        raise _unknown(action.key)
    stored = await _stored(hub, request.user_id)
    ack = SettingsAck(id=action.id, settings=_filled(hub, stored | {action.key: action.value}))
    await hub.ports.store.put_setting(request.user_id, action.key, action.value, request.remember(ack))
    hub.ports.setting_changed(request.user_id, action.key, action.value)
    hub.sidebar.hint(request.user_id, "settings_changed")
    return ack


async def new_chats(hub: Hub, user_id: str) -> NewChats:
    """What new chats start from (T7)."""
    return read_new_chats(await hub.ports.store.setting(user_id, NEW_CHATS))


async def permission_mode(hub: Hub, user_id: str) -> PermissionMode:
    """The permission mode of new chats."""
    return _mode(hub, await hub.ports.store.setting(user_id, PERMISSION_MODE))


async def costly_send(hub: Hub, user_id: str) -> CostlySend:
    """From which price on a person is told before it is paid."""
    return read_costly_send(await hub.ports.store.setting(user_id, COSTLY_SEND))


def _mode(hub: Hub, stored: JsonValue) -> PermissionMode:
    return cast(PermissionMode, stored) if stored in _MODES else hub.defaults.permission_mode


_KEYS: Final = (KEYLESS_SEARCH, NEW_CHATS, PERMISSION_MODE, COSTLY_SEND)


async def _stored(hub: Hub, user_id: str) -> JsonObject:
    return {key: await hub.ports.store.setting(user_id, key) for key in _KEYS}


def _filled(hub: Hub, stored: JsonObject) -> JsonObject:
    return {
        KEYLESS_SEARCH: bool(stored[KEYLESS_SEARCH]),
        NEW_CHATS: write_new_chats(read_new_chats(stored[NEW_CHATS])),
        PERMISSION_MODE: _mode(hub, stored[PERMISSION_MODE]),
        COSTLY_SEND: write_costly_send(read_costly_send(stored[COSTLY_SEND])),
    }


def _check(hub: Hub, key: str, value: JsonValue) -> None:
    match key:
        case "keyless_search_consent":
            if not isinstance(value, bool):
                raise BadField("true or false", field="value")
        case "new_chats":
            with within("value"):
                setting = read_new_chats(value)
                with within("intent"):
                    check_intent(setting.intent, hub.ports.snapshot())
        case "permission_mode":
            if value not in _MODES:
                raise BadField(f"one of {', '.join(_MODES)}", field="value")
        case "costly_send":
            with within("value"):
                read_costly_send(value)
        case _:
            raise _unknown(key)


def _unknown(key: str) -> BadField:
    return BadField(f"there is no setting {key[:100]!r}", field="key", hint=f"one of {', '.join(_KEYS)}")

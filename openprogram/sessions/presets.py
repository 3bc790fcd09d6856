"""The user's own presets: saved, changed, deleted. Those of the program and of `config.toml` are left alone."""

from collections.abc import Callable, Iterable
from typing import Final

from openprogram.core.errors import BadField, ConfigError, LimitExceeded
from openprogram.core.jsonio import JsonObject
from openprogram.core.protocol.frames import Ack, PresetInfo
from openprogram.core.protocol.user_actions import DeletePreset, SavePreset
from openprogram.core.tooling import Preset, Snapshot
from openprogram.sessions.hub import Hub
from openprogram.sessions.request import Request
from openprogram.tools.presets import combine, read_presets

PRESETS: Final = "presets"
"""The setting that holds them, as `read_presets` reads them."""
MAX_PRESETS: Final = 100


def preset_infos(snapshot: Snapshot) -> tuple[PresetInfo, ...]:
    """The presets as clients are told of them."""
    return tuple(
        PresetInfo(
            name=preset.name,
            title=preset.title,
            description=preset.description,
            entries=preset.entries,
            includes=preset.includes,
            source=preset.source,
        )
        for preset in snapshot.presets.values()
    )


async def save_preset(hub: Hub, request: Request, action: SavePreset) -> Ack:
    """Make or replace a preset of the user's own. Raises `BadField` with the place of what cannot be one."""
    table: JsonObject = {
        "title": action.title.strip() or action.name,
        "description": action.description.strip(),
        "entries": list(action.entries),
        "includes": list(action.includes),
    }
    async with hub.lock(f"presets of {request.user_id}"):
        stored = await _stored(hub, request.user_id)
        known = hub.ports.snapshot().presets.get(action.name)
        if known is not None and known.source != "user":
            where = "built in" if known.source == "builtin" else "defined in config.toml"
            raise BadField(f"the preset {action.name!r} is {where}", field="name", hint="choose another name")
        if action.name not in stored and len(stored) >= MAX_PRESETS:
            raise LimitExceeded(f"there are {MAX_PRESETS} presets already", field="name", hint="delete one first")
        _check(action.name, lambda: read_presets({action.name: table}, "user"), hub)
        return await _put(hub, request, stored | {action.name: table})


async def delete_preset(hub: Hub, request: Request, action: DeletePreset) -> Ack:
    """Forget a preset of the user's own. Raises `BadField` where there is none, or another one includes it."""
    async with hub.lock(f"presets of {request.user_id}"):
        stored = await _stored(hub, request.user_id)
        if action.name not in stored:
            raise BadField(
                f"there is no preset {action.name[:100]!r} of your own", field="name", hint="others cannot be deleted"
            )
        _check(action.name, tuple, hub)
        return await _put(hub, request, {name: table for name, table in stored.items() if name != action.name})


def _check(name: str, made: Callable[[], Iterable[Preset]], hub: Hub) -> None:
    """Raise `BadField` unless all presets, with `made` in place of the one of that name, can be expanded."""
    others = (preset for preset in hub.ports.snapshot().presets.values() if preset.source != "builtin")
    try:
        combine((preset for preset in others if preset.name != name), made())
    except ConfigError as error:
        field = (error.field or "").removeprefix(f"presets.{name}").removeprefix(".")
        raise BadField(error.message, field=field or "name", hint=error.hint) from error


async def _stored(hub: Hub, user_id: str) -> JsonObject:
    value = await hub.ports.store.setting(user_id, PRESETS)
    return value if isinstance(value, dict) else {}


async def _put(hub: Hub, request: Request, presets: JsonObject) -> Ack:
    ack = Ack(id=request.client_id)
    await hub.ports.store.put_setting(request.user_id, PRESETS, presets, request.remember(ack))
    hub.ports.setting_changed(request.user_id, PRESETS, presets)
    return ack

"""The one way to change a chat's tool intent (spec tools.md T10): patch, compare and set, tell everyone."""

from typing import Literal

from openprogram.core.errors import Conflict
from openprogram.core.events import IntentChanged
from openprogram.core.intent import StoredIntent, ToolIntent
from openprogram.core.protocol.actions import (
    PickTools,
    SetToolDisabled,
    SetToolsEnabled,
    SetToolsProfile,
    ToggleWebSearch,
)
from openprogram.core.protocol.frames import IntentAck
from openprogram.session_config.patches import (
    Patch,
    SetEnabled,
    SetPicked,
    SetToolset,
    SetWebSearch,
    change_intent,
)
from openprogram.session_config.patches import SetToolDisabled as PatchDisabled
from openprogram.sessions.effective import effective, names_now
from openprogram.sessions.hub import Hub
from openprogram.sessions.projects import project_layer
from openprogram.sessions.request import Request

_ATTEMPTS = 20


async def set_tools_profile(hub: Hub, request: Request, action: SetToolsProfile) -> IntentAck:
    """Choose a preset."""
    return await _patch(hub, request, action.session_id, SetToolset(action.toolset))


async def toggle_web_search(hub: Hub, request: Request, action: ToggleWebSearch) -> IntentAck:
    """Flip the chip."""
    return await _patch(hub, request, action.session_id, SetWebSearch(action.value))


async def set_tools_enabled(hub: Hub, request: Request, action: SetToolsEnabled) -> IntentAck:
    """Flip the master switch."""
    return await _patch(hub, request, action.session_id, SetEnabled(action.value))


async def set_tool_disabled(hub: Hub, request: Request, action: SetToolDisabled) -> IntentAck:
    """Switch one tool."""
    return await _patch(hub, request, action.session_id, PatchDisabled(action.name, action.value))


async def pick_tools(hub: Hub, request: Request, action: PickTools) -> IntentAck:
    """Choose a few tools in place of a preset."""
    return await _patch(hub, request, action.session_id, SetPicked(action.tools))


async def _patch(hub: Hub, request: Request, session_id: str, patch: Patch) -> IntentAck:
    """Apply a patch to the newest intent; a write that another process beat is tried again on the newer one (T8)."""
    row = await hub.row(request.user_id, session_id)
    project = (await project_layer(hub.defaults, row.info, hub.ports.snapshot())).intent
    attempt = 1
    async with hub.intent_lock(session_id):
        while True:
            stored = await hub.ports.store.intent(session_id)
            changed = change_intent(stored, patch, hub.ports.snapshot())
            try:
                return await _store(hub, request, session_id, project, stored, changed)
            except Conflict:
                remembered = await hub.ports.store.remembered(request.user_id, request.client_id)
                if remembered is not None or attempt == _ATTEMPTS:
                    raise
            attempt += 1


async def _store(
    hub: Hub,
    request: Request,
    session_id: str,
    project: ToolIntent,
    stored: StoredIntent,
    changed: ToolIntent | None,
) -> IntentAck:
    newer = stored if changed is None else StoredIntent(changed, stored.revision + 1)
    ack = IntentAck(
        id=request.client_id,
        session_id=session_id,
        revision=newer.revision,
        applies=_applies(hub, session_id, project, stored, newer),
    )
    events = () if changed is None else (IntentChanged(changed, newer.revision, effective(hub, newer, project)),)
    await hub.journal.commit(session_id, request.user_id, events, request.remember(ack))
    authority = hub.authorities.get(session_id)
    if authority is not None:
        authority.intent_changed(newer)
    return ack


def _applies(
    hub: Hub, session_id: str, project: ToolIntent, before: StoredIntent, after: StoredIntent
) -> Literal["now", "next_turn"]:
    """`now` if no turn runs or the change only takes away."""
    if session_id not in hub.runs:
        return "now"
    snapshot = hub.ports.snapshot()
    gained = names_now(hub, after, snapshot, project, None) - names_now(hub, before, snapshot, project, None)
    return "next_turn" if gained else "now"

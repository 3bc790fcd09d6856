"""The one way to change a chat's tool intent (spec tools.md T10): patch, compare and set, tell everyone."""

from collections.abc import Sequence
from typing import Literal

import structlog

from openprogram.core.errors import Conflict, StorageError
from openprogram.core.events import Event, IntentChanged
from openprogram.core.intent import StoredIntent, ToolIntent
from openprogram.core.protocol.actions import (
    PickTools,
    SetToolDisabled,
    SetToolsEnabled,
    SetToolsProfile,
    ToggleWebSearch,
)
from openprogram.core.protocol.frames import IntentAck
from openprogram.core.storage import SessionRow, Write
from openprogram.session_config.patches import (
    Patch,
    SetEnabled,
    SetPicked,
    SetToolset,
    SetWebSearch,
    change_intent,
)
from openprogram.session_config.patches import SetToolDisabled as PatchDisabled
from openprogram.sessions.effective import effective, names_now, seen
from openprogram.sessions.hub import Hub
from openprogram.sessions.request import Request

_ATTEMPTS = 20

_log = structlog.get_logger(__name__)


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
    layer, current = await hub.projects.glance(row.info, hub.ports.snapshot())
    project = layer.intent
    if not current:
        correct_later(hub, row, project)
    attempt = 1
    async with hub.intent_lock(session_id):
        while True:
            stored = await hub.ports.store.intent(session_id)
            changed = change_intent(stored, patch, hub.ports.snapshot())
            try:
                return await _store(hub, request, row, project, stored, changed)
            except Conflict:
                remembered = await hub.ports.store.remembered(request.user_id, request.client_id)
                if remembered is not None or attempt == _ATTEMPTS:
                    raise
            attempt += 1


def correct_later(hub: Hub, row: SessionRow, told: ToolIntent) -> None:
    """Tell what is in force once the chat's directory answers, where that is not what `told` as its layer came to."""
    if row.info.id not in hub.correcting and not hub.closing:
        hub.correcting.add(row.info.id)
        hub.spawn_run(_correct(hub, row, told), f"look again {row.info.id}")


async def _correct(hub: Hub, row: SessionRow, told: ToolIntent) -> None:
    session_id = row.info.id
    try:
        project = (await hub.projects.layer(row.info, hub.ports.snapshot())).intent
        if project != told:
            await tell_in_force(hub, row, project)
    except StorageError as error:
        _log.warning("not_told", session_id=session_id, error=error.message)
    finally:
        hub.correcting.discard(session_id)


async def tell_in_force(
    hub: Hub, row: SessionRow, project: ToolIntent, more: Sequence[Event] = (), *writes: Write
) -> None:
    """Tell every tab what the chat's intent, which is as it was, comes to now; with `more` in the same commit.

    It is a revision of its own, so that whoever goes by revisions looks again.
    """
    attempt, session_id = 1, row.info.id
    async with hub.intent_lock(session_id):
        while True:
            stored = await hub.ports.store.intent(session_id)
            newer = StoredIntent(stored.intent, stored.revision + 1)
            event = IntentChanged(newer.intent, newer.revision, effective(hub, newer, project, row.info.model))
            try:
                await hub.journal.commit(session_id, row.user_id, (*more, event), *writes)
                break
            except Conflict:
                if attempt == _ATTEMPTS:
                    raise
            attempt += 1
    if (authority := hub.authorities.get(session_id)) is not None:
        authority.intent_changed(newer)


async def _store(
    hub: Hub,
    request: Request,
    row: SessionRow,
    project: ToolIntent,
    stored: StoredIntent,
    changed: ToolIntent | None,
) -> IntentAck:
    session_id = row.info.id
    newer = stored if changed is None else StoredIntent(changed, stored.revision + 1)
    ack = IntentAck(
        id=request.client_id,
        session_id=session_id,
        revision=newer.revision,
        applies=_applies(hub, row, project, stored, newer),
    )
    events = (
        ()
        if changed is None
        else (IntentChanged(changed, newer.revision, effective(hub, newer, project, row.info.model)),)
    )
    await hub.journal.commit(session_id, request.user_id, events, request.remember(ack))
    authority = hub.authorities.get(session_id)
    if authority is not None:
        authority.intent_changed(newer)
    return ack


def _applies(
    hub: Hub, row: SessionRow, project: ToolIntent, before: StoredIntent, after: StoredIntent
) -> Literal["now", "next_turn"]:
    """`now` if no turn runs or the change only takes away."""
    if row.info.id not in hub.runs:
        return "now"
    snapshot = seen(hub, row.info.model)
    gained = names_now(hub, after, snapshot, project, None) - names_now(hub, before, snapshot, project, None)
    return "next_turn" if gained else "now"

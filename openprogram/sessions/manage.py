"""Actions on chats as things: make, list, name, pin, delete, choose model and permission mode."""

from dataclasses import replace

from openprogram.core.errors import BadField, NoEndpoint
from openprogram.core.events import Event, IntentChanged, SessionChanged, SessionInfo
from openprogram.core.ids import new_id
from openprogram.core.intent import StoredIntent, ToolIntent
from openprogram.core.protocol.actions import (
    CreateSession,
    DeleteSession,
    ListSessions,
    PinSession,
    RenameSession,
    RestoreSession,
    SetModel,
    SetPermissionMode,
    SetWorkspace,
)
from openprogram.core.protocol.base import OlderOverride, Override
from openprogram.core.protocol.frames import SessionAck, SessionsAck
from openprogram.core.storage import DropGrants, SessionRow, Write
from openprogram.session_config.codec import intent_from_override
from openprogram.session_config.new_chats import first_intent
from openprogram.session_config.patches import check_intent, within
from openprogram.sessions.closing import stop_turn
from openprogram.sessions.effective import effective, seen
from openprogram.sessions.hub import Hub
from openprogram.sessions.intents import tell_in_force
from openprogram.sessions.projects import LOOK_S
from openprogram.sessions.request import Request
from openprogram.sessions.settings import new_chats, permission_mode
from openprogram.sessions.workspaces import checked


async def new_row(
    hub: Hub,
    user_id: str,
    *,
    workspace: str | None = None,
    model: str | None = None,
    title: str = "",
    imported: ToolIntent | None = None,
) -> tuple[SessionRow, tuple[Event, ...]]:
    """A draft of a chat and the events, besides `session_changed`, that make it: its first intent.

    That is the user's default (T7), where none is `imported`.
    """
    now = hub.now()
    info = SessionInfo(
        id=new_id("s"),
        title=title,
        created_at=now,
        updated_at=now,
        model=model,
        permission_mode=await permission_mode(hub, user_id),
        workspace=workspace,
    )
    intent = imported
    if intent is None:
        intent = first_intent(await new_chats(hub, user_id), await _last_used(hub, user_id))
    events: tuple[Event, ...] = ()
    if intent != ToolIntent():
        project, _ = await hub.projects.glance(info, hub.ports.snapshot())  # whoever subscribes gets the newest
        events = (IntentChanged(intent, 1, effective(hub, StoredIntent(intent, 1), project.intent, model)),)
    return SessionRow(info, user_id), events


async def _last_used(hub: Hub, user_id: str) -> ToolIntent | None:
    newest = await hub.ports.store.sessions(user_id, limit=1)
    return (await hub.ports.store.intent(newest[0].id)).intent if newest else None


async def create_session(hub: Hub, request: Request, action: CreateSession) -> SessionAck:
    """Make a draft; it takes every switch at once and shows in the sidebar with its first message (T6)."""
    if action.model is not None:
        await check_model(hub, action.model)
    workspace = await _directory(hub, action.workspace)
    row, events = await new_row(
        hub,
        request.user_id,
        workspace=workspace,
        model=action.model,
        title=action.title or "",
        imported=None if action.tools is None else _imported(hub, action.tools),
    )
    ack = SessionAck(id=action.id, session_id=row.info.id)
    await hub.journal.commit(row.info.id, request.user_id, (SessionChanged(row.info), *events), request.remember(ack))
    return ack


async def _directory(hub: Hub, text: str | None) -> str | None:
    return None if text is None else await checked(hub.defaults, text, hub.projects.threads)


def _imported(hub: Hub, tools: Override | OlderOverride | tuple[str, ...]) -> ToolIntent:
    """The intent of a chat that comes from elsewhere: single tools may be missing here, its preset may not."""
    with within("tools"):
        intent = intent_from_override(tools)
        check_intent(replace(intent, disabled=()), hub.ports.snapshot())
    return intent


async def check_model(hub: Hub, model: str) -> None:
    """Raises `BadField` where no endpoint has that model."""
    try:
        await hub.ports.models.resolve(model)
    except NoEndpoint as error:
        raise BadField(error.message, field="model", hint=error.hint) from error


async def list_sessions(hub: Hub, request: Request, action: ListSessions) -> SessionsAck:
    """A page of the user's chats, newest first."""
    before = None if action.before is None else (action.before, action.before_id or "")
    found = await hub.ports.store.sessions(
        request.user_id, limit=action.limit + 1, before=before, deleted=action.deleted
    )
    return SessionsAck(id=action.id, sessions=found[: action.limit], more=len(found) > action.limit)


async def rename_session(hub: Hub, request: Request, action: RenameSession) -> SessionAck:
    """Give the chat a title."""
    return await _change(hub, request, action.session_id, title=action.title)


async def pin_session(hub: Hub, request: Request, action: PinSession) -> SessionAck:
    """Keep the chat at the top, or no longer."""
    return await _change(hub, request, action.session_id, pinned=action.value)


async def delete_session(hub: Hub, request: Request, action: DeleteSession) -> SessionAck:
    """Hide the chat and stop what runs in it; nothing is destroyed."""
    ack = await _change(hub, request, action.session_id, deleted=True)
    await stop_turn(hub, action.session_id)
    return ack


async def restore_session(hub: Hub, request: Request, action: RestoreSession) -> SessionAck:
    """Bring a deleted chat back."""
    return await _change(hub, request, action.session_id, deleted=False)


async def set_model(hub: Hub, request: Request, action: SetModel) -> SessionAck:
    """Choose the model of the turns to come. Where it can search and the one before could not, or the reverse, all tabs
    are told what the chip comes to in the same commit (spec tools.md T4)."""
    if action.model is not None:
        await check_model(hub, action.model)
    row = await hub.row(request.user_id, action.session_id)
    if seen(hub, row.info.model).unavailable == seen(hub, action.model).unavailable:
        return await _change(hub, request, action.session_id, model=action.model)
    project = await hub.projects.layer(row.info, hub.ports.snapshot(), LOOK_S)
    ack = SessionAck(id=action.id, session_id=action.session_id)
    async with hub.lock(action.session_id):
        row = await hub.row(request.user_id, action.session_id)
        chosen = replace(row, info=replace(row.info, model=action.model))
        await tell_in_force(hub, chosen, project.intent, (SessionChanged(chosen.info),), request.remember(ack))
    return ack


async def set_permission_mode(hub: Hub, request: Request, action: SetPermissionMode) -> SessionAck:
    """Change when calls have to be approved; read at each dispatch, so a running turn follows at once (T21)."""
    ack = await _change(hub, request, action.session_id, permission_mode=action.mode)
    live = hub.runs.get(action.session_id)
    if live is not None:
        live.authority.mode_changed(action.mode)
    return ack


async def set_workspace(hub: Hub, request: Request, action: SetWorkspace) -> SessionAck:
    """Choose where the turns to come work; a running turn stays where it began. None is the server's default.

    Where another project's wishes come into force with that, all tabs are told in the same commit (spec tools.md T4).
    What was allowed for the chat in its old directory is withdrawn at once, from a running turn too (R17).
    """
    chosen = await _directory(hub, action.workspace)
    withdrawn = DropGrants(chosen or str(hub.defaults.workspace))
    info = (await hub.row(request.user_id, action.session_id)).info
    snapshot = hub.ports.snapshot()
    before, certain = await hub.projects.glance(info, snapshot)
    after = await hub.projects.layer(replace(info, workspace=chosen), snapshot, LOOK_S)
    ack = SessionAck(id=action.id, session_id=action.session_id)
    if certain and before == after:
        await _change(hub, request, action.session_id, withdrawn, workspace=chosen)
    else:
        async with hub.lock(action.session_id):
            row = await hub.row(request.user_id, action.session_id)
            moved = replace(row, info=replace(row.info, workspace=chosen))
            writes = (withdrawn, request.remember(ack))
            await tell_in_force(hub, moved, after.intent, (SessionChanged(moved.info),), *writes)
    if (live := hub.runs.get(action.session_id)) is not None:
        live.authority.moved(withdrawn.directory)
    return ack


async def _change(hub: Hub, request: Request, session_id: str, *writes: Write, **fields: object) -> SessionAck:
    async with hub.lock(session_id):
        row = await hub.row(request.user_id, session_id)
        info: SessionInfo = replace(row.info, **fields)  # type: ignore[arg-type]  # names are checked by the callers
        ack = SessionAck(id=request.client_id, session_id=session_id)
        events = () if info == row.info else (SessionChanged(info),)
        await hub.journal.commit(session_id, request.user_id, events, *writes, request.remember(ack))
        return ack

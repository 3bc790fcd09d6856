"""Reading a chat: messages, snapshots, effective tools."""

from functools import partial

from openprogram.core.errors import BadField, ConfigError, UnknownPreset
from openprogram.core.events import SessionStatus
from openprogram.core.intent import ToolIntent
from openprogram.core.loaded import LoadedSet
from openprogram.core.protocol.actions import ExplainTools, LoadMessages
from openprogram.core.protocol.frames import MessagesAck, ToolsAck
from openprogram.core.protocol.frames import Snapshot as SnapshotFrame
from openprogram.core.protocol.state import PartialAnswer, SessionState
from openprogram.core.storage import SessionRow, UsageRow
from openprogram.core.tooling import Snapshot
from openprogram.core.usage import Usage
from openprogram.session_config.layers import Layers, explain_all
from openprogram.session_config.project_file import PROJECT_FILE
from openprogram.sessions.effective import effective, hindrance, layers, resolution, seen
from openprogram.sessions.fold import fold, since_last_message
from openprogram.sessions.hub import Hub
from openprogram.sessions.intents import correct_later
from openprogram.sessions.log import timed_turn_events
from openprogram.sessions.presets import preset_infos
from openprogram.sessions.prices import prices
from openprogram.sessions.projects import LOOK_S
from openprogram.sessions.request import Request
from openprogram.sessions.tree import path, siblings
from openprogram.tools.fixed_lists import follow_offer
from openprogram.tools.states import tool_states

_SNAPSHOT_MESSAGES = 100
_ATTEMPTS = 20
"""An event is stored at most each 16 ms and block, and the two reads take one: more means that all do at once."""


async def load_messages(hub: Hub, request: Request, action: LoadMessages) -> MessagesAck:
    """A page of the active branch that ends before a message."""
    row = await hub.row(request.user_id, action.session_id)
    nodes = await hub.ports.store.nodes(action.session_id)
    ids = path(nodes, row.info.leaf_id)
    if action.before is not None:
        if action.before not in ids:
            raise BadField("no such message on the active branch", field="before")
        ids = ids[: ids.index(action.before)]
    page = ids[-action.limit :]
    return MessagesAck(
        id=action.id,
        session_id=action.session_id,
        messages=await hub.ports.store.messages(action.session_id, page),
        siblings=siblings(nodes, page),
        more=len(page) < len(ids),
        steps=await hub.ports.store.steps(action.session_id, page),
    )


async def snapshot(hub: Hub, user_id: str, session_id: str) -> SnapshotFrame:
    """A chat as of its newest seq (P3). Events that are stored while this is read are in it or follow it, never both.

    The seq is read first; what the later reads add beyond it arrives again as events, and applying those again changes
    nothing: messages by id, the rest by last value. Text that is being written is cut at the seq.
    """
    store = hub.ports.store
    row, counted = await _counted(hub, user_id, session_id)
    nodes = await store.nodes(session_id)
    ids = path(nodes, row.info.leaf_id)
    page = ids[-_SNAPSHOT_MESSAGES:]
    intent = await store.intent(session_id)
    project, current = await hub.projects.glance(row.info, hub.ports.snapshot())
    if not current:
        correct_later(hub, row, project.intent)
    usage, cost = Usage(), None
    for step in counted:
        usage = usage.plus(step.usage)
        if step.cost is not None:
            cost = (cost or 0.0) + step.cost
    pending, questions = await store.approvals(session_id), await store.questions(session_id)
    status: SessionStatus = "idle" if row.turn_id is None else "waiting" if pending or questions else "running"
    state = SessionState(
        session=row.info,
        messages=await store.messages(session_id, page),
        siblings=siblings(nodes, page),
        more=len(page) < len(ids),
        status=status,
        turn_id=row.turn_id,
        partial=await _partial(hub, row),
        intent=intent.intent,
        revision=intent.revision,
        effective=effective(hub, intent, project.intent, row.info.model),
        permission_mode=row.info.permission_mode,
        queue=await store.queue(session_id),
        approvals=tuple(asked.request for asked in pending),
        questions=tuple(row.asked for row in questions),
        usage=usage,
        cost=cost,
        outcome=row.outcome,
        outcome_at=row.outcome_at,
        notes=row.notes,
        steps=await store.steps(session_id, page),
    )
    return SnapshotFrame(session_id=session_id, seq=row.last_seq, state=state)


async def _counted(hub: Hub, user_id: str, session_id: str) -> tuple[SessionRow, tuple[UsageRow, ...]]:
    """The chat with the usage as of its seq: sums, unlike the rest, must not hold what comes again as an event."""
    row = await hub.row(user_id, session_id)
    attempt = 1
    while True:
        counted = await hub.ports.store.usage(session_id)
        row, before = await hub.row(user_id, session_id), row
        if row.last_seq == before.last_seq or attempt == _ATTEMPTS:
            return row, counted
        attempt += 1


async def _partial(hub: Hub, row: SessionRow) -> PartialAnswer | None:
    """The unfinished turn's events up to the row's seq that no whole message covers."""
    if row.turn_id is None:
        return None
    timed = await timed_turn_events(hub.ports.store, row)
    step = fold(event for _, event in timed).step
    work = since_last_message(timed)
    return PartialAnswer(
        turn_id=row.turn_id,
        step=step.step if step else 0,
        message_id=step.message_id if step else "",
        parent_id=step.parent_id if step else row.info.leaf_id,
        model=step.model if step else "",
        events=tuple(event for _, event in work),
        at=tuple(at for at, _ in work),
        started_at=timed[0][0] if timed else None,
    )


async def explain_tools(hub: Hub, request: Request, action: ExplainTools) -> ToolsAck:
    """Every registered tool with its state and reason, and the layer that decided each field."""
    row = await hub.row(request.user_id, action.session_id)
    stored = await hub.ports.store.intent(action.session_id)
    live = seen(hub, row.info.model)
    project = await hub.projects.layer(row.info, live, LOOK_S)
    chat_layers = layers(hub, stored.intent, project.intent)
    error: str | None = None
    deciding: Layers | None = chat_layers
    try:
        resolved = resolution(hub, stored, live, project.intent)
    except (UnknownPreset, ConfigError) as failure:
        error = f"{failure.message} ({failure.hint})" if failure.hint else failure.message
        nothing = ToolIntent(enabled=False, web_search=False)
        resolved, deciding = resolution(hub, stored, live, project.intent, nothing), None
    priced = await prices(hub, row, live, resolved)
    return ToolsAck(
        id=action.id,
        session_id=action.session_id,
        revision=stored.revision,
        preset=resolved.preset if error is None else chat_layers.session.toolset,
        tools=tool_states(
            live,
            resolved,
            stored.intent.disabled,
            LoadedSet(row.loaded),
            priced.declared,
            priced.now,
            deciding,
            partial(hindrance, hub, row.info.permission_mode),
        ),
        budget=priced.budget,
        decided=explain_all(chat_layers),
        unknown=resolved.unknown,
        effective=effective(hub, stored, project.intent, row.info.model),
        presets=preset_infos(live),
        error=error,
        offer=follow_offer(stored.intent, live),
        problems=_problems(live, project.fault),
    )


def _problems(live: Snapshot, fault: str | None) -> dict[str, tuple[str, ...]]:
    """What is wrong with where tools come from, by where: what is away, too."""
    found = dict(live.problems)
    for source, why in live.down.items():
        found[source] = (*found.get(source, ()), why)
    return found if fault is None else {**found, PROJECT_FILE: (fault,)}

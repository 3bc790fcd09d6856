"""Starting runs: everything the agent loop is handed is gathered here from the store and the registry."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from openprogram.agent.environment import Environment, Errand, History, Progress, Resumed, Setup, ToolPorts
from openprogram.agent.freeze import freeze
from openprogram.context.assembler import PromptContext
from openprogram.context.catalog import counted_texts
from openprogram.core.asking import QuestionRow
from openprogram.core.chats import Sender
from openprogram.core.errors import ConfigError
from openprogram.core.events import ErrorInfo, Event, MessageAdded, QueueChanged, TurnAccepted
from openprogram.core.ids import new_id
from openprogram.core.intent import StoredIntent, ToolIntent
from openprogram.core.loaded import LoadedSet
from openprogram.core.messages import Message, QueuedMessage, TextBlock
from openprogram.core.storage import ApprovalRow, Opening, SessionRow
from openprogram.ledger.log import newest
from openprogram.sessions.approvals import Broker
from openprogram.sessions.authority import LiveAuthority
from openprogram.sessions.basis import Basis
from openprogram.sessions.closing import close_turn
from openprogram.sessions.effective import floor, hindrance, resolution, seen_by
from openprogram.sessions.emitter import Emitter
from openprogram.sessions.fold import UnfinishedTurn
from openprogram.sessions.hosted import served
from openprogram.sessions.hub import REMEMBERED_CHATS, Hub
from openprogram.sessions.live import Live
from openprogram.sessions.questions import Questions
from openprogram.sessions.run import Run, RunInbox, RunSurfaces
from openprogram.sessions.tree import path
from openprogram.tools.obstacles import Obstacles
from openprogram.tools.wrap import wrap


@dataclass(frozen=True, slots=True)
class Ready:
    """A run that only has to be launched: all that it needs was read."""

    live: Live
    env: Environment
    user_id: str
    errand: Errand


async def prepare_run(hub: Hub, basis: Basis, leaf_id: str | None, turn: UnfinishedTurn | None = None) -> Ready:
    """Read what else a run needs that goes on below `leaf_id`, with the chat's unfinished `turn` if that only waited.

    The caller holds the chat's lock until it is launched.
    """
    opening, authority, row, session_id = basis.opening, basis.authority, basis.row, basis.row.info.id
    resumed = _resumed(row, turn)
    history = History(await _branch(hub, opening, leaf_id))
    emitter = Emitter(lambda events, writes: hub.journal.commit(session_id, row.user_id, events, *writes), hub.ticker)
    run = Run(session_id, emitter, resumed.turn_id if resumed else new_id("t"))
    run.queue_changed(opening.queue)
    run.forced_epoch = row.forced_epoch
    known, answered = await _asked(hub, session_id, turn) if turn else ((), ())
    surfaces = RunSurfaces(row.surface, run)
    broker, people = Broker(run.emit, run.stop, known), Questions(run.emit, run.stop, answered)
    live = Live(run, authority, broker, people, surfaces)
    env = Environment(
        session_id=session_id,
        emit=run.emit,
        prepare=_Preparer(hub, live, history, row, opening.intent),
        authority=authority,
        inbox=RunInbox(run, lambda unanswered: take_next(hub, live, history, row.user_id, unanswered)),
        surfaces=surfaces,
        history=history,
        loaded=LoadedSet(row.loaded),
        stop=run.stop,
        clock=hub.ports.clock,
        monotonic=hub.ports.monotonic,
        answered=partial(hub.meter.answered, row.user_id),
        capabilities=hub.refusals,
        sent=emitter.write,
        boot_id=hub.boot_id,
        progress=await _progress(hub, session_id, new=row.info.leaf_id is None),
        news=hub.ports.news,
        tool_ports=ToolPorts(
            live.questions,
            hub.link(hub, row, history) if hub.link else None,
            _obstacles(hub, authority),
        ),
        max_steps=hub.defaults.max_steps,
        turn_id=lambda: run.turn_id,
    )
    return Ready(live, env, row.user_id, resumed)


def _obstacles(hub: Hub, authority: LiveAuthority) -> Obstacles:
    return lambda tool: hindrance(hub, authority.permission().mode, tool)


async def _branch(hub: Hub, opening: Opening, leaf_id: str | None) -> tuple[Message, ...]:
    """The messages down to `leaf_id`: the active branch, or another one that is becoming that."""
    if leaf_id == opening.row.info.leaf_id:
        return opening.branch
    session_id = opening.row.info.id
    return await hub.ports.store.messages(session_id, path(await hub.ports.store.nodes(session_id), leaf_id))


async def _asked(
    hub: Hub, session_id: str, turn: UnfinishedTurn
) -> tuple[tuple[ApprovalRow, ...], tuple[QuestionRow, ...]]:
    """The approvals and questions of an unfinished turn."""
    approvals, questions = await asyncio.gather(
        hub.ports.store.approvals(session_id, pending=False), hub.ports.store.questions(session_id, pending=False)
    )
    return (
        tuple(approval for approval in approvals if approval.request.approval_id in turn.asked),
        tuple(question for question in questions if question.asked.question_id in turn.asked),
    )


def _resumed(row: SessionRow, turn: UnfinishedTurn | None) -> Resumed | None:
    if turn is None or row.turn_id is None:
        return None
    return Resumed(row.turn_id, turn.steps, turn.finished, turn.fingerprint, turn.discovered)


def launch(hub: Hub, ready: Ready, said: Iterable[Message] = ()) -> None:
    """Begin the run, after `said` was stored below its history. Where the server shuts down nothing begins."""
    if hub.closing:
        return
    session_id, run = ready.env.session_id, ready.live.run
    for message in said:
        ready.env.history.append(message)
    hub.runs[session_id] = ready.live

    async def repair(error: ErrorInfo) -> None:
        hub.progress.pop(session_id, None)  # what the log does not hold, the next request is not compared with
        await close_turn(hub, session_id, "error", error)

    async def repair_late(error: ErrorInfo) -> None:
        async with hub.lock(session_id):  # an action may have closed the turn, and begun another
            row = await hub.ports.store.session(session_id)
            if row is not None and row.turn_id == run.turn_id and session_id not in hub.runs:
                await close_turn(hub, session_id, "error", error)

    async def supervised() -> None:
        try:
            left = await run.supervise(ready.env, ready.errand, repair)
        finally:
            hub.runs.pop(session_id, None)
        if left is not None:
            hub.sidebar.failed(ready.user_id, left)
            await run.close_later(left, repair_late)

    hub.spawn_run(supervised(), f"run {session_id}")


async def _progress(hub: Hub, session_id: str, *, new: bool) -> Progress:
    """What is known of the chat's last requests: by the process that sent them, else what it stored."""
    progress = hub.progress.get(session_id)
    if progress is None:
        progress = hub.progress[session_id] = Progress() if new else await _read_progress(hub, session_id)
    hub.progress.move_to_end(session_id)
    if len(hub.progress) > REMEMBERED_CHATS:
        hub.progress.popitem(last=False)
    return progress


async def _read_progress(hub: Hub, session_id: str) -> Progress:
    store = hub.ports.store
    records, usage = await asyncio.gather(store.sent(session_id), store.usage(session_id))
    last = newest(records, usage)
    steps = await store.steps(session_id, [answered.record.message_id for answered in last.answered.values()])
    ids = {step.model: step.answer_id for step in steps if step.answer_id is not None}
    return Progress(outline=last.outline, answered=last.answered, answer_ids=ids)


async def take_next(hub: Hub, live: Live, history: History, user_id: str, unanswered: bool) -> bool:
    """Begin another turn with the next waiting message, steered ones first: it leaves the queue in the same commit.

    With none, the run takes no more messages and ends, unless the model has not seen its last results.
    """
    session_id = live.run.session_id
    async with hub.lock(session_id):
        if live.run.stop.requested:
            return False
        queue = await hub.ports.store.queue(session_id)
        if not queue and not unanswered:
            live.run.close()
            return False
        rest, said = queue, list[Message]()
        if queue:
            chosen, rest = next_of(queue)
            said.append(user_message(chosen.text, history.leaf_id, hub.now(), chosen.override, chosen.sender))
        events: tuple[Event, ...] = (QueueChanged(rest), *map(MessageAdded, said)) if said else ()
        turn_id = new_id("t")
        await hub.journal.commit(session_id, user_id, (TurnAccepted(turn_id), *events))
        live.run.begins(turn_id)
        for message in said:
            history.append(message)
        live.run.queue_changed(rest)
        return True


def next_of(queue: tuple[QueuedMessage, ...]) -> tuple[QueuedMessage, tuple[QueuedMessage, ...]]:
    """The message of a queue whose turn it is, steered ones first, and the others."""
    chosen = next((waiting for waiting in queue if waiting.mode == "steer"), queue[0])
    return chosen, tuple(waiting for waiting in queue if waiting.id != chosen.id)


def user_message(
    text: str, parent_id: str | None, now: str, override: ToolIntent | None, sender: Sender | None = None
) -> Message:
    """A person's message, or one that another chat sent."""
    return Message(new_id("m"), parent_id, "user", (TextBlock(text),), now, override=override, sender=sender)


class _Preparer:
    """The `Prepare` port of a run: the newest intent against the live registry, frozen.

    The first turn goes by the `row` and the `intent` that were read when the run was prepared, and by what its project
    says at that time.
    """

    def __init__(self, hub: Hub, live: Live, history: History, row: SessionRow, intent: StoredIntent) -> None:
        self._hub = hub
        self._live = live
        self._history = history
        self._row = row
        self._read: StoredIntent | None = intent
        self._project = hub.projects.begin(row.info)

    async def __call__(self) -> Setup:
        hub = self._hub
        row, read = await self._newest()
        model, provider = await hub.ports.models.resolve(row.info.model)
        if row.info.model is None:
            hub.default_model = model
        snapshot = seen_by(model, hub.ports.snapshot())
        override = self._override()
        begun, self._project = self._project, None
        project = await hub.projects.layer(row.info, snapshot, begun=begun)
        intent = self._live.authority.newest(read)  # a switch may have been flipped while the disk was read
        resolved = resolution(hub, intent, snapshot, project.intent, override)
        self._live.authority.begin_turn(intent, snapshot, project.intent, override)
        await hub.ports.tokens.learn(counted_texts(resolved.kept))
        workspace = hub.projects.workspace_of(row.info)
        authority, ask = self._live.authority, self._live.broker
        obstacles = _obstacles(hub, authority)
        return Setup(
            contract=freeze(served(resolved, model), lambda spec: wrap(spec, authority, ask, hub.left, obstacles)),
            floor=floor(snapshot, resolved, model),
            unknown=resolved.unknown,
            dropped=frozenset(resolved.dropped),
            rank=partial(hub.ports.finder.rank, snapshot),
            count=hub.ports.tokens.at_most,
            model=model,
            provider=provider,
            params=hub.defaults.params,
            prompt=PromptContext(hub.defaults.platform, hub.defaults.profile.instructions),
            workspace=workspace,
            faults=() if project.fault is None else (ErrorInfo(ConfigError.code, project.fault),),
        )

    async def _newest(self) -> tuple[SessionRow, StoredIntent]:
        known, self._read = self._read, None
        if known is not None:
            return self._row, known
        store, row = self._hub.ports.store, self._row
        return await asyncio.gather(self._hub.row(row.user_id, row.info.id), store.intent(row.info.id))

    def _override(self) -> ToolIntent | None:
        """What the user message that this turn answers asks for its own turn."""
        users = (message for message in reversed(self._history.messages) if message.role == "user")
        last = next(users, None)
        return last.override if last else None


def queued(
    text: str, steer: bool, now: str, override: ToolIntent | None, sender: Sender | None = None
) -> QueuedMessage:
    """A message for the queue of a running chat."""
    return QueuedMessage(new_id("q"), text, "steer" if steer else "queue", now, override, sender)

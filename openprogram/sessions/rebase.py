"""A rebase that the user asks for: what it costs now and saves later, and having it done (spec cache.md C4).

What is stored is the epoch that is to end. Whatever rebases first ends it, so that nothing has to be taken back, in
whichever order tabs, a running turn and a restart come.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from openprogram.agent.deferral import offer, worth_keeping
from openprogram.agent.freeze import freeze
from openprogram.context.catalog import lines_of
from openprogram.context.compaction import newest_summary
from openprogram.core.events import Notice
from openprogram.core.jsonio import JsonObject
from openprogram.core.loaded import LoadedSet
from openprogram.core.messages import Message
from openprogram.core.prompt import ModelInfo
from openprogram.core.protocol.cache_actions import ForceRebase
from openprogram.core.protocol.frames import PreviewAck
from openprogram.core.storage import SessionRow
from openprogram.core.surface import EndEpoch, Surface
from openprogram.core.tooling import ContractTool, Resolution, Snapshot
from openprogram.ledger.held import Asked
from openprogram.ledger.verdict import lost_cost
from openprogram.providers.pricing import tool_text
from openprogram.sessions.effective import floor, resolution, seen
from openprogram.sessions.hosted import served
from openprogram.sessions.hub import Hub
from openprogram.sessions.projects import LOOK_S
from openprogram.sessions.request import Request
from openprogram.sessions.send_price import Chat, read_chat
from openprogram.surface.economy import saved
from openprogram.surface.planner import plan
from openprogram.surface.wanted import Wanted, Warmth

FORCED: Final = "rebase_forced"
"""Code of the line that tells every tab of it."""


async def force_rebase(hub: Hub, request: Request, action: ForceRebase) -> PreviewAck:
    """Have the next request declare the tools anew. A second time in the same epoch changes nothing."""
    session_id = action.session_id
    ack = await rebase_price(hub, await read_chat(hub, request.user_id, session_id), action.id)
    async with hub.lock(session_id):
        row = await hub.row(request.user_id, session_id)
        surface = _surface(hub, row)
        if surface is None or surface.epoch == row.forced_epoch:
            await hub.journal.commit(session_id, request.user_id, (), request.remember(ack))
            return ack
        told = Notice(FORCED, _words(ack))
        await hub.journal.commit(session_id, request.user_id, (told,), EndEpoch(surface.epoch), request.remember(ack))
        if (live := hub.runs.get(session_id)) is not None:
            live.run.forced_epoch = surface.epoch
    return ack


async def rebase_price(hub: Hub, chat: Chat, client_id: str) -> PreviewAck:
    """What a rebase at the next request would cost, and save. Raises `UnknownPreset` where nothing resolves."""
    row, store, session_id = chat.row, hub.ports.store, chat.row.info.id
    here = _surface(hub, row)
    last = None if here is None else chat.standing.last(here.model)
    if here is None or last is None:
        return PreviewAck(id=client_id, session_id=session_id, tokens=0, cost=0.0, reason="first_request")
    snapshot = seen(hub, row.info.model)
    project = await hub.projects.layer(row.info, snapshot, LOOK_S)
    resolved = resolution(hub, await store.intent(session_id), snapshot, project.intent)
    model = hub.ports.models.about(here.model) or ModelInfo(here.model, "", here.model, here.model)
    summary = newest_summary(chat.told)
    history = await store.messages(session_id, chat.branch) if row.loaded else ()
    here = here.on(chat.branch)
    wanted = _wanted(hub, row, here, model, resolved, snapshot, history)
    wanted = replace(wanted, branch=chat.branch, cut=summary.id if summary else None)
    warmth = await _warmth(hub, snapshot, here, model, last.usage.prompt, turn_start=session_id not in hub.runs)
    after, planned = plan(here, wanted, hub.refusals.of(model), warmth, force=True)
    known = last.usage.prompt if planned.predicted_loss is None else planned.predicted_loss
    if planned.kind == "rebase" and planned.reason != "forced":
        known = 0  # it comes anyway
    less = _saved(hub, here, after, model, warmth)
    price = last.record.price
    saved_tokens = None if less is None else round(less * _requests_a_turn(chat.standing.asked))
    return PreviewAck(
        id=client_id,
        session_id=session_id,
        tokens=known,
        cost=lost_cost(known, last.usage, price) if known else 0.0,
        reason=planned.reason,
        saved_tokens=saved_tokens,
        saved_cost=None if price is None or saved_tokens is None else saved_tokens * price.cache_read / 1_000_000,
    )


def _surface(hub: Hub, row: SessionRow) -> Surface | None:
    """As the run has it, where there is one: what it was last shown may still be on its way to the store."""
    live = hub.runs.get(row.info.id)
    return row.surface if live is None else live.surfaces.current


def _wanted(
    hub: Hub,
    row: SessionRow,
    here: Surface,
    model: ModelInfo,
    resolved: Resolution,
    snapshot: Snapshot,
    history: tuple[Message, ...],
) -> Wanted:
    """What the next request of the chat offers, as its next turn will say."""
    contract = freeze(served(resolved, model), lambda spec: ContractTool(spec, spec.execute))
    kept = worth_keeping(LoadedSet(row.loaded), contract, history, here) if row.info.id not in hub.runs else row.loaded
    count = hub.ports.tokens.at_most
    asked = offer(contract, floor(snapshot, resolved, model), model, count, row.loaded, kept, here)
    return replace(asked, system_digest=here.system_digest, at=row.info.leaf_id or "")


async def _warmth(
    hub: Hub, snapshot: Snapshot, here: Surface, model: ModelInfo, prompt: int | None, *, turn_start: bool
) -> Warmth:
    api, ratio, tokens = model.counting.api, model.counting.ratio, hub.ports.tokens
    declared = (*here.declared, *(spec.declaration for spec in snapshot.tools))
    await tokens.learn(tool_text(api, tool) for tool in declared)

    def size(tool: JsonObject) -> int:
        return round(tokens.at_most(tool_text(api, tool)) * ratio)

    return Warmth(hub.ports.clock(), turn_start=turn_start, prompt_tokens=prompt, size=size)


def _saved(hub: Hub, here: Surface, after: Surface, model: ModelInfo, warmth: Warmth) -> int | None:
    """Tokens by which each request becomes shorter: of schemas, and of the list of the tools that wait."""
    schemas = saved(here, after, warmth)
    if schemas is None:
        return None

    def listed(surface: Surface) -> int:
        return sum(map(hub.ports.tokens.at_most, lines_of(surface.catalog)))

    return schemas + round((listed(here) - listed(after)) * model.counting.ratio)


def _requests_a_turn(asked: Sequence[Asked]) -> float:
    turns = [one.record.turn_id for one in asked]
    return len(turns) / len(set(turns)) if turns else 1.0


def _words(ack: PreviewAck) -> str:
    cost = "costs nothing" if not ack.tokens else f"costs about {ack.tokens:,} tokens once"
    saves = f" and saves about {ack.saved_tokens:,} a turn" if ack.saved_tokens and ack.saved_tokens > 0 else ""
    return f"The next request declares the tools anew, as you asked: that {cost}{saves}."

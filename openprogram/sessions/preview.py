"""What a switch would cost, before it is flipped: the next request is planned as if it had been (spec cache.md C19)."""

import asyncio
from dataclasses import replace
from typing import assert_never

from openprogram.agent.deferral import offer, undeclared
from openprogram.agent.freeze import freeze
from openprogram.core.errors import BadField
from openprogram.core.intent import StoredIntent
from openprogram.core.prompt import ModelInfo
from openprogram.core.protocol.cache_actions import PreviewToggle
from openprogram.core.protocol.frames import PreviewAck
from openprogram.core.storage import SessionRow
from openprogram.core.tooling import ContractTool
from openprogram.ledger.log import newest
from openprogram.ledger.verdict import Answered, lost_cost
from openprogram.session_config.patches import (
    Patch,
    SetEnabled,
    SetPicked,
    SetToolDisabled,
    SetToolset,
    SetWebSearch,
    change_intent,
)
from openprogram.sessions.effective import floor, names_now, resolution, seen
from openprogram.sessions.hosted import served
from openprogram.sessions.hub import Hub
from openprogram.sessions.manage import check_model
from openprogram.sessions.projects import LOOK_S
from openprogram.sessions.rebase import rebase_price
from openprogram.sessions.request import Request
from openprogram.sessions.send_price import at_model, read_chat
from openprogram.sessions.settings import costly_send
from openprogram.surface.planner import plan
from openprogram.surface.wanted import Warmth


async def preview_toggle(hub: Hub, request: Request, action: PreviewToggle) -> PreviewAck:
    """The price of a switch. Raises what the switch itself would (an unknown preset, an unknown tool)."""
    if action.toggle == "set_model":
        return await _other_model(hub, request.user_id, action)
    row = await hub.row(request.user_id, action.session_id)
    store = hub.ports.store
    threshold = await costly_send(hub, request.user_id)
    if action.toggle == "force_rebase":
        ack = await rebase_price(hub, row, action.id)
        return replace(ack, costly=threshold.reached(ack.tokens, ack.cost))
    records, counted = await asyncio.gather(store.sent(row.info.id), store.usage(row.info.id))
    answered = newest(records, counted).answered
    ack = await _other_tools(hub, action, row, answered.get(row.surface.model if row.surface else ""))
    return replace(ack, costly=threshold.reached(ack.tokens, ack.cost))


async def _other_tools(hub: Hub, action: PreviewToggle, row: SessionRow, last: Answered | None) -> PreviewAck:
    snapshot = seen(hub, row.info.model)
    stored = await hub.ports.store.intent(row.info.id)
    changed = change_intent(stored, _patch(action), snapshot)
    project = await hub.projects.layer(row.info, snapshot, LOOK_S)
    wished = stored if changed is None else StoredIntent(changed, stored.revision + 1)
    resolved = resolution(hub, wished, snapshot, project.intent)
    if row.surface is None or last is None:
        return PreviewAck(id=action.id, session_id=row.info.id, tokens=0, cost=0.0, reason="first_request")
    model = hub.ports.models.about(row.surface.model)
    model = model or ModelInfo(row.surface.model, "", row.surface.model, row.surface.model)
    contract = freeze(served(resolved, model), lambda spec: ContractTool(spec, spec.execute))
    asked = offer(
        contract, floor(snapshot, resolved, model), model, hub.ports.tokens.at_most, row.loaded, row.loaded, row.surface
    )
    asked = replace(asked, system_digest=row.surface.system_digest)
    capability = hub.refusals.of(model)
    warmth = Warmth(hub.ports.clock(), prompt_tokens=last.usage.prompt)
    surface, planned = plan(row.surface, asked, capability, warmth)
    tokens = 0
    if planned.kind in ("append", "rebase") and planned.reason not in ("cold", "first_request"):
        known = planned.predicted_loss
        tokens = (last.usage.prompt or 0) if known is None else known
    later = [spec.name for spec in undeclared(contract, surface)]
    before = names_now(hub, stored, snapshot, project.intent, None)
    return PreviewAck(
        id=action.id,
        session_id=row.info.id,
        tokens=tokens,
        cost=lost_cost(tokens, last.usage, last.record.price) if tokens else 0.0,
        reason=planned.reason,
        withdrawn=planned.withdrawn,
        restored=planned.restored,
        later=tuple(name for name in later if name not in before),
        load_tokens=last.usage.prompt if capability.strategy == "append" else 0,
    )


def _patch(action: PreviewToggle) -> Patch:
    """The change that the action itself would make."""
    match action.toggle:
        case "set_tools_profile":
            return SetToolset(action.toolset)
        case "toggle_web_search":
            return SetWebSearch(action.value)
        case "set_tools_enabled":
            return SetEnabled(action.value)
        case "set_tool_disabled":
            if action.name is None:
                raise BadField("name: which tool?", field="name")
            return SetToolDisabled(action.name, bool(action.value))
        case "pick_tools":
            return SetPicked(action.tools)
        case "set_model" | "force_rebase":
            raise BadField(f"toggle: {action.toggle} switches no tool", field="toggle")
        case _:
            assert_never(action.toggle)


async def _other_model(hub: Hub, user_id: str, action: PreviewToggle) -> PreviewAck:
    if action.model is not None:
        await check_model(hub, action.model)
    chat = await read_chat(hub, user_id, action.session_id)
    wanted = action.model or await hub.ports.models.default_id()
    shown = chat.standing.newest
    if wanted is None or shown is None or shown.record.model == wanted:
        return PreviewAck(id=action.id, session_id=action.session_id, tokens=0, cost=0.0, reason="unchanged")
    price = at_model(hub, chat, wanted)
    return PreviewAck(
        id=action.id,
        session_id=action.session_id,
        tokens=price.tokens,
        cost=price.cost,
        reason="model_changed",
        costly=price.costly,
    )

"""What a switch would cost, before it is flipped: the next request is planned as if it had been (spec cache.md C19)."""

import asyncio
from dataclasses import replace
from typing import assert_never

from openprogram.agent.deferral import undeclared
from openprogram.agent.freeze import freeze
from openprogram.core.errors import BadField, ConfigError, UnknownPreset
from openprogram.core.intent import StoredIntent
from openprogram.core.prompt import ModelInfo
from openprogram.core.protocol.cache_actions import PreviewToggle
from openprogram.core.protocol.frames import PreviewAck
from openprogram.core.tooling import Contract, ContractTool, Resolution
from openprogram.ledger.verdict import lost_cost
from openprogram.session_config.patches import (
    Patch,
    SetEnabled,
    SetPicked,
    SetToolDisabled,
    SetToolset,
    SetWebSearch,
    change_intent,
)
from openprogram.sessions.effective import names_now, resolution
from openprogram.sessions.hosted import served
from openprogram.sessions.hub import Hub
from openprogram.sessions.manage import check_model
from openprogram.sessions.rebase import rebase_price
from openprogram.sessions.request import Request
from openprogram.sessions.send_price import Ahead, Chat, at_model, given_up, planned_with, read_ahead, read_chat


async def preview_toggle(hub: Hub, request: Request, action: PreviewToggle) -> PreviewAck:
    """The price of a switch. Raises what the switch itself would (an unknown preset, an unknown tool)."""
    if action.toggle == "set_model":
        return await _other_model(hub, request.user_id, action)
    chat = await read_chat(hub, request.user_id, action.session_id)
    if action.toggle == "force_rebase":
        ack = await rebase_price(hub, chat, action.id)
    else:
        ack = await _other_tools(hub, action, chat)
    return replace(ack, costly=chat.threshold.reached(ack.tokens, ack.cost))


async def _other_tools(hub: Hub, action: PreviewToggle, chat: Chat) -> PreviewAck:
    """What the next message loses with the switch, less what it loses anyway."""
    row, last, surface = chat.row, chat.standing.newest, chat.row.surface
    shown = "" if surface is None else surface.model
    model = hub.ports.models.about(chat.model or shown) or ModelInfo(shown, "", shown, shown)
    ahead, stored = await asyncio.gather(read_ahead(hub, chat, model), hub.ports.store.intent(row.info.id))
    changed = change_intent(stored, _patch(action), ahead.snapshot)
    wished = stored if changed is None else StoredIntent(changed, stored.revision + 1)
    resolved = resolution(hub, wished, ahead.snapshot, ahead.project)
    if surface is None or last is None:
        return PreviewAck(id=action.id, session_id=row.info.id, tokens=0, cost=0.0, reason="first_request")
    contract = _frozen(resolved, model)
    after, planned = planned_with(hub, chat, ahead, resolved, contract, sized=False)
    tokens = max(0, given_up(planned, chat.prompt) - _lost_anyway(hub, chat, ahead, stored))
    later = [spec.name for spec in undeclared(contract, after)]
    before = names_now(hub, stored, ahead.snapshot, ahead.project, None)
    return PreviewAck(
        id=action.id,
        session_id=row.info.id,
        tokens=tokens,
        cost=lost_cost(tokens, last.usage, last.record.price) if tokens else 0.0,
        reason=planned.reason,
        withdrawn=planned.withdrawn,
        restored=planned.restored,
        later=tuple(name for name in later if name not in before),
        load_tokens=chat.prompt if hub.refusals.of(model).strategy == "append" else 0,
    )


def _lost_anyway(hub: Hub, chat: Chat, ahead: Ahead, stored: StoredIntent) -> int:
    """Tokens that the next message loses without the switch, or all, where the tools are declared anew anyway."""
    try:
        resolved = resolution(hub, stored, ahead.snapshot, ahead.project)
    except (UnknownPreset, ConfigError):
        return 0
    _, planned = planned_with(hub, chat, ahead, resolved, _frozen(resolved, ahead.model), sized=False)
    return chat.prompt if planned.kind == "rebase" else given_up(planned, chat.prompt)


def _frozen(resolved: Resolution, model: ModelInfo) -> Contract:
    return freeze(served(resolved, model), lambda spec: ContractTool(spec, spec.execute))


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

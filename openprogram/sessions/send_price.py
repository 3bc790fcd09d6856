"""What the next message would cost, before it is sent: what of the conversation is billed anew (spec cache.md C19).

The next request is planned as the turn would plan it, and compared with what the endpoint still holds.
"""

import asyncio
import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from openprogram.agent.deferral import offer
from openprogram.agent.freeze import freeze
from openprogram.context.assembler import PromptContext, assemble
from openprogram.context.compaction import newest_summary
from openprogram.context.notices import tells_of_switch
from openprogram.core.clock import iso_time
from openprogram.core.errors import ConfigError, UnknownPreset
from openprogram.core.jsonio import JsonObject, digest
from openprogram.core.messages import Role
from openprogram.core.protocol.cache_actions import PreviewModels, PreviewSend
from openprogram.core.protocol.price_frames import ModelPrice, ModelPricesAck, Reread, SendPreviewAck
from openprogram.core.storage import Node, SessionRow
from openprogram.core.surface import SurfacePlan
from openprogram.core.tooling import ContractTool
from openprogram.core.usage import Usage
from openprogram.ledger.held import Asked, Held, Standing, standing
from openprogram.ledger.verdict import below_minimum, new_input_rate
from openprogram.providers.pricing import tool_text
from openprogram.session_config.costly import CostlySend
from openprogram.sessions.effective import floor, resolution, seen_by
from openprogram.sessions.hosted import served
from openprogram.sessions.hub import Hub
from openprogram.sessions.projects import LOOK_S
from openprogram.sessions.request import Request
from openprogram.sessions.settings import costly_send
from openprogram.sessions.tree import path
from openprogram.surface.planner import plan
from openprogram.surface.wanted import Warmth

_HELD_OR_NOT: Final = ("cold", "first_request", "model_changed")
"""Reasons of a rebase that gives up nothing: what the endpoint holds is counted apart."""
_MILLION: Final = 1_000_000
_NOTHING: Final = Reread(tokens=0, cost=0.0)


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat as its next message finds it."""

    row: SessionRow
    nodes: tuple[Node, ...]
    branch: tuple[str, ...]
    standing: Standing
    model: str | None
    threshold: CostlySend
    now: float


async def preview_send(hub: Hub, request: Request, action: PreviewSend) -> SendPreviewAck:
    """The price of the next message."""
    chat = await read_chat(hub, request.user_id, action.session_id)
    newest, model = chat.standing.newest, chat.model
    if newest is None or model is None:
        return SendPreviewAck(
            id=action.id,
            session_id=action.session_id,
            model=model,
            state="none",
            warm_until=None,
            warm_s=None,
            reason="first_request",
            now=_NOTHING,
            once_cold=_NOTHING,
            input_cost=None,
        )
    held = chat.standing.held(model, chat.now)
    planned, prompt = await _planned(hub, chat, model, newest)
    now = _reread(hub, chat, model, prompt, 0 if planned is None else _given_up(planned, prompt))
    return SendPreviewAck(
        id=action.id,
        session_id=action.session_id,
        model=model,
        state="unknown" if now.tokens is None else "warm" if held.tokens else "cold",
        warm_until=None if held.until is None else iso_time(held.until),
        warm_s=None if held.until is None else held.until - chat.now,
        reason=_reason(planned, held, prompt),
        now=now,
        once_cold=_reread(hub, chat, model, prompt, prompt),
        input_cost=_input_cost(hub, chat, model, prompt, newest.usage.output or 0, now.tokens),
    )


async def preview_models(hub: Hub, request: Request, action: PreviewModels) -> ModelPricesAck:
    """The price of the next message at each model, whatever becomes of the tools."""
    chat = await read_chat(hub, request.user_id, action.session_id)
    models = await hub.ports.models.models()
    return ModelPricesAck(
        id=action.id,
        session_id=action.session_id,
        prices=tuple(ModelPrice(model=model.id, reread=at_model(hub, chat, model.id)) for model in models),
    )


async def read_chat(hub: Hub, user_id: str, session_id: str) -> Chat:
    """Everything that a price depends on. Raises `UnknownSession`."""
    row, store = await hub.row(user_id, session_id), hub.ports.store
    records, counted, nodes, threshold, default = await asyncio.gather(
        store.sent(session_id),
        store.usage(session_id),
        store.nodes(session_id),
        costly_send(hub, user_id),
        hub.ports.models.default_id(),
    )
    branch = path(nodes, row.info.leaf_id)
    found = await asyncio.to_thread(standing, records, counted, nodes, branch)
    return Chat(row, nodes, branch, found, row.info.model or default, threshold, hub.ports.clock())


def at_model(hub: Hub, chat: Chat, model: str) -> Reread:
    """What the next message reads anew if it goes to this model."""
    newest = chat.standing.newest
    return _NOTHING if newest is None else _reread(hub, chat, model, newest.usage.prompt or 0, 0)


def _reread(hub: Hub, chat: Chat, model: str, prompt: int, given_up: int) -> Reread:
    """What of a prompt is not held, or `given_up`: unknown where the endpoint does not tell what it has read."""
    newest, last = chat.standing.newest, chat.standing.last(model)
    if newest is None or (newest.record.model == model and below_minimum(newest.usage, newest.record)):
        return _NOTHING
    if last is not None and last.usage.cache_read is None:
        return Reread(tokens=None, cost=None)
    tokens = min(prompt, max(given_up, prompt - chat.standing.held(model, chat.now).tokens))
    rate = _rates(hub, chat, model)[1]
    cost = None if rate is None else tokens * rate / _MILLION
    return Reread(tokens=tokens, cost=cost, costly=chat.threshold.reached(tokens, cost))


def _input_cost(hub: Hub, chat: Chat, model: str, prompt: int, answer: int, tokens: int | None) -> float | None:
    """Dollars for the input of the next request: what it repeats, read or new, and the answer before it."""
    read_rate, rate = _rates(hub, chat, model)
    if tokens is None or read_rate is None or rate is None:
        return None
    return (max(0, prompt - tokens) * read_rate + (tokens + answer) * rate) / _MILLION


def _rates(hub: Hub, chat: Chat, model: str) -> tuple[float | None, float | None]:
    """Dollars per million tokens that are read from the cache, and that are not: written to it where requests to this
    model write."""
    about, last = hub.ports.models.about(model), chat.standing.last(model)
    price = about.price if about else None
    if price is None:
        return None, None
    writes = about is not None and about.counting.api == "anthropic"
    usage = last.usage if last else Usage(cache_write_5m=1 if writes else None)
    return price.cache_read, new_input_rate(price, usage)


async def _planned(hub: Hub, chat: Chat, model_id: str, newest: Asked) -> tuple[SurfacePlan | None, int]:
    """What the planner would do with the tools at the next message (None where the message would fail), and the tokens
    of what is said again with it: those of the last request, or of the summary that has come since."""
    row, store, prompt = chat.row, hub.ports.store, newest.usage.prompt or 0
    model = hub.ports.models.about(model_id)
    if row.surface is None or model is None:
        return None, prompt
    snapshot = seen_by(model, hub.ports.snapshot())
    roles = {node.id: node.role for node in chat.nodes}
    notices = [message_id for message_id in chat.branch if roles[message_id] == "notice"]
    stored, project, told = await asyncio.gather(
        store.intent(row.info.id),
        hub.projects.layer(row.info, snapshot, LOOK_S),
        store.messages(row.info.id, notices),
    )
    try:
        resolved = resolution(hub, stored, snapshot, project.intent)
    except (UnknownPreset, ConfigError):
        return None, prompt
    contract = freeze(served(resolved, model), lambda spec: ContractTool(spec, spec.execute))
    count = hub.ports.tokens.at_most
    asked = offer(contract, floor(snapshot, resolved, model), model, count, row.loaded, row.loaded, row.surface)
    workspace = str(hub.projects.workspace_of(row.info))
    context = PromptContext(hub.defaults.platform, hub.defaults.profile.instructions)
    named = _digest(replace(context, workspace=workspace))  # an older chat keeps the directory where it was told
    said = named if row.surface.system_digest == named else _digest(context)
    asked = replace(asked, system_digest=said, branch=chat.branch, at=chat.branch[-1])

    def size(tool: JsonObject) -> int:
        return round(count(tool_text(model.counting.api, tool)) * model.counting.ratio)

    summary = newest_summary(told)
    asked = replace(asked, cut=summary.id if summary else None)
    if summary is not None and summary.compaction is not None and row.surface.cut != summary.id:
        prompt = summary.compaction.tokens_after
    switched = {message.id for message in told if tells_of_switch(message)}
    warmth = Warmth(
        now=chat.now,
        prompt_tokens=prompt,
        size=size,
        requests=sum(1 for message_id in chat.branch if roles[message_id] == "assistant"),
        turns_since_switch=1 + _turns_since(switched, chat.branch, roles),
    )
    if model.price is not None and model.price.input:
        rates = model.price.cache_read / model.price.input, model.price.cache_write_5m / model.price.input
        warmth = replace(warmth, read_rate=rates[0], write_rate=rates[1])
    force = row.surface.epoch == row.forced_epoch
    return plan(row.surface, asked, hub.refusals.of(model), warmth, force=force)[1], prompt


def _digest(context: PromptContext) -> str:
    return digest(list(assemble(context).texts))


def _turns_since(switched: Collection[str], branch: Sequence[str], roles: Mapping[str, Role]) -> int:
    """Messages that a person has sent since a switch was last told of."""
    since = itertools.takewhile(lambda message_id: message_id not in switched, reversed(branch))
    return sum(1 for message_id in since if roles[message_id] == "user")


def _given_up(planned: SurfacePlan, prompt: int) -> int:
    """Tokens that the plan loses though the endpoint holds them; all, where that is not known."""
    if planned.kind not in ("append", "rebase") or planned.reason in _HELD_OR_NOT:
        return 0
    return prompt if planned.predicted_loss is None else planned.predicted_loss


def _reason(planned: SurfacePlan | None, held: Held, prompt: int) -> str:
    if planned is not None and planned.kind in ("append", "rebase"):
        return planned.reason
    if held.tokens >= prompt:
        return "unchanged"
    return "branch" if held.tokens else "cold"

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
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonObject, digest
from openprogram.core.messages import Message, Role
from openprogram.core.prompt import ModelInfo
from openprogram.core.protocol.cache_actions import PreviewModels, PreviewSend
from openprogram.core.protocol.price_frames import ModelPrice, ModelPricesAck, Reread, SendPreviewAck
from openprogram.core.storage import Node, SessionRow
from openprogram.core.surface import Surface, SurfacePlan
from openprogram.core.tooling import Contract, ContractTool, Resolution, Snapshot
from openprogram.core.usage import Usage
from openprogram.ledger.held import Held, Standing, standing
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
    told: tuple[Message, ...]
    """The notices on the branch."""

    @property
    def summary(self) -> Message | None:
        """The summary in force that no answered request has held yet: nothing is cached of what comes behind it."""
        summary, newest = newest_summary(self.told), self.standing.newest
        return None if newest is None or summary is None or newest.record.conditions.cut == summary.id else summary

    @property
    def prompt(self) -> int:
        """Tokens of what the next message repeats: those of the last request, or of the summary that has come since."""
        summary, newest = self.summary, self.standing.newest
        if summary is not None and summary.compaction is not None:
            return summary.compaction.tokens_after
        return 0 if newest is None else newest.usage.prompt or 0


@dataclass(frozen=True, slots=True)
class Ahead:
    """What the next message goes by at a model, but for the chat's own wishes."""

    model: ModelInfo
    snapshot: Snapshot
    project: ToolIntent


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
    until = None if chat.summary is not None else held.until
    planned, prompt = await _planned(hub, chat, model), chat.prompt
    now = _reread(hub, chat, model, prompt, 0 if planned is None else given_up(planned, prompt))
    return SendPreviewAck(
        id=action.id,
        session_id=action.session_id,
        model=model,
        state="unknown" if now.tokens is None else "warm" if until is not None else "cold",
        warm_until=None if until is None else iso_time(until),
        warm_s=None if until is None else until - chat.now,
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
    branch, roles = path(nodes, row.info.leaf_id), {node.id: node.role for node in nodes}
    found, told = await asyncio.gather(
        asyncio.to_thread(standing, records, counted, nodes, branch),
        store.messages(session_id, [message_id for message_id in branch if roles[message_id] == "notice"]),
    )
    return Chat(row, nodes, branch, found, row.info.model or default, threshold, hub.ports.clock(), tuple(told))


def at_model(hub: Hub, chat: Chat, model: str) -> Reread:
    """What the next message reads anew if it goes to this model."""
    return _reread(hub, chat, model, chat.prompt, 0 if chat.summary is None else chat.prompt)


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


async def read_ahead(hub: Hub, chat: Chat, model: ModelInfo) -> Ahead:
    """What the next message goes by at a model."""
    snapshot = seen_by(model, hub.ports.snapshot())
    project = await hub.projects.layer(chat.row.info, snapshot, LOOK_S)
    return Ahead(model, snapshot, project.intent)


async def _planned(hub: Hub, chat: Chat, model_id: str) -> SurfacePlan | None:
    """What the planner would do with the tools at the next message; None where the message would fail."""
    model = hub.ports.models.about(model_id)
    if chat.row.surface is None or model is None:
        return None
    stored, ahead = await asyncio.gather(hub.ports.store.intent(chat.row.info.id), read_ahead(hub, chat, model))
    try:
        resolved = resolution(hub, stored, ahead.snapshot, ahead.project)
    except (UnknownPreset, ConfigError):
        return None
    contract = freeze(served(resolved, model), lambda spec: ContractTool(spec, spec.execute))
    return planned_with(hub, chat, ahead, resolved, contract)[1]


def planned_with(
    hub: Hub, chat: Chat, ahead: Ahead, resolved: Resolution, contract: Contract, *, sized: bool = True
) -> tuple[Surface, SurfacePlan]:
    """What the planner would make of these tools at the next message of a chat that has been answered. Not `sized`, it
    takes all of a prompt for lost where it cannot be sure of a part."""
    row, model, count = chat.row, ahead.model, hub.ports.tokens.at_most
    here, roles = row.surface, {node.id: node.role for node in chat.nodes}
    asked = offer(contract, floor(ahead.snapshot, resolved, model), model, count, row.loaded, row.loaded, here)
    workspace = str(hub.projects.workspace_of(row.info))
    context = PromptContext(hub.defaults.platform, hub.defaults.profile.instructions)
    named = _digest(replace(context, workspace=workspace))  # an older chat keeps the directory where it was told
    said = named if here is not None and here.system_digest == named else _digest(context)
    summary = newest_summary(chat.told)
    cut = summary.id if summary else None
    asked = replace(asked, system_digest=said, branch=chat.branch, at=chat.branch[-1], cut=cut)

    def size(tool: JsonObject) -> int:
        return round(count(tool_text(model.counting.api, tool)) * model.counting.ratio)

    switched = {message.id for message in chat.told if tells_of_switch(message)}
    warmth = Warmth(
        now=chat.now,
        prompt_tokens=chat.prompt,
        size=size if sized else None,
        requests=sum(1 for message_id in chat.branch if roles[message_id] == "assistant"),
        turns_since_switch=1 + _turns_since(switched, chat.branch, roles),
    )
    if model.price is not None and model.price.input:
        rates = model.price.cache_read / model.price.input, model.price.cache_write_5m / model.price.input
        warmth = replace(warmth, read_rate=rates[0], write_rate=rates[1])
    force = here is not None and here.epoch == row.forced_epoch
    return plan(here, asked, hub.refusals.of(model), warmth, force=force)


def _digest(context: PromptContext) -> str:
    return digest(list(assemble(context).texts))


def _turns_since(switched: Collection[str], branch: Sequence[str], roles: Mapping[str, Role]) -> int:
    """Messages that a person has sent since a switch was last told of."""
    since = itertools.takewhile(lambda message_id: message_id not in switched, reversed(branch))
    return sum(1 for message_id in since if roles[message_id] == "user")


def given_up(planned: SurfacePlan, prompt: int) -> int:
    """Tokens that a plan loses though the endpoint holds them; all, where that is not known."""
    if planned.kind not in ("append", "rebase") or planned.reason in _HELD_OR_NOT:
        return 0
    return prompt if planned.predicted_loss is None else planned.predicted_loss


def _reason(planned: SurfacePlan | None, held: Held, prompt: int) -> str:
    if planned is not None and planned.kind in ("append", "rebase"):
        return planned.reason
    if held.tokens >= prompt:
        return "unchanged"
    return "branch" if held.tokens else "cold"

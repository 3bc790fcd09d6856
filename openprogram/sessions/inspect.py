"""Inspecting a chat: what each model request cost, and why (spec cache.md C17 to C20).

`cache_of` and `step_of` need a store only: the command line asks them without a server.
"""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from openprogram.core.clock import iso_time
from openprogram.core.errors import BadField
from openprogram.core.jsonio import JsonObject, canonical, decode_object
from openprogram.core.ports import Store
from openprogram.core.protocol.cache_actions import InspectCache, InspectStep, UsageTotals
from openprogram.core.protocol.cache_frames import (
    CacheState,
    CacheStep,
    CacheTotals,
    FirstDifference,
    MissCause,
    SegmentInfo,
)
from openprogram.core.protocol.frames import CacheAck, StepAck, UsageAck
from openprogram.core.sent import SentRecord
from openprogram.core.storage import UsageRow
from openprogram.core.usage import Price, ProviderDiagnosis, Usage
from openprogram.ledger.body import SECTIONS, join, name_of
from openprogram.ledger.difference import Outline, excerpt
from openprogram.ledger.inspect import Inspected, hit_share, missed_of, reused_share, total
from openprogram.ledger.inspect import inspect as inspected
from openprogram.ledger.log import outlines, parts_of
from openprogram.ledger.verdict import below_minimum, lost_cost, new_input_rate, shows_time
from openprogram.sessions.hub import Hub
from openprogram.sessions.request import Request

_TIMELESS: Final = frozenset({"settings", "restart", "program"})
"""Causes that a date in the text explains better."""
REMOVED: Final = "[secret removed]"
Diagnoses = Mapping[tuple[str, int], ProviderDiagnosis | None]
"""What the providers said themselves, by turn and step."""
_KEY: Final = re.compile(rb"(?<![\w/+-])(?:sk|rk|gsk|xai|tvly)-[\w-]{20,}")
"""What vendors' keys look like: who exports may have other keys in the environment than the server had."""


@dataclass(frozen=True, slots=True)
class CacheView:
    """What `inspect_cache` tells, apart from its envelope."""

    steps: tuple[CacheStep, ...]
    totals: CacheTotals
    cache: CacheState


async def inspect_cache(hub: Hub, request: Request, action: InspectCache) -> CacheAck:
    """A row per model request, sums, and whether the cache is warm."""
    await hub.row(request.user_id, action.session_id)
    view = await cache_of(hub.ports.store, action.session_id, hub.ports.clock())
    shown = view.steps if action.limit is None else view.steps[-action.limit :]
    return CacheAck(
        id=action.id,
        session_id=action.session_id,
        steps=shown,
        totals=view.totals,
        cache=view.cache,
        left_out=len(view.steps) - len(shown),
    )


async def inspect_step(hub: Hub, request: Request, action: InspectStep) -> StepAck:
    """One request with its segments."""
    await hub.row(request.user_id, action.session_id)
    return await step_of(hub.ports.store, action, hub.defaults.secrets)


async def usage(hub: Hub, request: Request, action: UsageTotals) -> UsageAck:
    """What all chats used."""
    return UsageAck(id=action.id, spending=await hub.ports.store.spending(request.user_id))


async def cache_of(store: Store, session_id: str, now: float) -> CacheView:
    """A chat's requests with their verdicts. `now` is in Unix seconds. A thread does the work."""
    records, counted, nodes, row = await asyncio.gather(
        store.sent(session_id), store.usage(session_id), store.nodes(session_id), store.session(session_id)
    )
    found = await asyncio.to_thread(inspected, records, counted, nodes)
    segments = await store.segments(session_id, _at_places(found))
    said = await _diagnoses(store, session_id, found)
    messages = frozenset(node.id for node in nodes)
    view = await asyncio.to_thread(_view, found, counted, segments, said, now, messages)
    surface = row.surface if row else None
    forced = row is not None and surface is not None and row.forced_epoch == surface.epoch
    return replace(view, cache=replace(view.cache, forced=forced))


def _view(
    found: tuple[Inspected, ...],
    counted: tuple[UsageRow, ...],
    segments: Mapping[str, bytes],
    said: Diagnoses,
    now: float,
    messages: frozenset[str],
) -> CacheView:
    steps: list[CacheStep] = []
    so_far: float | None = None
    for step in found:
        if step.counted is not None and step.counted.cost is not None:
            so_far = (so_far or 0.0) + step.counted.cost
        steps.append(_row(step, segments, so_far, said))
    used, cost = total(counted)
    lost = [step.lost for step in steps if step.lost is not None]
    totals = CacheTotals(
        requests=len(counted),
        unpriced=sum(1 for row in counted if row.cost is None),
        usage=used,
        cost=cost,
        hit=hit_share(total(row for row in counted if row.usage.cache_read is not None)[0]),
        reused=reused_share(found),
        missed=missed_of(found),
        lost=sum(lost) if lost else None,
    )
    return CacheView(tuple(steps), totals, _state(found, now, messages))


@dataclass(frozen=True, slots=True)
class Exported:
    """A request with its body as it was sent."""

    record: SentRecord
    body: JsonObject


async def exported(store: Store, session_id: str, number: int, secrets: tuple[str, ...] | None = None) -> Exported:
    """Request `number` of a chat, from 1, without these secrets and what looks like one (None: as it was sent).

    Raises `BadField` where there is none.
    """
    found = outlines(await store.sent(session_id))
    if not 1 <= number <= len(found):
        raise BadField(f"the chat has {len(found)} requests on record, no number {number}", field="step")
    record, outline = found[number - 1]
    segments = await store.segments(session_id, {*outline.digests, outline.settings})
    return Exported(record, _body(record, outline, segments, secrets))


def _body(
    record: SentRecord, outline: Outline, segments: Mapping[str, bytes], secrets: tuple[str, ...] | None
) -> JsonObject:
    body = join(parts_of(record, outline, segments))
    return body if secrets is None else decode_object(_without(canonical(body), secrets))


async def step_of(store: Store, action: InspectStep, secrets: tuple[str, ...] = ()) -> StepAck:
    """One request of a chat. Raises `BadField` where there is none of that turn and number."""
    session_id = action.session_id
    records, counted, nodes = await asyncio.gather(
        store.sent(session_id), store.usage(session_id), store.nodes(session_id)
    )
    found = await asyncio.to_thread(inspected, records, counted, nodes)
    place = {(step.record.turn_id, step.record.step): number for number, step in enumerate(found)}
    number = place.get((action.turn_id, action.step))
    if number is None:
        raise BadField("no such request is on record", field="step", hint="inspect_cache lists those of the chat")
    step, so_far = found[number], total(one.counted for one in found[: number + 1] if one.counted)[1]
    before = step.previous
    wanted = {*step.outline.digests, step.outline.settings, *_at_places((step,))}
    segments, said = await store.segments(session_id, wanted), await _diagnoses(store, session_id, (step,))
    infos = [
        SegmentInfo(
            section=section,
            name=name_of(section, index, segments[digest]),
            digest=digest,
            bytes=len(segments[digest]),
            kept=before is not None and before.outline.section(section)[index : index + 1] == (digest,),
        )
        for section in SECTIONS
        for index, digest in enumerate(step.outline.section(section))
        if digest in segments
    ]
    return StepAck(
        id=action.id,
        session_id=session_id,
        step=_row(step, segments, so_far, said),
        segments=tuple(infos),
        compared_with=(before.record.turn_id, before.record.step) if before else None,
        settings_changed=before is not None and before.outline.settings != step.outline.settings,
        predicted_loss=step.record.conditions.predicted_loss,
        body=_body(step.record, step.outline, segments, secrets) if action.body else None,
    )


def _without(body: bytes, secrets: tuple[str, ...]) -> bytes:
    for secret in sorted(secrets, key=len, reverse=True):
        body = body.replace(canonical(secret)[1:-1], REMOVED.encode())
    return _KEY.sub(REMOVED.encode(), body)


def _at_places(found: tuple[Inspected, ...]) -> set[str]:
    places = [step.place for step in found if step.place]
    return {digest for place in places for digest in (place.before, place.after) if digest}


async def _diagnoses(store: Store, session_id: str, found: tuple[Inspected, ...]) -> Diagnoses:
    steps = await store.steps(session_id, {step.record.message_id for step in found})
    return {(step.turn_id, step.step): step.cache.provider for step in steps}


def _row(step: Inspected, segments: Mapping[str, bytes], so_far: float | None, said: Diagnoses) -> CacheStep:
    record, used, missed = step.record, step.usage, step.verdict.missed
    difference, cause = _difference(step, segments)
    reusable = step.reusable
    return CacheStep(
        turn_id=record.turn_id,
        step=record.step,
        message_id=record.message_id,
        model=record.model,
        at=iso_time(record.sent_at),
        usage=step.counted.usage if step.counted else None,
        prompt=used.prompt,
        cost=step.counted.cost if step.counted else None,
        cost_so_far=so_far,
        hit=hit_share(used),
        reused=min(used.cache_read or 0, reusable) / reusable if reusable else None,
        missed=missed,
        lost=lost_cost(missed, used, record.price),
        cause=cause,
        below_minimum=below_minimum(used, record),
        difference=difference,
        plan=record.conditions.plan,
        reason=record.conditions.reason,
        moved=record.conditions.moved,
        provider=said.get((record.turn_id, record.step)),
    )


def _difference(step: Inspected, segments: Mapping[str, bytes]) -> tuple[FirstDifference | None, MissCause | None]:
    cause, place = step.cause, step.place
    if place is None:
        return None, cause
    around = excerpt(place, segments)
    shown = segments.get(place.after or "") or segments.get(place.before or "") or b"null"
    difference = FirstDifference(
        section=place.section,
        index=place.index,
        name=name_of(place.section, place.index, shown),
        byte=around.byte,
        before=around.before,
        after=around.after,
        room=around.room,
    )
    return difference, "clock" if cause in _TIMELESS and shows_time(around) else cause


def _state(found: tuple[Inspected, ...], now: float, messages: frozenset[str]) -> CacheState:
    """As of the newest request; behind a summary the next one is another, of which nothing is cached yet."""
    answered = [step for step in found if step.usage.prompt is not None and _counts(step, messages)]
    if not answered:
        return CacheState(state="none")
    newest = answered[-1]
    if newest.counted is not None and newest.counted.kind == "summary":
        return CacheState(state="cold", model=newest.record.model)
    record, prompt = newest.record, newest.usage.prompt or 0
    if newest.usage.cache_read is None:
        return CacheState(state="unknown", model=record.model, tokens=prompt + (newest.usage.output or 0))
    until = record.sent_at + record.rules.ttl_s
    tokens = prompt + (newest.usage.output or 0)
    price = record.price
    return CacheState(
        state="warm" if now < until else "cold",
        model=record.model,
        warm_until=iso_time(until),
        tokens=tokens,
        cost_warm=None if price is None else _send_cost(price, newest.usage, read=prompt, new=tokens - prompt),
        cost_cold=None if price is None else _send_cost(price, newest.usage, read=0, new=tokens),
    )


def _counts(step: Inspected, messages: frozenset[str]) -> bool:
    """Whether the chat went on from this request: not from a summary that came to nothing."""
    return step.counted is None or step.counted.kind == "step" or step.record.message_id in messages


def _send_cost(price: Price, used: Usage, *, read: int, new: int) -> float:
    """Dollars for the input of the next request: new tokens are written to the cache where this one wrote any."""
    return (read * price.cache_read + new * new_input_rate(price, used)) / 1_000_000

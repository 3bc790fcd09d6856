"""Which tools cost cached tokens: how often the request after a tool's use missed, over all chats (cache.md C19)."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

from openprogram.core.events import SessionInfo
from openprogram.core.ports import Store
from openprogram.ledger.inspect import Inspected, inspect

_PAGE = 200
_NONE = ""
"""Stands for answers that called no tool."""


@dataclass(frozen=True, slots=True)
class ToolMisses:
    """One tool: the share of chats that used it, and of the requests after its use the share that missed.

    `name` is empty for requests after an answer that called none. `tokens` were missed in all.
    """

    name: str
    chats: int
    chat_share: float
    requests_after: int
    missed: int
    miss_rate: float | None
    tokens: int


@dataclass(slots=True)
class _Sum:
    chats: set[str] = field(default_factory=set)
    after: int = 0
    missed: int = 0
    tokens: int = 0


async def tool_misses(store: Store, user_id: str) -> tuple[int, tuple[ToolMisses, ...]]:
    """How many chats have requests on record, and each tool that they used, the ones that missed most first."""
    sums: dict[str, _Sum] = defaultdict(_Sum)
    chats = 0
    for info in [*await _all(store, user_id, deleted=False), *await _all(store, user_id, deleted=True)]:
        records, counted, nodes = await asyncio.gather(store.sent(info.id), store.usage(info.id), store.nodes(info.id))
        steps = inspect(records, counted, nodes)
        chats += bool(steps)
        answers = await store.messages(info.id, [step.record.message_id for step in steps])
        called = {answer.id: {call.name for call in answer.calls} or {_NONE} for answer in answers}
        for name in {name for names in called.values() for name in names}:
            sums[name].chats.add(info.id)
        _count(steps, called, sums)
    return chats, tuple(sorted(_rows(sums, chats), key=lambda row: (-(row.miss_rate or 0), row.name)))


def _count(steps: tuple[Inspected, ...], called: dict[str, set[str]], sums: dict[str, _Sum]) -> None:
    """Add each request to the tools of the answer before it; one without a verdict tells nothing."""
    for before, after in pairwise(steps):
        if after.verdict.missed is None:
            continue
        for name in called.get(before.record.message_id, ()):
            sums[name].after += 1
            sums[name].missed += bool(after.verdict.missed)
            sums[name].tokens += after.verdict.missed


def _rows(sums: dict[str, _Sum], chats: int) -> Iterable[ToolMisses]:
    for name, one in sums.items():
        yield ToolMisses(
            name=name,
            chats=len(one.chats),
            chat_share=len(one.chats) / chats,
            requests_after=one.after,
            missed=one.missed,
            miss_rate=one.missed / one.after if one.after else None,
            tokens=one.tokens,
        )


async def _all(store: Store, user_id: str, *, deleted: bool) -> list[SessionInfo]:
    found: list[SessionInfo] = []
    while True:
        before = (found[-1].updated_at, found[-1].id) if found else None
        page = await store.sessions(user_id, limit=_PAGE, before=before, deleted=deleted)
        found += page
        if len(page) < _PAGE:
            return found

"""A chat of a thousand model requests with their ledger, as if they had been made: for the cache panel."""

from pathlib import Path
from typing import Any, Final

from openprogram.core.events import Event, MessageAdded, SessionChanged, SessionInfo, StepFinished
from openprogram.core.jsonio import canonical, digest_bytes
from openprogram.core.messages import Message, TextBlock
from openprogram.core.sent import Conditions, PutSent, SentRecord, StoredSegment
from openprogram.core.storage import Write
from openprogram.core.usage import CacheRules, CacheVerdict, Price, Usage
from openprogram.server.auth import OWNER
from openprogram.sessions.project import project
from openprogram.store.sqlite.store import SqliteStore

REQUESTS: Final = 1000
SESSION: Final = "s_many_requests"
EACH_MISSES: Final = 100
"""So many requests lie between two that find a tool changed."""
MODEL: Final = "priced/demo"
_NOON: Final = 1_767_268_800.0
_NOW: Final = "2026-01-01T12:00:00.000Z"
_PRICE: Final = Price(input=10.0, output=50.0, cache_read=1.0, cache_write_5m=12.5, cache_write_1h=20.0)


async def write_chat(database: Path, requests: int = REQUESTS) -> None:
    """The chat: a question and an answer for each request."""
    store = await SqliteStore.open(database)
    info = SessionInfo(id=SESSION, title="Many requests", created_at=_NOW, updated_at=_NOW, visible=True, model=MODEL)
    events: list[Event] = [SessionChanged(info)]
    sent: list[Write] = []
    parent: str | None = None
    history: tuple[str, ...] = ()
    for number in range(requests):
        said, answer = _said(number, parent), _answer(number)
        parent = answer.id
        used = _usage(number)
        verdict = CacheVerdict(used.cache_read, 0)
        step = StepFinished(f"t_{number:05}", 1, answer.id, MODEL, used, _PRICE.cost(used), verdict, 100, 200)
        events += [MessageAdded(said), step, MessageAdded(answer)]
        added = _messages(number)
        history += tuple(segment.digest for segment in added)
        sent.append(_sent(number, history, added))
    await store.commit(SESSION, events, (*project(events, OWNER.id), *sent))
    await store.aclose()


def misses(number: int) -> bool:
    """Whether request `number`, from 0, finds a tool changed."""
    return number > 0 and number % EACH_MISSES == 0


def _said(number: int, parent: str | None) -> Message:
    return Message(f"m_{number:05}_q", parent, "user", (TextBlock(f"Question {number}"),), _NOW)


def _answer(number: int) -> Message:
    text = (TextBlock(f"Answer {number}"),)
    turn_id = f"t_{number:05}"
    return Message(f"m_{number:05}_a", f"m_{number:05}_q", "assistant", text, _NOW, turn_id=turn_id, model=MODEL)


def _usage(number: int) -> Usage:
    before = 2_000 + 150 * number
    if number == 0 or misses(number):
        return Usage(uncached=0, cache_read=0, cache_write_5m=before, output=120)
    return Usage(uncached=0, cache_read=before - 150, cache_write_5m=150, output=120)


def _segment(value: Any) -> StoredSegment:
    data = canonical(value)
    return StoredSegment(digest_bytes(data), data)


def _messages(number: int) -> tuple[StoredSegment, ...]:
    """What request `number` says that the one before it did not."""
    added = (number - 1, "assistant"), (number, "user")
    return tuple(
        _segment({"role": role, "content": f"{role} {at} " + "and so on " * 20}) for at, role in added if at >= 0
    )


def _sent(number: int, history: tuple[str, ...], added: tuple[StoredSegment, ...]) -> PutSent:
    """Request `number`, as what it adds to the one before it; all of it anew where the tool changes."""
    tool = _segment({"name": "read", "description": f"Text {number // EACH_MISSES}. " + "Reads a file. " * 30})
    system = _segment({"type": "text", "text": "You help. " * 50})
    settings = _segment({"model": "demo", "max_tokens": 1000})
    whole = number == 0 or misses(number)
    kept, digests = (0, (tool.digest, system.digest, *history)) if whole else (2 + len(history) - len(added), ())
    record = SentRecord(
        turn_id=f"t_{number:05}",
        step=1,
        message_id=f"m_{number:05}_a",
        parent_id=f"m_{number:05}_q",
        model=MODEL,
        api="anthropic",
        sent_at=_NOON + 10.0 * number,
        tools=1,
        system=1,
        kept=kept,
        digests=digests or tuple(segment.digest for segment in added),
        settings=settings.digest,
        marks=(),
        conditions=Conditions("keep", "unchanged", 1, registry_version=number // EACH_MISSES, boot_id="e_1"),
        rules=CacheRules(ttl_s=300.0, minimum=None, granularity=1),
        price=_PRICE,
    )
    return PutSent(record, (tool, system, settings, *added))

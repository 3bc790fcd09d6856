"""Requests as they were sent, for tests: records, bodies of both wire formats, and whole chats of them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from openprogram.core.jsonio import JsonObject, canonical, digest_bytes
from openprogram.core.sent import Conditions, SentRecord, StoredSegment
from openprogram.core.usage import CacheRules, Price, Usage
from openprogram.ledger.difference import Outline
from openprogram.ledger.verdict import Answered
from tests.support.store_values import json_objects, names, texts

PRICE = Price(input=10.0, output=50.0, cache_read=1.0, cache_write_5m=12.5, cache_write_1h=20.0)
RULES = CacheRules(ttl_s=300.0, minimum=None, granularity=1)
CONDITIONS = Conditions("keep", "unchanged", 1, boot_id="e_1")


def record(number: int = 1, **fields: Any) -> SentRecord:
    """Request `number` of a chat, sent that many seconds after midnight."""
    made = SentRecord(
        turn_id="t_1",
        step=number,
        message_id=f"m_answer_{number}",
        parent_id=f"m_said_{number}",
        model="e/m",
        api="anthropic",
        sent_at=float(number),
        tools=0,
        system=0,
        kept=0,
        digests=(),
        settings="settings",
        marks=(),
        conditions=CONDITIONS,
        rules=RULES,
        price=PRICE,
    )
    return replace(made, **fields)


def outline(tools: str = "", system: str = "", messages: str = "", settings: str = "s") -> Outline:
    """An outline whose digests are single letters."""
    return Outline(tuple(tools), tuple(system), tuple(messages), settings)


def answered(number: int, shape: Outline, usage: Usage, conditions: Conditions = CONDITIONS, **fields: Any) -> Answered:
    """Request `number`, answered."""
    return Answered(record(number, conditions=conditions, **fields), shape, usage)


def segment(data: bytes) -> StoredSegment:
    """A segment of these bytes."""
    return StoredSegment(digest_bytes(data), data)


def canonical_copy(body: Mapping[str, Any]) -> JsonObject:
    """The body with its keys in canonical order."""
    return dict(sorted(body.items()))


marks = st.just({"type": "ephemeral"}) | st.just({"type": "ephemeral", "ttl": "1h"})


def _maybe_marked(inner: st.SearchStrategy[JsonObject]) -> st.SearchStrategy[JsonObject]:
    return st.builds(
        lambda value, mark: {**value, **({"cache_control": mark} if mark else {})}, inner, st.none() | marks
    )


_blocks = _maybe_marked(st.builds(lambda text: {"type": "text", "text": text}, texts) | json_objects)
_tools = _maybe_marked(st.builds(lambda name, schema: {"name": name, "input_schema": schema}, names, json_objects))
_content = texts | st.lists(_blocks | texts, max_size=3)
_messages = _maybe_marked(st.builds(lambda role, content: {"role": role, "content": content}, names, _content))
bodies: st.SearchStrategy[JsonObject] = st.fixed_dictionaries(
    {"model": names, "stream": st.booleans()},
    optional={
        "tools": st.lists(_tools, max_size=3),
        "system": texts | st.lists(_blocks, max_size=2),
        "instructions": texts,
        "messages": st.lists(_messages | json_objects, max_size=4),
        "input": texts | st.lists(_messages, max_size=3),
        "thinking": json_objects,
    },
).map(canonical_copy)
"""Bodies of every wire format, and mixtures that none has: with breakpoints in places where they can stand."""


def size(value: Any) -> int:
    """Bytes on the wire."""
    return len(canonical(value))

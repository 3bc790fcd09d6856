"""Requests that the fake API recorded, before a linter that was not written here (PyPI `promptcachelint`).

It compares what is rendered first to last. The Messages API renders a deferred tool nowhere until something refers to
it, and then there; the linter takes the array as it stands. So the deferred tools are taken out of the array, and each
reference is given the definition that it stands for: one that changed later is then seen where it stands.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

from promptcachelint import Record, Usage, analyze
from promptcachelint.analyze import Report, RequestReport
from promptcachelint.diff import diff_prefix

from openprogram.core.jsonio import JsonObject
from openprogram.ledger.body import SECTIONS, Section

_PROVIDERS: Final = {"anthropic": "anthropic", "openai-chat": "openai", "openai-responses": "openai"}
_SECONDS: Final = 1.0
"""Between the requests."""


def linted(api: str, records: Sequence[Mapping[str, Any]], *, usage: bool) -> Report:
    """Its report on one chat. Without `usage` it takes nothing for harmless because much was read all the same."""
    return analyze(
        Record(
            provider=_PROVIDERS[api],
            body=rendered(record["body"]),
            at=number * _SECONDS,
            model=record["body"]["model"],
            usage=_usage(record["cache"]) if usage else None,
            session_id="chat",
            session_explicit=True,
        )
        for number, record in enumerate(records)
    )


def breaks(report: Report) -> list[int]:
    """Numbers of the requests that changed what was cached before; also of those that the report calls harmless."""
    return [
        number
        for number, (before, after) in enumerate(pairwise(_requests(report)), start=1)
        if diff_prefix(before.segments, after.segments, before.cacheable).broken
    ]


@dataclass(frozen=True, slots=True)
class Spot:
    """A tool, a block of the system prompt or a message of a body, by its number there."""

    section: Section
    index: int


def spots(report: Report, bodies: Sequence[Mapping[str, Any]]) -> list[Spot | None]:
    """Where each request parts from what was cached of the one before it; None where it goes on from there.

    What ended in one of the two before it did in the other is missed, or new, where it stood or stands.
    """
    found: list[Spot | None] = [None]
    for (before, after), (old, new) in zip(pairwise(_requests(report)), pairwise(bodies), strict=True):
        diff = diff_prefix(before.segments, after.segments, before.cacheable)
        both = ((before.segments, old), (after.segments, new))
        place = diff.segment_index if diff.broken else None
        here = [_spot(side[place].path, body) for side, body in both if place is not None and place < len(side)]
        found.append(min(here, key=lambda spot: (SECTIONS.index(spot.section), spot.index), default=None))
    return found


_PATH: Final = re.compile(r"(?P<list>\w+)(\[(?P<index>\d+)\])?")
_SECTIONS: Final[Mapping[str, Section]] = {
    "tools": "tools",
    "system": "system",
    "instructions": "system",
    "messages": "messages",
    "input": "messages",
}


def _spot(path: str, body: Mapping[str, Any]) -> Spot:
    """A place that the linter names, as one in the body with all its tools."""
    match = _PATH.match(path)
    assert match is not None, path
    section, index = _SECTIONS[match["list"]], int(match["index"] or 0)
    if section == "tools":
        index = [place for place, tool in enumerate(body["tools"]) if not tool.get("defer_loading")][index]
    return Spot(section, index)


def findings(report: Report) -> set[tuple[int, str]]:
    """Numbers of requests, and codes of what the linter has to say of them."""
    return {(number, found.code) for number, one in enumerate(_requests(report)) for found in one.findings}


def _requests(report: Report) -> list[RequestReport]:
    (session,) = report.sessions
    return session.requests


def rendered(body: Mapping[str, Any]) -> dict[str, Any]:
    """A body as the API renders it, for a reader who knows of no deferred tools."""
    deferred = {tool["name"]: tool for tool in body.get("tools", ()) if tool.get("defer_loading")}
    tools = [tool for tool in body.get("tools", ()) if not tool.get("defer_loading")]
    shown = {name: value for name, value in body.items() if name != "tools"}
    if deferred:
        shown["messages"] = _resolved(shown["messages"], deferred)
    return {**shown, "tools": tools} if tools else shown


def _resolved(value: Any, deferred: Mapping[str, JsonObject]) -> Any:
    """The value with the definition in each reference to a deferred tool."""
    match value:
        case {"type": "tool_reference"}:
            name = value.get("tool_name") or value.get("name")
            return {**value, "definition": deferred.get(name)}
        case dict():
            return {key: _resolved(inner, deferred) for key, inner in value.items()}
        case list():
            return [_resolved(inner, deferred) for inner in value]
        case _:
            return value


def _usage(verdict: Mapping[str, int]) -> Usage:
    written = sum(count for name, count in verdict.items() if name.startswith("write_"))
    return Usage(verdict["uncached"], verdict["read"], written)

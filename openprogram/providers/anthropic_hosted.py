"""What the Messages API does by itself in an answer, block by block: searches, what they found, citations. Pure.

Shapes: `ServerToolUseBlock`, `WebSearchToolResultBlock` and `CitationsWebSearchResultLocation` of the SDK's types. Each
is kept whole: what is encrypted in it has to come back exactly as it was sent.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import orjson

from openprogram.core.jsonio import JsonObject, scrub
from openprogram.core.messages import HostedBlock, Source

_SEARCH: Final = ("type", "id", "name", "input")
_FOUND: Final = ("type", "tool_use_id", "content")


def searched(block: Mapping[str, Any], parts: Iterable[str]) -> HostedBlock:
    """A search; `parts` are pieces of the JSON text of its input."""
    text = "".join(parts)
    try:
        given = orjson.loads(scrub(text)) if text.strip() else block.get("input")
    except orjson.JSONDecodeError:
        given = None
    asked: JsonObject = given if isinstance(given, dict) else {}
    item = {name: block[name] for name in _SEARCH if name in block} | {"input": asked}
    return HostedBlock("search", str(block["id"]), query=str(asked.get("query") or ""), items=(item,))


def found(block: Mapping[str, Any]) -> HostedBlock:
    """What a search found, or why it found nothing."""
    content = block["content"]
    item = {name: block[name] for name in _FOUND if name in block}
    results = content if isinstance(content, list) else []
    error = content.get("error_code") if isinstance(content, dict) else None
    return HostedBlock(
        "found",
        str(block["tool_use_id"]),
        sources=tuple(map(_source, results)),
        error=error if isinstance(error, str) else None,
        items=(item,),
    )


def rests_on(citations: Iterable[JsonObject]) -> HostedBlock:
    """Where the text before comes from."""
    kept = tuple(citations)
    return HostedBlock("sources", sources=tuple(dict.fromkeys(map(_source, kept))), items=kept)


def _source(result: Mapping[str, Any]) -> Source:
    return Source(str(result.get("url") or ""), str(result.get("title") or ""))

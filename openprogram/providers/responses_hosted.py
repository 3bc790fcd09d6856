"""What the Responses API does by itself in an answer: searches, and the sources of its text. Pure.

Shapes: `ResponseFunctionWebSearch` and `AnnotationURLCitation` of the SDK's types.
"""

from collections.abc import Mapping
from typing import Any, Final

from openprogram.core.messages import HostedBlock, Source

_KEPT: Final = ("type", "id", "status", "action")


def searched(item: Mapping[str, Any]) -> HostedBlock:
    """A search; its sources are told where the request asks for them. It goes back as one item."""
    action = item.get("action")
    action = action if isinstance(action, dict) else {}
    asked = action.get("query") or action.get("url") or action.get("pattern") or ""
    listed = action.get("sources")
    sources = listed if isinstance(listed, list) else []
    error = "failed" if item.get("status") == "failed" else None
    kept = {name: item[name] for name in _KEPT if name in item}
    return HostedBlock("search", query=str(asked), sources=_sources(sources), error=error, items=(kept,))


def rests_on(content: object) -> HostedBlock | None:
    """Where a message's text comes from: its citations, which count the characters of one part."""
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    listed = parts[0].get("annotations") if len(parts) == 1 else None
    cited = [each for each in listed if each.get("type") == "url_citation"] if isinstance(listed, list) else []
    return HostedBlock("sources", sources=_sources(cited), items=tuple(cited)) if cited else None


def _sources(found: list[dict[str, Any]]) -> tuple[Source, ...]:
    named = (Source(str(each.get("url") or ""), str(each.get("title") or "")) for each in found)
    return tuple(dict.fromkeys(source for source in named if source.url))

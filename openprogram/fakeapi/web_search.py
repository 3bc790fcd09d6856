"""Searches that the provider makes itself: whether a request lets it, and how each API shows them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from openprogram.fakeapi.answer import Answer, Block, Page, WebFoundBlock, WebSearchBlock, decrypted, encrypted, joined
from openprogram.fakeapi.models import Api
from openprogram.fakeapi.response_tools import input_items
from openprogram.fakeapi.shapes import JsonObject, child, objects, parsed_arguments
from openprogram.fakeapi.tool_changes import available

KINDS: Final = ("web_search_20250305", "web_search_20260209", "web_search_20260318")
"""The kinds of the Messages API; those of Responses begin with `web_search`."""
_SNIPPET: Final = "About this page."


def offered(api: Api, body: JsonObject) -> bool:
    """Whether a valid request lets the provider search."""
    if api == "anthropic":
        declared = any(str(tool.get("type", "")).startswith("web_search_") for tool in available(body).values())
        return declared and child(body, "tool_choice").get("type") != "none"
    if api == "responses":
        added = (item.get("tools") for item in input_items(body) if item["type"] == "additional_tools")
        declared = any(_searches(tool) for tools in (body.get("tools"), *added) for tool in objects(tools))
        return declared and _lets(body.get("tool_choice"))
    return False


def _searches(tool: JsonObject) -> bool:
    return str(tool.get("type", "")).startswith("web_search")


def _lets(choice: Any) -> bool:
    if not isinstance(choice, dict):
        return bool(choice != "none")
    return choice.get("type") != "allowed_tools" or any(map(_searches, objects(choice.get("tools"))))


def without_searches(answer: Answer) -> tuple[Block, ...]:
    """What is left of an answer where the provider may not search: it cannot, whatever the script wants."""
    return tuple(block for block in answer.blocks if not isinstance(block, WebSearchBlock | WebFoundBlock))


def expanded(blocks: tuple[Block, ...]) -> Iterator[Block]:
    """The blocks as the Messages API has them: what a search found is a block of its own."""
    for block in blocks:
        yield block
        if isinstance(block, WebSearchBlock) and block.pages is not None:
            yield WebFoundBlock(str(block.id), block.pages)


def server_tool_use(block: WebSearchBlock, *, empty: bool = False) -> JsonObject:
    """A search in the Messages API; `empty` before its input has come."""
    given = {} if empty else parsed_arguments(joined(block.chunks))
    return {"type": "server_tool_use", "id": block.id, "name": "web_search", "input": given}


def search_result(block: WebFoundBlock) -> JsonObject:
    """What it found, each page with something that only this server can read."""
    content = [
        {"type": "web_search_result", "url": url, "title": title, "encrypted_content": sealed(url), "page_age": None}
        for url, title in block.pages
    ]
    return {"type": "web_search_tool_result", "tool_use_id": block.id, "content": content}


def citation(page: Page) -> JsonObject:
    """Where a text of the Messages API comes from."""
    url, title = page
    place = {"type": "web_search_result_location", "url": url, "title": title}
    return {**place, "encrypted_index": sealed(url), "cited_text": _SNIPPET}


def annotation(page: Page, length: int) -> JsonObject:
    """Where a text of Responses comes from: all its characters."""
    url, title = page
    return {"type": "url_citation", "start_index": 0, "end_index": length, "url": url, "title": title}


def search_call(block: WebSearchBlock, item_id: str, status: str, *, sources: bool) -> JsonObject:
    """A search in Responses; its sources where they were asked for."""
    action: JsonObject = {"type": "search", "query": block.query}
    if sources:
        action["sources"] = [{"type": "url", "url": url} for url, _ in block.pages or ()]
    return {"id": item_id, "type": "web_search_call", "status": status, "action": action}


def sealed(url: str) -> str:
    """What stands for a page's text, for this server to read again."""
    return encrypted(f"page {url}")


def is_sealed(content: object, url: object) -> bool:
    """Whether that was made here for this page."""
    return isinstance(content, str) and decrypted(content) == f"page {url}"

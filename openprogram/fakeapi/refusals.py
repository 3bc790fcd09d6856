"""Features that an endpoint stops taking: from a moment that a test chooses, requests that use them get 400.

So behave gateways that lack what the vendor's own API has, and endpoints that change their mind. The words are those
in which the API refuses what it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from openprogram.fakeapi.models import Api
from openprogram.fakeapi.response_tools import input_items
from openprogram.fakeapi.rules import openai_words as words
from openprogram.fakeapi.rules.base import Violation
from openprogram.fakeapi.shapes import JsonObject, objects, walk_messages
from openprogram.fakeapi.tool_changes import betas, changes, referenced

Find: TypeAlias = Callable[[JsonObject, Mapping[str, str]], Violation | None]


def _unknown_tag(where: str, kind: object, tags: str) -> Violation:
    return Violation(f"{where}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {tags}")


def _betas(body: JsonObject, headers: Mapping[str, str]) -> Violation | None:
    asked = sorted(betas(headers))
    if not asked:
        return None
    return Violation(
        f"Unexpected value(s) `{'`, `'.join(asked)}` for the `anthropic-beta` header. Please consult our documentation "
        "at platform.claude.com/docs/en/api/beta-headers or try again without the header."
    )


def _tool_changes(body: JsonObject, headers: Mapping[str, str]) -> Violation | None:
    for change in changes(body):
        return _unknown_tag(change.where, change.block["type"], "'text'")
    return None


def _inline_tools(body: JsonObject, headers: Mapping[str, str]) -> Violation | None:
    for change in changes(body):
        if change.definition is not None:
            return _unknown_tag(f"{change.where}.tool_addition.tool", "tool_definition", "'tool_reference'")
    return None


def _system_messages(body: JsonObject, headers: Mapping[str, str]) -> Violation | None:
    for index, message in enumerate(objects(body.get("messages"))):
        if message["role"] == "system":
            return Violation(f"messages.{index}: role 'system' is not supported on this model")
    return None


def _later_system_messages(body: JsonObject, headers: Mapping[str, str]) -> Violation | None:
    for message in objects(body.get("messages"))[1:]:
        if message["role"] in ("system", "developer"):
            return Violation("System message must be at the beginning.", code="template_error")
    return None


def _anthropic_deferred(body: JsonObject, headers: Mapping[str, str]) -> Violation | None:
    for index, tool in enumerate(objects(body.get("tools"))):
        if "defer_loading" in tool:
            return Violation(f"tools.{index}.custom.defer_loading: Extra inputs are not permitted")
    return None


def _tool_references(body: JsonObject, headers: Mapping[str, str]) -> Violation | None:
    for index, _, position, block in walk_messages(body):
        if referenced(block):
            where = f"messages.{index}.content.{position}.tool_result.content"
            return _unknown_tag(where, "tool_reference", "'document', 'image', 'search_result', 'text'")
    return None


def _items(*kinds: str) -> Find:
    def find(body: JsonObject, headers: Mapping[str, str]) -> Violation | None:
        for index, item in enumerate(input_items(body)):
            if item["type"] in kinds:
                known = ("message", "function_call", "function_call_output", "reasoning")
                return words.wrong_value(f"input[{index}].type", item["type"], known)
        return None

    return find


def _tool_search(body: JsonObject, headers: Mapping[str, str]) -> Violation | None:
    for index, tool in enumerate(objects(body.get("tools"))):
        if tool.get("type") == "tool_search":
            return words.wrong_value(f"tools[{index}].type", "tool_search", ("function", "custom", "web_search"))
    return _items("tool_search_call", "tool_search_output")(body, headers)


def _allowed_tools(body: JsonObject, headers: Mapping[str, str]) -> Violation | None:
    choice: Any = body.get("tool_choice")
    if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
        return words.wrong_value("tool_choice", "allowed_tools", ("none", "auto", "required"))
    return None


def _parameter(name: str) -> Find:
    def find(body: JsonObject, headers: Mapping[str, str]) -> Violation | None:
        return words.unsupported(name) if body.get(name) is not None else None

    return find


FEATURES: Final[dict[Api, dict[str, Find]]] = {
    "anthropic": {
        "betas": _betas,
        "tool_changes": _tool_changes,
        "inline_tools": _inline_tools,
        "system_messages": _system_messages,
        "deferred_tools": _anthropic_deferred,
        "tool_references": _tool_references,
    },
    "chat": {
        "system_messages": _later_system_messages,
        "allowed_tools": _allowed_tools,
        "tool_choice": _parameter("tool_choice"),
        "prompt_cache_key": _parameter("prompt_cache_key"),
        "prompt_cache_options": _parameter("prompt_cache_options"),
        "stream_options": _parameter("stream_options"),
    },
    "responses": {
        "additional_tools": _items("additional_tools"),
        "tool_search": _tool_search,
        "allowed_tools": _allowed_tools,
        "prompt_cache_key": _parameter("prompt_cache_key"),
        "prompt_cache_options": _parameter("prompt_cache_options"),
    },
}


def feature_names() -> list[str]:
    """Every feature of any API."""
    return sorted({name for features in FEATURES.values() for name in features})


@dataclass(frozen=True, slots=True)
class Refusing:
    """What is refused from now on; `model` limits it to one."""

    features: frozenset[str] = frozenset()
    model: str | None = None

    def refuse(
        self, api: Api, model: str, body: JsonObject, headers: Mapping[str, str]
    ) -> tuple[str, Violation] | None:
        """The first feature that a valid request uses although it is refused, with the error."""
        if self.model not in (None, model):
            return None
        for name, find in FEATURES[api].items():
            violation = find(body, headers) if name in self.features else None
            if violation is not None:
                return name, violation
        return None

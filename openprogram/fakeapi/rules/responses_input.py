"""OpenAI Responses: the input items (R30 to R43), and last of all the size of the prompt (R92)."""

from __future__ import annotations

from typing import Any, Final

from openprogram.fakeapi.answer import decrypted
from openprogram.fakeapi.response_tools import input_items
from openprogram.fakeapi.rules import openai_cache
from openprogram.fakeapi.rules import openai_words as words
from openprogram.fakeapi.rules.base import Facts, RuleTable, Violation
from openprogram.fakeapi.shapes import JsonObject, child, objects

TABLE: Final = RuleTable()

_REFERENCE: Final = "Responses reference"
_CALLING: Final = "Function calling"
_STATE: Final = "Conversation state"
_REQUIRED: Final[dict[str, dict[str, tuple[type, ...]]]] = {
    "message": {"role": (str,), "content": (str, list)},
    "function_call": {"call_id": (str,), "name": (str,), "arguments": (str,)},
    "function_call_output": {"call_id": (str,), "output": (str, list)},
    "custom_tool_call": {"call_id": (str,), "name": (str,), "input": (str,)},
    "custom_tool_call_output": {"call_id": (str,), "output": (str, list)},
    "reasoning": {"summary": (list,)},
    "additional_tools": {"role": (str,), "tools": (list,)},
    "tool_search_call": {"arguments": (dict, str)},
    "tool_search_output": {"tools": (list,)},
    "configuration_update": {},
    "item_reference": {"id": (str,)},
    "compaction": {"encrypted_content": (str,)},
    "web_search_call": {"id": (str,)},
    "file_search_call": {"id": (str,)},
    "image_generation_call": {"id": (str,)},
    "code_interpreter_call": {"id": (str,)},
}
_ROLES: Final = ("assistant", "system", "developer", "user")
_PARTS: Final = {True: ("output_text", "refusal"), False: ("input_text", "input_image", "input_file", "input_audio")}
_PREFIXES: Final = {
    "message": "msg",
    "function_call": "fc",
    "reasoning": "rs",
    "tool_search_call": "tsc",
    "tool_search_output": "tso",
    "web_search_call": "ws",
}
_ACTIONS: Final = ("search", "open_page", "find_in_page")
_OUTPUT_OF: Final = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "tool_search_call": "tool_search_output",
}
_SAID: Final = {
    "function_call": "function call",
    "custom_tool_call": "custom tool call",
    "tool_search_call": "tool search call",
}


@TABLE.rule("R30", "input is a string or a list of at least one object", _REFERENCE)
def _present(facts: Facts) -> Violation | None:
    given = facts.body.get("input")
    if given is None:
        return words.missing("input")
    if isinstance(given, str):
        return None
    if not isinstance(given, list) or len(objects(given)) != len(given):
        return words.wrong_type("input", "one of a string or array of input items")
    if not given:
        return Violation(
            "Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param="input",
            code="empty_array",
        )
    return None


@TABLE.rule("R31", "an item has a known type", _REFERENCE)
def _item_types(facts: Facts) -> Violation | None:
    for index, item in enumerate(input_items(facts.body)):
        if item["type"] not in _REQUIRED:
            return words.wrong_value(f"input[{index}].type", item["type"], _REQUIRED)
    return None


@TABLE.rule("R32", "an item has its type's fields", _REFERENCE)
def _fields(facts: Facts) -> Violation | None:
    for index, item in enumerate(input_items(facts.body)):
        for name, types in _REQUIRED[item["type"]].items():
            where = f"input[{index}].{name}"
            if item.get(name) is None:
                return words.missing(where)
            if not isinstance(item[name], types):
                return words.wrong_type(where, _article(types))
    return None


def _article(types: tuple[type, ...]) -> str:
    names: dict[type, str] = {str: "a string", list: "an array", dict: "an object"}
    return " or ".join(names[kind] for kind in types)


@TABLE.rule("R33", "a message's role is user, assistant, system or developer", _REFERENCE)
def _roles(facts: Facts) -> Violation | None:
    for index, item in enumerate(input_items(facts.body)):
        if item["type"] == "message" and item["role"] not in _ROLES:
            return words.wrong_value(f"input[{index}].role", item["role"], _ROLES)
    return None


@TABLE.rule("R34", "a content part has a type that its role may send", _REFERENCE)
def _parts(facts: Facts) -> Violation | None:
    for index, item in enumerate(input_items(facts.body)):
        name = "output" if item["type"].endswith("_output") else "content"
        answered = item["type"] == "message" and item["role"] == "assistant"
        for position, part in enumerate(_content(item.get(name))):
            where = f"input[{index}].{name}[{position}]"
            allowed = _PARTS[answered]
            if item["type"] != "reasoning" and part.get("type") not in allowed:
                return words.wrong_value(where, part.get("type"), allowed)
            if part.get("type") in ("input_text", "output_text") and not isinstance(part.get("text"), str):
                return words.missing(f"{where}.text")
    return None


def _content(value: Any) -> list[JsonObject]:
    """The parts of a content; what is no object stands for a part without type."""
    return [part if isinstance(part, dict) else {} for part in value] if isinstance(value, list) else []


@TABLE.rule("R35", "each call has its output", _CALLING)
def _answered(facts: Facts) -> Violation | None:
    items = input_items(facts.body)
    for kind, output in _OUTPUT_OF.items():
        answered = {str(item.get("call_id")) for item in items if item["type"] == output}
        for item in items:
            if item["type"] == kind and not _hosted(item) and str(item.get("call_id")) not in answered:
                return Violation(f"No tool output found for {_SAID[kind]} {item.get('call_id')}.", param="input")
    return None


@TABLE.rule("R36", "each output belongs to a call before it", _CALLING)
def _asked(facts: Facts) -> Violation | None:
    called: set[tuple[str, object]] = set()
    for item in input_items(facts.body):
        for kind, output in _OUTPUT_OF.items():
            if item["type"] == kind:
                called.add((kind, str(item.get("call_id"))))
            if item["type"] == output and not _hosted(item) and (kind, str(item.get("call_id"))) not in called:
                return Violation(
                    f"No tool call found for {_SAID[kind]} output with call_id {item.get('call_id')}.", param="input"
                )
    return None


def _hosted(item: JsonObject) -> bool:
    """Whether the provider ran a search itself: its call and output have no call_id."""
    return item["type"].startswith("tool_search") and item.get("execution") != "client"


@TABLE.rule("R37", "a call has one output, and its call_id is used once", _CALLING)
def _once(facts: Facts) -> Violation | None:
    seen: set[tuple[str, str]] = set()
    for index, item in enumerate(input_items(facts.body)):
        if item["type"] not in (*_OUTPUT_OF, *_OUTPUT_OF.values()) or item.get("call_id") is None:
            continue
        key = (item["type"], str(item["call_id"]))
        if key in seen:
            return Violation(f"Duplicate {item['type']} with call_id {item['call_id']}.", param=f"input[{index}]")
        seen.add(key)
    return None


@TABLE.rule("R38", "a reasoning item is followed by what it led to", "Reasoning models: keeping reasoning items")
def _followed(facts: Facts) -> Violation | None:
    items = input_items(facts.body)
    for item, after in zip(items, [*items[1:], None], strict=True):
        if item["type"] != "reasoning":
            continue
        user = after is None or (after["type"] == "message" and after["role"] != "assistant")
        if user or (after is not None and after["type"] in _OUTPUT_OF.values() and not _hosted(after)):
            return Violation(
                f"Item '{item.get('id')}' of type 'reasoning' was provided without its required following item.",
                param="input",
            )
    return None


@TABLE.rule("R39", "an item that is only named is stored (this server stores none)", _STATE)
def _stored(facts: Facts) -> Violation | None:
    for item in input_items(facts.body):
        bare = item["type"] == "reasoning" and not item.get("encrypted_content")
        if item["type"] == "item_reference" or bare:
            return Violation(
                f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false. "
                "Try again with `store` set to true, or remove this item from your input.",
                404,
                param="input",
            )
    return None


@TABLE.rule("R40", "encrypted reasoning comes back exactly as it was given out", _STATE)
def _encrypted(facts: Facts) -> Violation | None:
    for item in input_items(facts.body):
        if item["type"] != "reasoning":
            continue
        content = str(item["encrypted_content"])
        if decrypted(content) is None:
            return Violation(
                f"The encrypted content {content[:4]}... could not be verified. Reason: Encrypted content could not "
                "be decrypted or parsed.",
                code="invalid_encrypted_content",
            )
    return None


@TABLE.rule("R41", "an item's id, where given, begins with its type's letters", _REFERENCE)
def _ids(facts: Facts) -> Violation | None:
    for index, item in enumerate(input_items(facts.body)):
        prefix = _PREFIXES.get(item["type"])
        own = item["type"] != "message" or item["role"] == "assistant"
        if prefix and own and item.get("id") is not None and not str(item["id"]).startswith(prefix):
            where = f"input[{index}].id"
            return Violation(
                f"Invalid '{where}': '{item['id']}'. Expected an ID that begins with '{prefix}'.",
                param=where,
                code="invalid_value",
            )
    return None


@TABLE.rule(
    "R42",
    "additional_tools come from the developer, with models that know them (GPT-5.6 and later)",
    "Additional tools",
)
def _additional(facts: Facts) -> Violation | None:
    known = [kind for kind in _REQUIRED if kind != "additional_tools"]
    for index, item in enumerate(input_items(facts.body)):
        if item["type"] != "additional_tools":
            continue
        if not openai_cache.known(facts, "responses"):
            return words.wrong_value(f"input[{index}].type", "additional_tools", known)
        if item["role"] != "developer":
            return words.wrong_value(f"input[{index}].role", item["role"], ("developer",))
    return None


@TABLE.rule(
    "R43", "a prompt_cache_breakpoint is explicit, and stands on content that the client sends", "Prompt caching"
)
def _breakpoints(facts: Facts) -> Violation | None:
    for index, item in enumerate(input_items(facts.body)):
        if "prompt_cache_breakpoint" in item:
            return _unknown(f"input[{index}].prompt_cache_breakpoint")
        name = "output" if item["type"].endswith("_output") else "content"
        for position, part in enumerate(_content(item.get(name))):
            mark = part.get("prompt_cache_breakpoint")
            where = f"input[{index}].{name}[{position}].prompt_cache_breakpoint"
            if mark is None:
                continue
            if part["type"] in _PARTS[True] or not openai_cache.known(facts, "responses"):
                return _unknown(where)
            broken = openai_cache.breakpoint_at(where, mark)
            if broken is not None:
                return broken
    return None


@TABLE.rule("R44", "a web_search_call has a status and an action of a known type", "Web search")
def _web_searches(facts: Facts) -> Violation | None:
    for index, item in enumerate(input_items(facts.body)):
        if item["type"] != "web_search_call":
            continue
        if not isinstance(item.get("status"), str):
            return words.missing(f"input[{index}].status")
        kind = child(item, "action").get("type")
        if kind not in _ACTIONS:
            return words.wrong_value(f"input[{index}].action.type", kind, _ACTIONS)
    return None


def _unknown(where: str) -> Violation:
    return Violation(f"Unknown parameter: '{where}'.", param=where, code="unknown_parameter")


@TABLE.rule("R92", "the prompt fits the model's context window", "API errors: context_length_exceeded")
def _fits(facts: Facts) -> Violation | None:
    if facts.model is None or facts.rendering().size <= facts.model.context_window:
        return None
    return Violation(
        "Your input exceeds the context window of this model. Please adjust your input and try again.",
        param="input",
        code="context_length_exceeded",
    )

"""Anthropic Messages: the request's head and its parameters (A1 to A17, A90, A91)."""

from __future__ import annotations

from typing import Final

from openprogram.fakeapi.rules.base import Facts, RuleTable, Violation
from openprogram.fakeapi.rules.betas import BETAS, BINDING_CONTROLS
from openprogram.fakeapi.shapes import child, objects
from openprogram.fakeapi.tool_changes import betas, known

TABLE: Final = RuleTable()

MAX_BODY: Final = 32 * 1024 * 1024

_FIELDS: Final = frozenset(
    [
        "model",
        "messages",
        "max_tokens",
        "system",
        "tools",
        "tool_choice",
        "stream",
        "temperature",
        "top_p",
        "top_k",
        "stop_sequences",
        "metadata",
        "thinking",
        "service_tier",
        "cache_control",
        "container",
        "context_management",
        "mcp_servers",
        "betas",
        "output_config",
        "output_format",
        "inference_geo",
        "speed",
        "diagnostics",
        "thread",
        "fallbacks",
        "user_profile_id",
    ]
)


def _required(name: str) -> Violation:
    return Violation(f"{name}: Field required")


@TABLE.rule("A1", "a key is sent, and it is not a refused one", "API errors: authentication_error")
def _key(facts: Facts) -> Violation | None:
    bearer = facts.headers.get("authorization", "").removeprefix("Bearer ").strip()
    key = facts.headers.get("x-api-key") or bearer
    if not key:
        return Violation("x-api-key header is required", 401, "authentication_error")
    if key.startswith("bad"):
        return Violation("invalid x-api-key", 401, "authentication_error")
    return None


@TABLE.rule("A90", "the body has at most 32 MB", "API errors: request_too_large")
def _size(facts: Facts) -> Violation | None:
    if facts.size <= MAX_BODY:
        return None
    return Violation("Request exceeds the maximum size", 413, "request_too_large")


@TABLE.rule("A91", "the body is a JSON object", "API errors: invalid_request_error")
def _readable(facts: Facts) -> Violation | None:
    if facts.unreadable is None:
        return None
    return Violation(f"The request body is not valid JSON: {facts.unreadable}")


@TABLE.rule("A2", "the header anthropic-version is sent", "API versioning")
def _version(facts: Facts) -> Violation | None:
    if facts.headers.get("anthropic-version"):
        return None
    return Violation("anthropic-version: header is required")


@TABLE.rule("A3", "model is a string", "Messages API reference")
def _model(facts: Facts) -> Violation | None:
    if "model" not in facts.body:
        return _required("model")
    if not isinstance(facts.body["model"], str):
        return Violation("model: Input should be a valid string")
    return None


@TABLE.rule("A4", "the model exists", "API errors: not_found_error")
def _model_exists(facts: Facts) -> Violation | None:
    if facts.model is None:
        return Violation(f"model: {facts.body['model']}", 404, "not_found_error")
    return None


@TABLE.rule("A5", "max_tokens is given and within the model's maximum", "Messages API reference")
def _max_tokens(facts: Facts) -> Violation | None:
    if "max_tokens" not in facts.body:
        return _required("max_tokens")
    value = facts.body["max_tokens"]
    if not isinstance(value, int) or isinstance(value, bool):
        return Violation("max_tokens: Input should be a valid integer")
    if value < 0:
        return Violation("max_tokens: Input should be greater than or equal to 0")
    if facts.model is not None and value > facts.model.max_output:
        return Violation(
            f"max_tokens: {value} > {facts.model.max_output}, which is the maximum allowed number of "
            f"output tokens for {facts.model.id}"
        )
    return None


@TABLE.rule("A6", "no unknown parameter", "Messages API reference: extra inputs are rejected")
def _unknown_field(facts: Facts) -> Violation | None:
    unknown = [name for name in facts.body if name not in _FIELDS]
    return Violation(f"{unknown[0]}: Extra inputs are not permitted") if unknown else None


@TABLE.rule(
    "A7", "max_tokens 0 (prewarm) comes without stream, thinking or a forced tool", "Prompt caching: pre-warming"
)
def _prewarm(facts: Facts) -> Violation | None:
    body = facts.body
    if body["max_tokens"] != 0:
        return None
    forced = child(body, "tool_choice").get("type") in ("any", "tool")
    if body.get("stream") or _thinking_type(facts) not in (None, "disabled") or forced:
        return Violation("max_tokens: 0 is only supported without `stream`, `thinking` or a forced `tool_choice`")
    return None


@TABLE.rule("A8", "system is text: a string or text blocks", "Messages API reference")
def _system(facts: Facts) -> Violation | None:
    system = facts.body.get("system")
    if system is None or isinstance(system, str):
        return None
    blocks = objects(system)
    if not isinstance(system, list) or len(blocks) != len(system):
        return Violation("system: Input should be a valid list")
    for index, block in enumerate(blocks):
        if block.get("type") != "text":
            return Violation(f"system.{index}.type: Input should be 'text'")
        if not isinstance(block.get("text"), str):
            return _required(f"system.{index}.text")
    return None


@TABLE.rule("A9", "no system block is empty", "Messages API: text content blocks must be non-empty")
def _system_empty(facts: Facts) -> Violation | None:
    if any(block.get("text") == "" for block in objects(facts.body.get("system"))):
        return Violation("system: text content blocks must be non-empty")
    return None


@TABLE.rule("A10", "thinking has a known type, and a budget of at least 1,024 below max_tokens", "Extended thinking")
def _thinking(facts: Facts) -> Violation | None:
    thinking = facts.body.get("thinking")
    if thinking is None:
        return None
    if _thinking_type(facts) not in ("enabled", "disabled", "adaptive", "between_tools"):
        return Violation(
            "thinking: Input tag does not match any of the expected tags: "
            "'adaptive', 'between_tools', 'disabled', 'enabled'"
        )
    if thinking["type"] != "enabled":
        return None
    budget = thinking.get("budget_tokens")
    if not isinstance(budget, int):
        return _required("thinking.enabled.budget_tokens")
    if budget < 1024:
        return Violation("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
    if budget >= facts.body["max_tokens"]:
        return Violation(
            "`max_tokens` must be greater than `thinking.budget_tokens`. Please consult our "
            "documentation on extended thinking."
        )
    return None


@TABLE.rule("A11", "temperature is 1 or absent while thinking is enabled", "Extended thinking: compatibility")
def _temperature(facts: Facts) -> Violation | None:
    temperature = facts.body.get("temperature")
    if _thinking_type(facts) == "enabled" and temperature not in (None, 1, 1.0):
        return Violation("`temperature` may only be set to 1 when thinking is enabled.")
    return None


@TABLE.rule("A12", "tool_choice has a known type, and a named tool is declared", "Tool use")
def _tool_choice(facts: Facts) -> Violation | None:
    choice = facts.body.get("tool_choice")
    if choice is None:
        return None
    kind = choice.get("type") if isinstance(choice, dict) else None
    if kind not in ("auto", "any", "tool", "none"):
        return Violation(
            "tool_choice: Input tag does not match any of the expected tags: 'any', 'auto', 'none', 'tool'"
        )
    if kind != "tool":
        return None
    if choice.get("name") not in known(facts.body):
        return Violation(f"Tool '{choice.get('name')}' not found in provided tools")
    return None


@TABLE.rule("A13", "no forced tool while thinking is on", "Extended thinking: tool_choice any and tool are refused")
def _forced_with_thinking(facts: Facts) -> Violation | None:
    kind = child(facts.body, "tool_choice").get("type")
    if _thinking_type(facts) in ("enabled", "adaptive") and kind in ("any", "tool"):
        return Violation("Thinking may not be enabled when tool_choice forces tool use.")
    return None


def _thinking_type(facts: Facts) -> str | None:
    return child(facts.body, "thinking").get("type")


@TABLE.rule("A14", "output_config and metadata are objects", "Messages API reference")
def _objects(facts: Facts) -> Violation | None:
    for name in ("output_config", "metadata"):
        if not isinstance(facts.body.get(name) or {}, dict):
            return Violation(f"{name}: Input should be a valid dictionary")
    return None


@TABLE.rule("A15", "the header anthropic-beta names betas that exist", "API: beta headers")
def _betas(facts: Facts) -> Violation | None:
    unknown = sorted(betas(facts.headers) - BETAS)
    if not unknown:
        return None
    return Violation(
        f"Unexpected value(s) `{'`, `'.join(unknown)}` for the `anthropic-beta` header. Please consult our "
        "documentation at platform.claude.com/docs/en/api/beta-headers or try again without the header."
    )


@TABLE.rule(
    "A16", "thinking.block_binding is asked for by its beta header, and says error or drop_block", "Preserved thinking"
)
def _block_binding(facts: Facts) -> Violation | None:
    thinking = child(facts.body, "thinking")
    binding = thinking.get("block_binding")
    if binding is None:
        return None
    where = f"thinking.{thinking['type']}.block_binding"
    if BINDING_CONTROLS not in betas(facts.headers):
        return Violation(f"{where}: requires the `anthropic-beta: {BINDING_CONTROLS}` header")
    if not isinstance(binding, dict):
        return Violation(f"{where}: Input should be a valid dictionary")
    if binding.get("prefix_mismatch_behavior") not in (None, "error", "drop_block"):
        return Violation(f"{where}.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'")
    return None


@TABLE.rule("A17", "diagnostics names a previous message, or null for the first", "Cache diagnostics")
def _diagnostics(facts: Facts) -> Violation | None:
    diagnostics = facts.body.get("diagnostics")
    if diagnostics is None:
        return None
    if not isinstance(diagnostics, dict):
        return Violation("diagnostics: Input should be a valid dictionary")
    if not isinstance(diagnostics.get("previous_message_id"), str | None):
        return Violation("diagnostics.previous_message_id: Input should be a valid string")
    return None

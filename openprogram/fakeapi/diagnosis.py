"""Why a prompt was not read from the cache, as the APIs tell it that compare two requests.

The comparison is with the request that the client names by its answer's id. It says where the two requests first
differ, not what the cache did: an entry that has expired is no difference.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from openprogram.fakeapi.cache.segments import Prompt, common_tokens, prompt_size
from openprogram.fakeapi.models import Api
from openprogram.fakeapi.shapes import JsonObject, child, compact, objects, without

_MOST: Final = 1000


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as far as it matters for the next one: its prompt, and what else belongs to the prefix, by the
    reason that a change of it gives."""

    prompt: Prompt
    reasons: Mapping[str, str]


class Answers:
    """The newest thousand requests by the ids of their answers."""

    def __init__(self) -> None:
        self._asked: OrderedDict[str, Asked] = OrderedDict()

    def add(self, answer_id: str, asked: Asked) -> None:
        """Remember a request whose answer has begun."""
        self._asked[answer_id] = asked
        if len(self._asked) > _MOST:
            self._asked.popitem(last=False)

    def get(self, answer_id: str) -> Asked | None:
        """The request that was answered by that id."""
        return self._asked.get(answer_id)


def asked(api: Api, body: JsonObject, prompt: Prompt) -> Asked:
    """A request made comparable. The reasons are in the order in which they are looked at."""
    if api == "anthropic":
        tools = [without(t, "cache_control") for t in objects(body.get("tools")) if t.get("defer_loading") is not True]
        system = body.get("system")
        blocks = [{"text": system}] if isinstance(system, str) else objects(system)
        reasons = {
            "model_changed": compact([body["model"], body.get("speed")]),
            "tools_changed": compact(tools),
            "system_changed": compact([block.get("text") for block in blocks]),
        }
        return Asked(prompt, reasons)
    reasons = {
        "model_changed": str(body["model"]),
        "service_tier_changed": str(body.get("service_tier")),
        "prompt_cache_key_changed": str(body.get("prompt_cache_key")),
        "tools_changed": compact([t for t in objects(body.get("tools")) if t.get("defer_loading") is not True]),
        "text_format_changed": compact(child(body, "text").get("format")),
        "verbosity_changed": str(child(body, "text").get("verbosity")),
        "reasoning_effort_changed": str(child(body, "reasoning").get("effort")),
    }
    return Asked(prompt, reasons)


def diagnose(api: Api, body: JsonObject, now: Asked, answers: Answers) -> JsonObject | None:
    """What the API says about the cache, or `None` where it was not asked or has nothing to say."""
    if api == "anthropic":
        named = child(body, "diagnostics").get("previous_message_id")
        reason = _anthropic_reason(answers.get(named), now) if isinstance(named, str) else None
        return None if reason is None else {"cache_miss_reason": reason}
    named = child(body, "prompt_cache_options").get("comparison_response_id")
    return _openai_result(answers.get(named), now) if api == "responses" and isinstance(named, str) else None


def _anthropic_reason(before: Asked | None, now: Asked) -> JsonObject | None:
    if before is None:
        return {"type": "previous_message_not_found"}
    missed = prompt_size(before.prompt) - _common(before.prompt, now.prompt)
    changed = _changed(before, now)
    if changed is not None:
        return {"type": changed, "cache_missed_input_tokens": missed}
    if missed:
        return {"type": "messages_changed", "cache_missed_input_tokens": missed}
    # Only a parameter that adds no text can still differ.
    return None if _extends(before.prompt, now.prompt) else {"type": "unavailable"}


def _openai_result(before: Asked | None, now: Asked) -> JsonObject:
    if before is None:
        return {"type": "comparison_response_not_found"}
    common = _common(before.prompt, now.prompt)
    size = prompt_size(before.prompt)
    changed = _changed(before, now) or ("input_changed" if common < size else None)
    if changed is None:
        return {"type": "cache_hit"} if _extends(before.prompt, now.prompt) else {"type": "unavailable"}
    missed = size if changed != "input_changed" else size - common
    return {
        "type": "cache_miss",
        "reason": changed,
        "cache_missed_tokens": missed,
        "comparison_reusable_tokens": size,
    }


def _changed(before: Asked, now: Asked) -> str | None:
    return next((reason for reason, value in now.reasons.items() if before.reasons.get(reason) != value), None)


def _extends(before: Prompt, now: Prompt) -> bool:
    """Whether a prompt begins with an earlier one, parameters included."""
    return [segment.digest for segment in now[: len(before)]] == [segment.digest for segment in before]


def _common(before: Prompt, now: Prompt) -> int:
    """The common prefix in tokens, whatever the parameters."""
    shared = 0
    texts = ([segment for segment in prompt if segment.tokens] for prompt in (before, now))
    for left, right in zip(*texts, strict=False):
        if left.tokens != right.tokens:
            return shared + common_tokens(left.tokens, right.tokens)
        shared += left.size
    return shared

"""An answer of OpenAI's Responses API, event by event. Events and fields: `ResponseStreamEvent` of the SDK's types.

Compatible servers leave some out: items without deltas are read from the item's end, and an answer that is sent in one
piece from `response.completed`. Unknown events and items are passed over.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from openprogram.core.jsonio import canonical
from openprogram.core.messages import Block
from openprogram.core.prompt import Completed, ProviderEvent, StopReason
from openprogram.core.tooling import DISCOVERY_TOOL
from openprogram.core.usage import ProviderDiagnosis, Usage
from openprogram.providers import responses_hosted as hosted
from openprogram.providers.answer import Answer, OpenBlock
from openprogram.providers.faults import Cut, Declined, Garbled, Reported
from openprogram.providers.responses_prompt import signature_of
from openprogram.providers.sse import SseEvent
from openprogram.providers.wire import answer_id_of, count, object_in, read_chunk, string

_DONE: Final = b"[DONE]"
_TEXT: Final = ("response.output_text.delta", "response.refusal.delta")
_REASONING: Final = ("response.reasoning_summary_text.delta", "response.reasoning_text.delta")
_ENDINGS: Final = ("response.completed", "response.incomplete")


class ResponsesParser:
    """Implements `wire.Parser`. `taken` are the call ids of the history."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._answer = Answer(taken)
        self._calls: dict[int, OpenBlock] = {}
        self._reasoning: dict[int, OpenBlock] = {}
        self._begun: set[int] = set()
        self._filled: set[int] = set()
        self._declined_in_words = False
        self._searches = 0
        self._response: dict[str, Any] = {}
        self.done = False

    def feed(self, events: Iterable[SseEvent]) -> None:
        """Read these events. Raises `Garbled`, or `Reported` for an error among them."""
        for _, data in events:
            if data == _DONE:
                continue
            event = read_chunk(data)
            try:
                self._take(event)
            except (KeyError, TypeError, AttributeError) as error:
                raise Garbled(f"{event.get('type')} without {error}") from error

    def _take(self, event: dict[str, Any]) -> None:
        kind = event.get("type")
        if kind in _TEXT:
            self._text(event["output_index"], string(event["delta"]))
            self._declined_in_words |= kind == "response.refusal.delta"
        elif kind in _REASONING:
            self._think(event["output_index"], string(event["delta"]))
        elif kind == "response.reasoning_summary_part.added" and event["output_index"] in self._filled:
            self._think(event["output_index"], "\n\n")
        elif kind == "response.function_call_arguments.delta":
            self._arguments(event["output_index"], string(event["delta"]))
        elif kind == "response.output_item.added":
            self._begin(event["output_index"], event["item"])
        elif kind == "response.output_item.done":
            self._end(event["output_index"], event["item"])
        elif kind in _ENDINGS:
            self._finish(event["response"])
        elif kind == "response.failed":
            raise Reported(event["response"].get("error") or {"message": "the endpoint failed to answer"})
        elif kind == "error":
            raise Reported(event.get("error") or event)

    def _text(self, index: int, text: str) -> None:
        if text:
            self._filled.add(index)
            self._answer.text(text)

    def _think(self, index: int, text: str) -> None:
        if text:
            self._filled.add(index)
            self._reasoning[index] = self._answer.reasoning(text)

    def _arguments(self, index: int, text: str) -> None:
        if text and index in self._calls:
            self._filled.add(index)
            self._answer.arguments(self._calls[index], text)

    def _begin(self, index: int, item: dict[str, Any]) -> None:
        if index in self._begun:
            return
        self._begun.add(index)
        self._answer.end_block()
        if item["type"] == "function_call":
            self._calls[index] = self._answer.call(string(item["call_id"]), string(item["name"]))
        elif _is_our_search(item):
            self._calls[index] = self._answer.call(string(item["call_id"]), DISCOVERY_TOOL)

    def _end(self, index: int, item: dict[str, Any]) -> None:
        """The whole item; what no delta brought is taken from it."""
        self._begin(index, item)
        kind = item["type"]
        if kind == "function_call" and index not in self._filled:
            self._arguments(index, string(item["arguments"]))
        elif _is_our_search(item):
            self._arguments(index, canonical(item["arguments"]).decode())
        elif kind == "message":
            if index not in self._filled:
                for part in item["content"]:
                    self._declined_in_words |= part["type"] == "refusal"
                    self._text(index, string(part.get("text") or part.get("refusal") or ""))
            if (sources := hosted.rests_on(item.get("content"))) is not None:
                self._answer.hosted(sources)
        elif kind == "web_search_call":
            self._searches += 1
            self._answer.hosted(hosted.searched(item))
        elif kind == "reasoning":
            if index not in self._filled:
                self._think(index, "\n\n".join(string(part["text"]) for part in item.get("summary") or ()))
            if signature := signature_of(item):
                block = self._reasoning.get(index) or self._answer.reasoning("")
                block.signature = signature
        self._answer.end_block()

    def _finish(self, response: dict[str, Any]) -> None:
        for index, item in enumerate(response.get("output") or ()):
            if index not in self._begun:
                self._end(index, item)
        self._response = response
        self.done = True

    def take(self) -> list[ProviderEvent]:
        """The pieces since the last time."""
        return self._answer.take()

    def ending(self) -> Completed:
        """The whole answer. Raises `Cut` without `response.completed`, `Declined` where a filter stopped it."""
        if not self.done:
            raise Cut("the stream ended without response.completed")
        why = object_in(self._response, "incomplete_details").get("reason")
        if why == "content_filter":
            raise Declined
        reason: StopReason
        if self._response.get("status") == "incomplete":
            reason = "max_tokens"
        elif self._answer.has_calls:
            reason = "tool_use"
        else:
            reason = "refusal" if self._declined_in_words else "end_turn"
        blocks = self._answer.blocks(whole=reason != "max_tokens")
        usage = usage_of(object_in(self._response, "usage"))
        if self._searches:  # billed by the item, and not in the usage
            usage = replace(usage, searches=self._searches)
        return Completed(blocks, reason, usage, answer_id_of(self._response), self._diagnosis())

    def _diagnosis(self) -> ProviderDiagnosis | None:
        """What the API says of the cache, where it was asked; in a miss its reason says more than its type."""
        found = object_in(self._response, "prompt_cache_diagnostics")
        said = found.get("reason") or found.get("type")
        return ProviderDiagnosis(said, count(found.get("cache_missed_tokens"))) if isinstance(said, str) else None

    def counted(self) -> Usage:
        """Usage as told so far."""
        return usage_of(object_in(self._response, "usage"))

    def partial(self) -> tuple[tuple[Block, ...], Usage]:
        """What had arrived."""
        return self._answer.blocks(whole=False), self.counted()


def _is_our_search(item: dict[str, Any]) -> bool:
    """Whether a model searches by the API's own form for it, which `client_tool_search` has to declare."""
    return item["type"] == "tool_search_call" and item.get("execution") == "client"


def usage_of(usage: dict[str, Any]) -> Usage:
    """Canonical usage: here `input_tokens` is the whole prompt, with what was read from the cache and written to it.

    A write that is kept for 30 minutes is filed under the shorter lifetime, one for 12 hours under the longer.
    """
    details = object_in(usage, "input_tokens_details")
    read, written = count(details.get("cached_tokens")), count(details.get("cache_write_tokens"))
    long = count(object_in(details, "cache_write_tokens_details").get("ttl_12h_tokens"))
    prompt = count(usage.get("input_tokens"))
    return Usage(
        uncached=None if prompt is None else max(0, prompt - (read or 0) - (written or 0)),
        cache_read=read,
        cache_write_5m=None if written is None else written - (long or 0),
        cache_write_1h=long,
        output=count(usage.get("output_tokens")),
        reasoning=count(object_in(usage, "output_tokens_details").get("reasoning_tokens")),
    )

"""An answer of Anthropic's Messages API, event by event. Events and fields: `RawMessageStreamEvent` of the SDK's types.

Unknown events, blocks and deltas are passed over, as the API's versioning policy asks of clients.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import Block, HostedBlock
from openprogram.core.prompt import Completed, ProviderEvent, StopReason
from openprogram.core.usage import ProviderDiagnosis, Usage
from openprogram.providers import anthropic_hosted as hosted
from openprogram.providers.answer import Answer, OpenBlock
from openprogram.providers.faults import Cut, Declined, Garbled, Reported
from openprogram.providers.sse import SseEvent
from openprogram.providers.wire import answer_id_of, count, object_in, read_chunk, string

_STOP_REASONS: Final[dict[str, StopReason]] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "pause_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "model_context_window_exceeded": "max_tokens",
}


class AnthropicParser:
    """Implements `wire.Parser`. `taken` are the call ids of the history."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._answer = Answer(taken)
        self._calls: dict[int, OpenBlock] = {}
        self._thinking: OpenBlock | None = None
        self._searches: dict[int, tuple[dict[str, Any], list[str]]] = {}
        self._citations: list[JsonObject] = []
        self._message: dict[str, Any] = {}
        self._usage: dict[str, Any] = {}
        self._stop: str | None = None
        self._explanation: str | None = None
        self.done = False

    def feed(self, events: Iterable[SseEvent]) -> None:
        """Read these events. Raises `Garbled`, or `Reported` for an error among them."""
        for _, data in events:
            event = read_chunk(data)
            try:
                self._take(event)
            except (KeyError, TypeError, AttributeError) as error:
                raise Garbled(f"{event.get('type')} without {error}") from error

    def _take(self, event: JsonObject) -> None:
        data: dict[str, Any] = event
        match data.get("type"):
            case "content_block_delta":
                self._delta(data["index"], data["delta"])
            case "content_block_start":
                self._start(data["index"], data["content_block"])
            case "content_block_stop":
                self._answer.end_block()
                self._end_hosted(data.get("index", -1))
            case "message_start":
                self._message = data["message"]
                self._count(self._message.get("usage"))
            case "message_delta":
                self._message_delta(data["delta"])
                self._count(data.get("usage"))
            case "message_stop":
                self.done = True
            case "error":
                raise Reported(data["error"])
            case _:
                pass

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        kind = delta["type"]
        if kind == "text_delta":
            if text := string(delta["text"]):
                self._answer.text(text)
        elif kind == "input_json_delta":
            call, search = self._calls.get(index), self._searches.get(index)
            if call is not None:
                self._answer.arguments(call, string(delta["partial_json"]))
            elif search is not None:
                search[1].append(string(delta["partial_json"]))
        elif kind == "citations_delta":
            self._citations.append(delta["citation"])
        elif kind == "thinking_delta":
            if text := string(delta["thinking"]):
                self._thinking = self._answer.reasoning(text)
        elif kind == "signature_delta":
            if self._thinking is None:  # thinking whose text is not shown
                self._thinking = self._answer.reasoning("")
            self._thinking.signature = (self._thinking.signature or "") + string(delta["signature"])

    def _start(self, index: int, block: dict[str, Any]) -> None:
        self._answer.end_block()
        self._thinking = None
        kind = block["type"]
        if kind == "tool_use":
            self._calls[index] = self._answer.call(string(block["id"]), string(block["name"]))
        elif kind == "server_tool_use" and block.get("name") == "web_search":
            self._searches[index] = block, []
        elif kind == "web_search_tool_result":
            self._answer.hosted(hosted.found(block))
        elif kind == "redacted_thinking":
            self._answer.redacted(string(block["data"]))
        elif kind == "thinking":
            if text := string(block.get("thinking") or ""):
                self._thinking = self._answer.reasoning(text)
            if signature := block.get("signature"):
                self._thinking = self._thinking or self._answer.reasoning("")
                self._thinking.signature = string(signature)
        elif kind == "text" and (text := string(block.get("text") or "")):
            self._answer.text(text)

    def _end_hosted(self, index: int) -> None:
        """What can only be told once a block is whole: what was searched for, and where a text comes from."""
        if index in self._searches:
            self._answer.hosted(hosted.searched(*self._searches.pop(index)))
        elif self._citations:
            self._answer.hosted(hosted.rests_on(self._citations))
            self._citations = []

    def _message_delta(self, delta: dict[str, Any]) -> None:
        self._stop = string(delta["stop_reason"]) if delta.get("stop_reason") else self._stop
        details = delta.get("stop_details")
        if isinstance(details, dict):
            self._explanation = string(details.get("explanation") or details.get("category") or "")

    def _count(self, usage: dict[str, Any] | None) -> None:
        """Counts in `message_delta` are cumulative, and those it leaves out keep their value from `message_start`."""
        self._usage.update({name: value for name, value in (usage or {}).items() if value is not None})

    def take(self) -> list[ProviderEvent]:
        """The pieces since the last time."""
        return self._answer.take()

    def ending(self) -> Completed:
        """The whole answer. Raises `Cut` without `message_stop`, `Declined` where a filter stopped it."""
        if not self.done:
            raise Cut("the stream ended without message_stop")
        if self._stop is None:
            raise Cut("the message has no stop_reason")
        if self._stop == "refusal":
            raise Declined(self._explanation)
        reason = _STOP_REASONS.get(self._stop, "end_turn")
        blocks = self._answer.blocks(whole=reason != "max_tokens")
        if self._stop == "pause_turn":
            blocks += (HostedBlock("pause"),)
        return Completed(blocks, reason, usage_of(self._usage), answer_id_of(self._message), self._diagnosis())

    def _diagnosis(self) -> ProviderDiagnosis | None:
        """What the API says of the cache, where it was asked and found a difference."""
        reason = object_in(object_in(self._message, "diagnostics"), "cache_miss_reason")
        said = reason.get("type")
        missed = count(reason.get("cache_missed_input_tokens"))
        return ProviderDiagnosis(said, missed) if isinstance(said, str) else None

    def counted(self) -> Usage:
        """Usage as told so far. How much was said is told at the end: what `message_start` has there is no count."""
        usage = usage_of(self._usage)
        return usage if self._stop is not None else replace(usage, output=None, reasoning=None)

    def partial(self) -> tuple[tuple[Block, ...], Usage]:
        """What had arrived."""
        return self._answer.blocks(whole=False), self.counted()


def usage_of(usage: dict[str, Any]) -> Usage:
    """Canonical usage; the API's `input_tokens` are those neither read from nor written to the cache."""
    split = usage.get("cache_creation")
    long = count(split.get("ephemeral_1h_input_tokens")) if isinstance(split, dict) else None
    written = count(usage.get("cache_creation_input_tokens"))
    if written is None and isinstance(split, dict):
        short = count(split.get("ephemeral_5m_input_tokens"))
    else:
        short = None if written is None else written - (long or 0)
    details = usage.get("output_tokens_details")
    return Usage(
        uncached=count(usage.get("input_tokens")),
        cache_read=count(usage.get("cache_read_input_tokens")),
        cache_write_5m=short,
        cache_write_1h=long,
        output=count(usage.get("output_tokens")),
        reasoning=count(details.get("thinking_tokens")) if isinstance(details, dict) else None,
        searches=count(object_in(usage, "server_tool_use").get("web_search_requests")),
    )

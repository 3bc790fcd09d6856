"""An answer in the Chat Completions format, chunk by chunk, as OpenAI and everyone compatible sends it.

Tolerated, because servers in use do it: calls without id or index, all calls under index 0, a whole call in one chunk,
names repeated or empty after the first, arguments as an object, reasoning under three names, content as parts, usage in
every chunk or inside the choice, no `[DONE]`. Not tolerated: an end without a finish reason.
"""

from collections.abc import Iterable
from typing import Any, Final

from openprogram.core.jsonio import canonical
from openprogram.core.messages import Block
from openprogram.core.prompt import Completed, ProviderEvent, StopReason
from openprogram.core.usage import Usage
from openprogram.providers.answer import Answer, OpenBlock
from openprogram.providers.faults import Cut, Declined, Garbled, Reported
from openprogram.providers.sse import SseEvent
from openprogram.providers.wire import count, object_in, read_chunk, string

_DONE: Final = b"[DONE]"


class ChatParser:
    """Implements `wire.Parser`. `taken` are the call ids of the history."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._answer = Answer(taken)
        self._calls: dict[int, OpenBlock] = {}
        self._given_ids: dict[int, str] = {}
        self._usage: dict[str, Any] = {}
        self._timings: dict[str, Any] = {}
        self._finish: str | None = None
        self._declined_in_words = False
        self.done = False

    def feed(self, events: Iterable[SseEvent]) -> None:
        """Read these events. Raises `Garbled`, or `Reported` for an error among them."""
        for _, data in events:
            if data == _DONE:
                self.done = True
                continue
            chunk: dict[str, Any] = read_chunk(data)
            try:
                self._take(chunk)
            except (KeyError, TypeError, AttributeError, IndexError) as error:
                raise Garbled(f"a chunk of a shape that is not known: {error}") from error

    def _take(self, chunk: dict[str, Any]) -> None:
        choices = chunk.get("choices")
        if choices:
            choice = choices[0]
            delta = choice.get("delta")
            if delta:
                text = delta.get("content")
                if type(text) is str and text and len(delta) == 1:
                    self._answer.text(text)  # nearly every chunk
                else:
                    self._delta(delta)
            if choice.get("finish_reason"):
                self._finish = string(choice["finish_reason"])
            if choice.get("usage"):
                self._usage = object_in(choice, "usage")
        if chunk.get("usage"):
            self._usage = object_in(chunk, "usage")
        if chunk.get("timings"):
            self._timings = object_in(chunk, "timings")
        if chunk.get("error"):
            error = chunk["error"]
            raise Reported(error if isinstance(error, dict) else {"message": str(error)})

    def _delta(self, delta: dict[str, Any]) -> None:
        reasoning = delta.get("reasoning_content") or delta.get("reasoning") or delta.get("reasoning_text")
        if isinstance(reasoning, str):
            self._answer.reasoning(reasoning)
        content = delta.get("content")
        if isinstance(content, str):
            if content:
                self._answer.text(content)
        elif isinstance(content, list):
            self._parts(content)
        refusal = delta.get("refusal")
        if isinstance(refusal, str) and refusal:
            self._declined_in_words = True
            self._answer.text(refusal)
        for call in delta.get("tool_calls") or ():
            self._call(call)

    def _parts(self, parts: list[dict[str, Any]]) -> None:
        """Mistral's content parts: text, and thinking that is made of parts itself."""
        for part in parts:
            inner = part.get("thinking")
            if isinstance(inner, list):
                text = "".join(piece.get("text", "") for piece in inner)
                if text:
                    self._answer.reasoning(text)
            elif part.get("text"):
                self._answer.text(string(part["text"]))

    def _call(self, delta: dict[str, Any]) -> None:
        function = delta.get("function") or {}
        given_id, name = string(delta.get("id") or ""), string(function.get("name") or "")
        index = delta.get("index")
        if index is None:
            # Without an index a name begins a call, and what has none belongs to the newest one.
            newest = max(self._calls, default=-1)
            begins = newest < 0 or (name and not (given_id and given_id == self._given_ids[newest]))
            index = newest + 1 if begins else newest
        block = self._calls.get(index)
        if block is not None and name and block.name and given_id and given_id != self._given_ids[index]:
            index = max(self._calls) + 1  # another call under the same index
            block = None
        if block is None:
            block = self._calls[index] = self._answer.call(given_id, name)
            self._given_ids[index] = given_id
        elif name and not block.name:
            block.name = name
        arguments = function.get("arguments")
        if arguments:
            self._answer.arguments(block, arguments if isinstance(arguments, str) else canonical(arguments).decode())

    def take(self) -> list[ProviderEvent]:
        """The pieces since the last time."""
        return self._answer.take()

    def ending(self) -> Completed:
        """The whole answer. Raises `Cut` without a finish reason, `Declined` where a filter stopped it."""
        if self._finish is None:
            raise Cut("the stream ended without a finish reason")
        if self._finish == "content_filter":
            raise Declined
        if self._finish == "error":
            raise Reported({"message": "the endpoint ended the answer with an error"})
        reason: StopReason
        if self._finish in ("length", "max_tokens", "model_length"):
            reason = "max_tokens"
        elif self._answer.has_calls:
            reason = "tool_use"
        else:
            reason = "refusal" if self._declined_in_words else "end_turn"
        blocks = self._answer.blocks(whole=reason != "max_tokens")
        return Completed(blocks, reason, usage_of(self._usage, self._timings))

    def counted(self) -> Usage:
        """Usage as told so far."""
        return usage_of(self._usage, self._timings)

    def partial(self) -> tuple[tuple[Block, ...], Usage]:
        """What had arrived."""
        return self._answer.blocks(whole=False), self.counted()


def usage_of(usage: dict[str, Any], timings: dict[str, Any]) -> Usage:
    """Canonical usage: here `prompt_tokens` is the whole prompt, and each family counts its cached part elsewhere.

    OpenAI, vLLM, SGLang and llama.cpp in `prompt_tokens_details`, DeepSeek in `prompt_cache_hit_tokens`, Kimi in
    `cached_tokens`, llama.cpp besides in `timings`. OpenAI's two lifetimes are filed as the shorter and the longer one.
    """
    details = object_in(usage, "prompt_tokens_details")
    candidates = (
        details.get("cached_tokens"),
        usage.get("prompt_cache_hit_tokens"),
        usage.get("cached_tokens"),
        timings.get("cache_n"),
    )
    read = next((found for value in candidates if (found := count(value)) is not None), None)
    written = count(details.get("cache_write_tokens"))
    long = count(object_in(details, "cache_write_tokens_details").get("ttl_12h_tokens"))
    if written is None and long is not None:
        written = long + (count(object_in(details, "cache_write_tokens_details").get("ttl_30m_tokens")) or 0)
    prompt = count(usage.get("prompt_tokens"))
    uncached = count(timings.get("prompt_n")) if prompt is None else max(0, prompt - (read or 0) - (written or 0))
    output = count(usage.get("completion_tokens"))
    return Usage(
        uncached=uncached,
        cache_read=read,
        cache_write_5m=None if written is None else written - (long or 0),
        cache_write_1h=long,
        output=count(timings.get("predicted_n")) if output is None else output,
        reasoning=count(object_in(usage, "completion_tokens_details").get("reasoning_tokens")),
    )

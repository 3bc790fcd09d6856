"""Each request of a recorded conversation extends the one before it (end of spec cache.md C22), as a check.

Compared is what a provider's prefix cache is made of: the declared tools, the system prompt and the history, each of
which may only grow at its end, the newest text of a person included: where the sides have to take turns, what is said
next continues it. Cache marks and tools whose loading is deferred are no part of it. Requests that were
refused have cached nothing and are passed over.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

_UNCACHED = frozenset({"cache_control", "prompt_cache_breakpoint"})
_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Piece:
    """One unit of a request with its own bytes, and where it stands."""

    place: str
    text: str
    answer: bool = False
    said: str = ""
    """The text of a message that is nothing but a person's text."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is cached of one request."""

    number: int
    stream: tuple[str, ...]
    """What tells one cache from another: the wire format, the model, and the chat's key where the API has one."""
    parts: tuple[tuple[Piece, ...], ...]
    """Tools, system, history."""

    @property
    def goes_on(self) -> bool:
        """Whether it holds an answer: else a conversation begins."""
        return any(piece.answer for piece in self.parts[2])

    def common(self, other: "Prompt") -> int:
        """How many leading pieces of the history are the same."""
        return sum(1 for _ in _same(self.parts[2], other.parts[2]))

    def moved(self, before: "Prompt") -> str | None:
        """Where this request first differs from the end of a request before it; None where it extends it."""
        for old, new in zip(before.parts, self.parts, strict=True):
            kept = sum(1 for _ in _same(old, new))
            if (
                kept == len(old) - 1
                and kept < len(new)
                and old[kept].said
                and new[kept].said.startswith(old[kept].said)
            ):
                continue
            if kept < len(old):
                now = new[kept].text if kept < len(new) else "(nothing)"
                return f"request {self.number} does not extend request {before.number}: {_difference(old[kept], now)}"
        return None


def broken(records: Sequence[dict[str, Any]]) -> list[str]:
    """The places where a request does not extend the one before it in its stream."""
    found: list[str] = []
    streams: dict[tuple[str, ...], list[Prompt]] = {}
    for prompt in prompts(records):
        last = streams.setdefault(prompt.stream, [])
        extended = [known for known in last if prompt.moved(known) is None]
        before = max(extended or last, key=prompt.common, default=None)
        if before is not None and not extended:
            # Where the API has no key for a chat, its first message tells it, and an answer that it goes on.
            same_chat = bool(prompt.stream[2]) or (prompt.goes_on and prompt.common(before) > 0)
            place = prompt.moved(before)
            if same_chat and place is not None:
                found.append(place)
            else:
                before = None
        if before is not None:
            last.remove(before)
        last.append(prompt)
    return found


def prompts(records: Sequence[dict[str, Any]]) -> Iterator[Prompt]:
    """The accepted model requests among a fake API's records."""
    for record in records:
        body = record["body"]
        if record["status"] != 200 or record["cache"] is None or not isinstance(body, dict):
            continue
        key = body.get("prompt_cache_key") or body.get("metadata", {}).get("user_id") or ""
        parts = tuple(map(tuple, _PARTS[record["api"]](body)))
        yield Prompt(record["number"], (record["api"], str(body["model"]), str(key)), parts)


def _messages_api(body: dict[str, Any]) -> tuple[Iterator[Piece], ...]:
    def history() -> Iterator[Piece]:
        for at, message in enumerate(body["messages"]):
            for number, block in enumerate(_blocks(message["content"])):
                yield _piece(f"messages[{at}].content[{number}]", [message["role"], block], message["role"])

    tools = [tool for tool in body.get("tools", ()) if not tool.get("defer_loading")]
    return _pieces("tools", tools), _pieces("system", _blocks(body.get("system", ()))), history()


def _chat_completions(body: dict[str, Any]) -> tuple[Iterator[Piece], ...]:
    messages = body["messages"]
    heads = ("system", "developer")
    start = next((at for at, message in enumerate(messages) if message["role"] not in heads), len(messages))
    return _pieces("tools", body.get("tools", ())), _pieces("messages", messages[:start]), _items(messages, start)


def _responses(body: dict[str, Any]) -> tuple[Iterator[Piece], ...]:
    tools = [tool for tool in body.get("tools", ()) if not tool.get("defer_loading")]
    items = body["input"] if isinstance(body["input"], list) else [{"role": "user", "content": body["input"]}]
    return _pieces("tools", tools), _pieces("instructions", [body.get("instructions")]), _items(items, 0)


_PARTS = {"anthropic": _messages_api, "chat": _chat_completions, "responses": _responses}
_OF_THE_MODEL = frozenset({"assistant", "function_call", "reasoning", "tool_search_call"})


def _items(items: Sequence[dict[str, Any]], start: int) -> Iterator[Piece]:
    for at, item in enumerate(items[start:], start):
        yield _piece(f"messages[{at}]", item, str(item.get("role") or item.get("type")))


def _pieces(name: str, values: Sequence[Any]) -> Iterator[Piece]:
    return (_piece(f"{name}[{at}]", value, "") for at, value in enumerate(values))


def _piece(place: str, value: Any, role: str) -> Piece:
    content = value.get("content") if role == "user" and isinstance(value, dict) else None
    said = content if isinstance(content, str) else ""
    return Piece(place, orjson.dumps(_unmarked(value)).decode(), role in _OF_THE_MODEL, said)


def _blocks(content: str | Sequence[Any]) -> Sequence[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _unmarked(item) for key, item in value.items() if key not in _UNCACHED}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def _same(old: Sequence[Piece], new: Sequence[Piece]) -> Iterator[tuple[Piece, Piece]]:
    for before, after in zip(old, new, strict=False):
        if before.text != after.text:
            return
        yield before, after


def _difference(old: Piece, now: str) -> str:
    byte = next(
        (at for at, (a, b) in enumerate(zip(old.text, now, strict=False)) if a != b), min(len(old.text), len(now))
    )
    start = max(0, byte - 40)
    return (
        f"{old.place}, character {byte}\n  was {old.text[start : start + _SHOWN]}\n  is  {now[start : start + _SHOWN]}"
    )

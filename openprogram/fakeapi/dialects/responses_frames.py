"""OpenAI Responses: an answer as a stream of numbered events."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import orjson

from openprogram.fakeapi.answer import (
    Block,
    TextBlock,
    ThinkingBlock,
    ToolUseBlock,
    WebFoundBlock,
    WebSearchBlock,
    joined,
)
from openprogram.fakeapi.dialects.base import Exchange, Frame
from openprogram.fakeapi.dialects.responses_items import (
    Part,
    is_client_search,
    item,
    items,
    parts,
    response_object,
    summary_part,
    text_part,
)
from openprogram.fakeapi.shapes import JsonObject, json_string


def frames(exchange: Exchange) -> Iterator[Frame]:
    """created and in_progress, each item from `added` to `done` with its deltas between, and the end."""
    events = _Events()
    began = response_object(exchange, [], ended=False)
    yield Frame(events.event("response.created", response=began), exchange.answer.hold)
    yield Frame(events.event("response.in_progress", response=began))
    finished = items(exchange)
    for part in parts(exchange):
        added = item(exchange, part, "in_progress")
        yield Frame(events.event("response.output_item.added", output_index=part.index, item=added))
        yield from _content(events, exchange, part)
        done = finished[part.index]
        yield Frame(events.event("response.output_item.done", output_index=part.index, item=done))
    ended = response_object(exchange, finished, ended=True)
    yield Frame(events.event(f"response.{ended['status']}", response=ended))


class _Events:
    """Writes events and counts them."""

    def __init__(self) -> None:
        self._numbers = count()

    def event(self, name: str, /, **data: object) -> bytes:
        """One event in bytes."""
        body: JsonObject = {"type": name, "sequence_number": next(self._numbers), **data}
        return b"event: %b\ndata: %b\n\n" % (name.encode(), orjson.dumps(body))

    def deltas(self, name: str, block: Block, places: JsonObject) -> Iterator[Frame]:
        """The chunks of a block. All but the text is written once: thousands are sent a second."""
        head = b'event: %b\ndata: {"type":"%b",%b,"sequence_number":' % (
            name.encode(),
            name.encode(),
            orjson.dumps(places)[1:-1],
        )
        for chunk in block.chunks:
            data = b'%b%d,"delta":%b}\n\n' % (head, next(self._numbers), json_string(chunk.text))
            yield Frame(data, chunk.hold, True)


def _content(events: _Events, exchange: Exchange, part: Part) -> Iterator[Frame]:
    block = part.block
    match block:
        case None:
            return
        case TextBlock():
            yield from _text(events, part, block)
        case ThinkingBlock() if exchange.show_thinking:
            yield from _summary(events, part, block)
        case ToolUseBlock() if not is_client_search(exchange, block):
            places: JsonObject = {"item_id": part.id, "output_index": part.index}
            name = "response.function_call_arguments"
            yield from events.deltas(f"{name}.delta", block, {**places, "obfuscation": ""})
            yield Frame(events.event(f"{name}.done", **places, arguments=joined(block.chunks)))
        case WebSearchBlock():
            places = {"item_id": part.id, "output_index": part.index}
            yield Frame(events.event("response.web_search_call.in_progress", **places))
            yield Frame(events.event("response.web_search_call.searching", **places))
            for chunk in block.chunks:
                yield Frame(b"", chunk.hold, True)
            yield Frame(events.event("response.web_search_call.completed", **places))
        case ThinkingBlock() | ToolUseBlock() | WebFoundBlock():
            # Nothing is seen of it, but it takes its time, and holds and faults find their place in it.
            for chunk in block.chunks:
                yield Frame(b"", chunk.hold, True)


def _text(events: _Events, part: Part, block: TextBlock) -> Iterator[Frame]:
    places: JsonObject = {"item_id": part.id, "output_index": part.index, "content_index": 0}
    text = joined(block.chunks)
    yield Frame(events.event("response.content_part.added", **places, part=text_part("")))
    yield from events.deltas("response.output_text.delta", block, {**places, "logprobs": []})
    done = text_part(text, block)
    for number, cited in enumerate(done["annotations"]):
        name = "response.output_text.annotation.added"
        yield Frame(events.event(name, **places, annotation_index=number, annotation=cited))
    yield Frame(events.event("response.output_text.done", **places, text=text, logprobs=[]))
    yield Frame(events.event("response.content_part.done", **places, part=done))


def _summary(events: _Events, part: Part, block: ThinkingBlock) -> Iterator[Frame]:
    places: JsonObject = {"item_id": part.id, "output_index": part.index, "summary_index": 0}
    text = joined(block.chunks)
    name = "response.reasoning_summary"
    yield Frame(events.event(f"{name}_part.added", **places, part=summary_part("")))
    yield from events.deltas(f"{name}_text.delta", block, places)
    yield Frame(events.event(f"{name}_text.done", **places, text=text))
    yield Frame(events.event(f"{name}_part.done", **places, part=summary_part(text)))

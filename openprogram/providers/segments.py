"""Fingerprints of a request, one per unit that has bytes of its own (spec cache.md C18). Pure.

A message's digest covers what is sent of it, in the neutral form from which the wire format is written: what only the
interface sees (`display`) or what stays behind (another model's reasoning, blank text) is not in it. So within one
endpoint and release equal digests are equal bytes on the wire, whichever format it speaks; the golden requests pin the
step from there to the wire.
"""

from collections.abc import Iterable, Mapping
from typing import assert_never

from openprogram.core.jsonio import JsonObject, JsonValue, digest
from openprogram.core.messages import (
    HostedBlock,
    ImageBlock,
    Message,
    ReasoningBlock,
    ResultPart,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from openprogram.core.prompt import ProviderRequest, Segment
from openprogram.core.surface import Delta
from openprogram.providers.history import Item, Keep, arrange, in_results, keep_bound


def segments(request: ProviderRequest) -> tuple[Segment, ...]:
    """Tools by name, system blocks by number, messages by id, changes of the tools by the id of the message that they
    stand behind, in the order in which they are sent. A deferred tool is part of what refers to it."""
    tools = [Segment("tool", str(tool["name"]), digest(tool)) for tool in request.tools]
    system = [Segment("system", str(number), digest(text)) for number, text in enumerate(request.system)]
    return (*tools, *system, *_messages(request))


def _messages(request: ProviderRequest) -> Iterable[Segment]:
    sent: dict[int, list[Item]] = {}
    keep = keep_bound(request, _same_model(request.model))
    for turn in arrange(request.messages, keep, request.deltas):
        for item in turn.items:
            sent.setdefault(item.source, []).append(item)
    deferred = {str(tool["name"]): tool for tool in request.deferred}
    placed = in_results(request.deltas)
    for source in sorted(sent):
        if source >= len(request.messages):
            continue
        message, parts, changes = request.messages[source], list[JsonValue](), list[Delta]()
        for item in sent[source]:
            match item.block:
                case Delta():
                    changes.append(item.block)
                case ToolResultBlock(call_id) if call_id in placed:
                    parts.append([_canonical(item), _change(placed[call_id], deferred)])
                case _:
                    parts.append(_canonical(item))
        if parts:
            yield Segment("message", message.id, digest([_side(message), parts]))
        for change in changes:
            yield Segment("delta", message.id, digest(_change(change, deferred)))


def _change(delta: Delta, deferred: Mapping[str, JsonObject]) -> JsonValue:
    referenced: list[JsonValue] = [[name, deferred.get(name)] for name in delta.referenced]
    return [list(delta.defined), referenced, list(delta.withdrawn), delta.text]


def _side(message: Message) -> str:
    return "assistant" if message.role == "assistant" else "user"


def _same_model(model: str) -> Keep:
    def keep(message: Message, block: ReasoningBlock | HostedBlock) -> bool:
        made_here = message.model is not None and message.model.partition("/")[2] == model
        proven = isinstance(block, HostedBlock) or block.signature is not None or block.redacted is not None
        return made_here and proven

    return keep


def _part(part: ResultPart) -> JsonValue:
    match part:
        case TextBlock(text):
            return text
        case ImageBlock(media_type, data):
            return ["image", media_type, data]
        case _:
            assert_never(part)


def _canonical(item: Item) -> JsonValue:
    block = item.block
    match block:
        case TextBlock(text):
            return ["text", text, list(item.sources)] if item.sources else ["text", text]
        case HostedBlock():
            return ["hosted", list(block.items)]
        case Delta():
            raise TypeError("a change of the tools has a segment of its own")
        case ReasoningBlock(text, signature, redacted):
            return ["reasoning", text, signature, redacted]
        case ToolUseBlock(call_id, name, arguments, bridged):
            return ["call", call_id, name, arguments, "bridged"] if bridged else ["call", call_id, name, arguments]
        case ToolResultBlock(call_id, status, content):
            return ["result", call_id, status == "ok", [_part(part) for part in content]]
        case _:
            assert_never(block)

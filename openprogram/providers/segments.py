"""Fingerprints of a request, one per unit that has bytes of its own (spec cache.md C18). Pure.

A message's digest covers what is sent of it, in the neutral form from which the wire format is written: what only the
interface sees (`display`) or what stays behind (another model's reasoning, blank text) is not in it. So within one
endpoint and release equal digests are equal bytes on the wire, whichever format it speaks; the golden requests pin the
step from there to the wire.
"""

from collections.abc import Iterable
from typing import assert_never

from openprogram.core.jsonio import JsonValue, digest
from openprogram.core.messages import (
    Block,
    ImageBlock,
    Message,
    ReasoningBlock,
    ResultPart,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from openprogram.core.prompt import ProviderRequest, Segment
from openprogram.providers.history import Item, Keep, arrange


def segments(request: ProviderRequest) -> tuple[Segment, ...]:
    """Tools by name, system blocks by number, messages by id, in the order in which they are sent."""
    tools = [Segment("tool", str(tool["name"]), digest(tool)) for tool in request.tools]
    system = [Segment("system", str(number), digest(text)) for number, text in enumerate(request.system)]
    return (*tools, *system, *_messages(request))


def _messages(request: ProviderRequest) -> Iterable[Segment]:
    sent: dict[int, list[Item]] = {}
    for turn in arrange(request.messages, _same_model(request.model)):
        for item in turn.items:
            sent.setdefault(item.source, []).append(item)
    for source in sorted(sent):
        if source < len(request.messages):
            parts: list[JsonValue] = [_canonical(item.block) for item in sent[source]]
            yield Segment("message", request.messages[source].id, digest([_side(request.messages[source]), parts]))


def _side(message: Message) -> str:
    return "assistant" if message.role == "assistant" else "user"


def _same_model(model: str) -> Keep:
    def keep(message: Message, block: ReasoningBlock) -> bool:
        made_here = message.model is not None and message.model.partition("/")[2] == model
        return made_here and (block.signature is not None or block.redacted is not None)

    return keep


def _part(part: ResultPart) -> JsonValue:
    match part:
        case TextBlock(text):
            return text
        case ImageBlock(media_type, data):
            return ["image", media_type, data]
        case _:
            assert_never(part)


def _canonical(block: Block) -> JsonValue:
    match block:
        case TextBlock(text):
            return ["text", text]
        case ReasoningBlock(text, signature, redacted):
            return ["reasoning", text, signature, redacted]
        case ToolUseBlock(call_id, name, arguments):
            return ["call", call_id, name, arguments]
        case ToolResultBlock(call_id, status, content):
            return ["result", call_id, status == "ok", [_part(part) for part in content]]
        case _:
            assert_never(block)

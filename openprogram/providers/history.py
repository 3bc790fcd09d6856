"""From a chat's history to turns that every model API accepts, whatever the history holds.

User and assistant take turns, beginning and ending with the user. Each call is answered at the start of the very next
user turn, once, in the order of the calls (design law 7). A change of the tools in mid-history stands between a user
turn and an answer, in a turn of its own (spec cache.md C7). The result is neutral: `anthropic_prompt` and `chat_prompt`
write it down in their wire formats, `segments` fingerprints it.
"""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeGuard

from openprogram.core.jsonio import JsonObject, digest
from openprogram.core.messages import (
    Block,
    HostedBlock,
    ImageBlock,
    Message,
    ReasoningBlock,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)
from openprogram.core.prompt import ProviderRequest
from openprogram.core.surface import BRIDGE_NAME, Delta

Keep = Callable[[Message, ReasoningBlock | HostedBlock], bool]
"""Whether a block that only its maker understands may go back to the endpoint at hand."""

OPENING: Final = "(The beginning of this conversation is not shown.)"
"""Stands before a history that begins with an answer."""
CONTINUE: Final = "Continue."
"""Stands after an answer that is to be written on: no current API does that by itself. It stays where it was sent."""
NO_ANSWER: Final = "(No answer.)"
"""Stands between a change of the tools and what the user says next, where the answer that should is empty."""
NO_RESULT: Final = "No result was recorded for this call."
_NOT_NAME: Final = re.compile(r"[^a-zA-Z0-9_-]")


Role = Literal["user", "assistant", "system"]


@dataclass(frozen=True, slots=True)
class Item:
    """A block to be sent, and the place in the history of the message it comes from, or that it stands behind."""

    source: int
    block: Block | Delta
    sources: tuple[JsonObject, ...] = ()
    """Where the provider took its text from, in its own form."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side says until the other one speaks; a `system` turn holds the changes of the tools between them."""

    role: Role
    items: tuple[Item, ...]


def arrange(messages: Sequence[Message], keep: Keep, deltas: Iterable[Delta] = ()) -> tuple[Turn, ...]:
    """The history as alternating turns. Pure: the same messages give the same turns, for ever.

    Blank text is left out, results without a call too; a call without a result gets one that says so. Reasoning goes
    where `keep` allows, but never at the end of a message, where no API accepts it. A delta that stands inside a result
    is its adapter's matter, one behind a message that is not there is left out.
    """
    arranger = _Arranger(messages)
    hosted = [block for each in messages for block in each.blocks if isinstance(block, HostedBlock)]
    whole = {block.hosted_id for block in hosted if block.kind == "search"}
    whole &= {block.hosted_id for block in hosted if block.kind == "found"}
    changes: dict[str, list[Delta]] = {}
    for delta in deltas:
        if delta.call_id is None:
            changes.setdefault(delta.after, []).append(delta)
    for index, message in enumerate(messages):
        if message.role == "assistant":
            last = index == len(messages) - 1
            arranger.answer(index, _sendable(message, keep, whole, unfinished=last))
            arranger.paused = _pauses(message, keep)
        else:
            arranger.user(index, [block for block in message.blocks if _has_text(block)])
        if message.id in changes:
            arranger.change(index, changes[message.id])
    return arranger.finish()


def in_results(deltas: Iterable[Delta]) -> Mapping[str, Delta]:
    """The deltas that stand inside results, by the id of the call."""
    return {delta.call_id: delta for delta in deltas if delta.call_id is not None}


def keep_bound(request: ProviderRequest, keep: Keep) -> Keep:
    """`keep` for the reasoning that is still bound to what stands before it; older reasoning stays behind.

    A branch that does not have the first answer since the change has those that were made before it and after it: ids
    sort by the time they were made.
    """
    ids = [message.id for message in request.messages]
    since, after = request.thinking_since, request.thinking_after
    if since is not None:
        old = ids[: ids.index(since)] if since in ids else [one for one in ids if one < since]
    elif after in ids:
        old = ids[: ids.index(after) + 1]
    else:
        return keep
    gone = frozenset(old)

    def kept(message: Message, block: ReasoningBlock | HostedBlock) -> bool:
        return (isinstance(block, HostedBlock) or message.id not in gone) and keep(message, block)

    return kept


def own_reasoning(model_id: str) -> Keep:
    """Reasoning that `model_id` (`endpoint/model`) made and can prove, and what it did by itself; any other model's is
    left out (C14)."""

    def keep(message: Message, block: ReasoningBlock | HostedBlock) -> bool:
        proven = isinstance(block, HostedBlock) or block.signature is not None or block.redacted is not None
        return message.model == model_id and proven

    return keep


def sent_name(name: str) -> str:
    """A tool's name in the alphabet of all APIs: a model may have called one that does not exist by a name that the
    API then refuses in the history."""
    return _NOT_NAME.sub("_", name)[:64] or "unknown"


def as_called(call: ToolUseBlock) -> ToolUseBlock:
    """A call as the model made it, with a name that every API takes."""
    if call.bridged:
        return replace(call, name=BRIDGE_NAME, arguments={"name": call.name, "arguments": call.arguments})
    return replace(call, name=sent_name(call.name))


def short_call_id(call_id: str, chars: int) -> str:
    """Short enough for the endpoint; the same id always becomes the same one."""
    return call_id if len(call_id) <= chars else digest(call_id)[:chars]


def image_note(image: ImageBlock) -> str:
    """What stands for a picture before a model that takes none."""
    return f"{image.text} (not shown: this model takes no pictures)"


def call_ids(messages: Iterable[Message]) -> set[str]:
    """Ids of all calls in the history."""
    return {call.call_id for message in messages for call in message.calls}


def _has_text(block: Block) -> bool:
    return isinstance(block, TextBlock) and bool(block.text.strip())


def _is_hosted(block: Block, kind: str) -> TypeGuard[HostedBlock]:
    return isinstance(block, HostedBlock) and block.kind == kind


def _pauses(message: Message, keep: Keep) -> bool:
    """Whether the answer goes on with the very next request: nobody says anything in between."""
    return message.paused and keep(message, HostedBlock("pause"))


def _sendable(message: Message, keep: Keep, whole: Collection[str], *, unfinished: bool) -> list[Block]:
    blocks = list[Block]()
    for block in message.blocks:
        match block:
            case HostedBlock() if not keep(message, block):
                blocks += [TextBlock(block.text)] if block.text else []
            case HostedBlock("pause"):
                pass
            case HostedBlock("search", hosted_id) if hosted_id and hosted_id not in whole:
                # It was broken off: only the answer that goes on may end in it.
                blocks += [block] if unfinished and message.paused else []
            case HostedBlock("found", hosted_id) if hosted_id not in whole:
                pass  # its search is behind a cut
            case ReasoningBlock() if not keep(message, block):
                pass
            case TextBlock() if not _has_text(block):
                pass
            case ToolResultBlock():
                pass
            case _:
                blocks.append(block)
    while blocks and isinstance(blocks[-1], ReasoningBlock):
        blocks.pop()
    return blocks


class _Arranger:
    """The turns so far, and the recorded results, each of which answers one call that stands before it."""

    def __init__(self, messages: Sequence[Message]) -> None:
        self.paused = False
        """The answer before is unfinished: the next one belongs to it."""
        self._sides: list[tuple[Role, list[Item]]] = []
        self._ids: set[str] = set()
        self._results: dict[str, deque[tuple[int, ToolResultBlock]]] = {}
        for index, message in enumerate(messages):
            for result in message.results:
                self._results.setdefault(result.call_id, deque()).append((index, result))

    def user(self, index: int, blocks: Sequence[Block]) -> None:
        if not blocks:
            return
        self.paused = False
        if self._sides and self._sides[-1][0] == "system":  # a change is followed by an answer, or by nothing
            self._side("assistant").append(Item(index, TextBlock(NO_ANSWER)))
        self._side("user").extend(Item(index, block) for block in blocks)

    def change(self, index: int, deltas: Sequence[Delta]) -> None:
        if not self._sides:
            self.user(index, [TextBlock(OPENING)])
        self._continue(index)
        self._side("system").extend(Item(index, delta) for delta in deltas)

    def answer(self, index: int, blocks: Sequence[Block]) -> None:
        if not blocks:
            return
        if not self._sides:
            self.user(index, [TextBlock(OPENING)])
        if not self.paused:
            self._continue()
        results: list[Item] = []
        side = self._side("assistant")
        for block in blocks:
            if isinstance(block, ToolUseBlock):
                call = replace(block, call_id=self._unique(block.call_id))
                results.append(self._result(index, block.call_id, call.call_id))
                side.append(Item(index, call))
            elif _is_hosted(block, "sources"):
                if side and isinstance(side[-1].block, TextBlock):
                    side[-1] = replace(side[-1], sources=block.items)
            else:
                side.append(Item(index, block))
        if results:
            self._side("user").extend(results)

    def finish(self) -> tuple[Turn, ...]:
        if not self._sides:
            self.user(0, [TextBlock(CONTINUE)])
        if not self.paused:
            self._continue()
        return tuple(Turn(role, tuple(items)) for role, items in self._sides)

    def _continue(self, index: int | None = None) -> None:
        role, items = self._sides[-1]
        if role == "assistant":
            self.user(items[-1].source if index is None else index, [TextBlock(CONTINUE)])

    def _side(self, role: Role) -> list[Item]:
        if not self._sides or self._sides[-1][0] != role:
            self._sides.append((role, []))
        return self._sides[-1][1]

    def _unique(self, call_id: str) -> str:
        """Ids are unique in what we make; an imported history may repeat one, which no API takes."""
        unique, count = call_id, 1
        while unique in self._ids:
            count += 1
            unique = f"{call_id}_{count}"
        self._ids.add(unique)
        return unique

    def _result(self, index: int, call_id: str, sent_id: str) -> Item:
        waiting = self._results.get(call_id)
        while waiting:
            source, result = waiting.popleft()
            if source > index:
                return Item(source, replace(result, call_id=sent_id))
        return Item(index, ToolResultBlock(sent_id, "interrupted", (TextBlock(NO_RESULT),)))

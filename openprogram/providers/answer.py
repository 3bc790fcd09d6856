"""An answer as it arrives: blocks grow, pieces of them go out, and at the end the blocks are whole.

Pieces of one block that arrive in the same network chunk leave as one piece: they became visible together.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, Literal, assert_never

import orjson

from openprogram.core.ids import new_id
from openprogram.core.jsonio import JsonObject, scrub
from openprogram.core.messages import Block, HostedBlock, ReasoningBlock, TextBlock, ToolUseBlock
from openprogram.core.prompt import CallPiece, HostedPiece, ProviderEvent, ReasoningPiece, TextPiece

INVALID_ARGUMENTS: Final = "__invalid_json__"
"""The only key in the arguments of a call whose JSON the model got wrong; its value is what the model wrote.

No tool has a parameter of that name, so such a call must be answered with an error, never run.
"""


@dataclass(slots=True, eq=False)
class OpenBlock:
    """A block that may still grow. `number` is its place in the answer."""

    kind: Literal["text", "reasoning", "call", "hosted"]
    number: int
    parts: list[str] = field(default_factory=list)
    signature: str | None = None
    redacted: str | None = None
    call_id: str = ""
    name: str = ""
    hosted: HostedBlock | None = None


class Answer:
    """Collects one answer. `taken` are the call ids of the history: an id that an endpoint repeats is replaced."""

    __slots__ = ("_blocks", "_current", "_out", "_run", "_taken")

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._blocks: list[OpenBlock] = []
        self._current: OpenBlock | None = None
        self._run: list[str] = []
        self._out: list[ProviderEvent] = []
        self._taken = set(taken)

    # -- growing ------------------------------------------------------------------------------------------------

    def text(self, text: str) -> None:
        """More of the answer's text; a new block where the last piece was something else."""
        block = self._current
        if block is None or block.kind != "text":
            block = self._switch(self._begin("text"))
        self._run.append(text)

    def reasoning(self, text: str) -> OpenBlock:
        """More of the model's reasoning; a new block where the last piece was something else."""
        block = self._current
        if block is None or block.kind != "reasoning":
            block = self._switch(self._begin("reasoning"))
        self._run.append(text)
        return block

    def redacted(self, data: str) -> None:
        """A reasoning block in its opaque form."""
        self.end_block()
        self._begin("reasoning").redacted = data

    def hosted(self, hosted: HostedBlock) -> None:
        """Something whole that the provider made by itself."""
        self.end_block()
        block = self._begin("hosted")
        block.hosted = hosted
        self._out.append(HostedPiece(block.number, hosted))

    def call(self, call_id: str, name: str) -> OpenBlock:
        """A call begins. An empty or repeated id is replaced by one of ours."""
        block = self._begin("call")
        block.call_id = call_id if call_id and call_id not in self._taken else new_id("c")
        block.name = name
        self._taken.add(block.call_id)
        self.arguments(block, "")
        return block

    def arguments(self, block: OpenBlock, json_text: str) -> None:
        """More of a call's arguments; calls may take turns."""
        if block is not self._current:
            self._switch(block)
        self._run.append(json_text)

    def end_block(self) -> None:
        """The next piece begins a new block."""
        self._flush()
        self._current = None

    def _begin(self, kind: Literal["text", "reasoning", "call", "hosted"]) -> OpenBlock:
        block = OpenBlock(kind, len(self._blocks))
        self._blocks.append(block)
        return block

    def _switch(self, block: OpenBlock) -> OpenBlock:
        self._flush()
        self._current = block
        return block

    # -- giving out ---------------------------------------------------------------------------------------------

    def take(self) -> list[ProviderEvent]:
        """The pieces since the last time."""
        if self._run:
            self._flush()
        out = self._out
        self._out = []
        return out

    def _flush(self) -> None:
        block = self._current
        if block is None or not self._run:
            return
        run = self._run
        text = run[0] if len(run) == 1 else "".join(run)
        run.clear()
        block.parts.append(text)
        match block.kind:
            case "text":
                self._out.append(TextPiece(block.number, text))
            case "reasoning":
                if text:  # a block may hold a signature only, and nothing to show
                    self._out.append(ReasoningPiece(block.number, text))
            case "call":
                self._out.append(CallPiece(block.number, block.call_id, block.name, text))
            case "hosted":
                raise TypeError("what the provider makes by itself comes whole")
            case _:
                assert_never(block.kind)

    @property
    def has_calls(self) -> bool:
        """Whether a call has begun."""
        return any(block.kind == "call" for block in self._blocks)

    def blocks(self, *, whole: bool) -> tuple[Block, ...]:
        """The blocks so far. Unless the answer is `whole`, calls that may be unfinished are left out."""
        self._flush()
        finished = (_finished(block, whole) for block in self._blocks)
        return tuple(block for block in finished if block is not None)


def _finished(block: OpenBlock, whole: bool) -> Block | None:
    text = "".join(block.parts)
    match block.kind:
        case "text":
            return TextBlock(text) if text else None
        case "reasoning":
            known = text or block.signature or block.redacted
            return ReasoningBlock(text, block.signature, block.redacted) if known else None
        case "hosted":
            return block.hosted
        case "call":
            arguments = _arguments(text)
            if arguments is None:
                return ToolUseBlock(block.call_id, block.name, {INVALID_ARGUMENTS: text}) if whole else None
            # No text at all is a call without arguments, or one that was cut off before them.
            return ToolUseBlock(block.call_id, block.name, arguments) if whole or text else None
        case _:
            assert_never(block.kind)


def _arguments(text: str) -> JsonObject | None:
    """Arguments from JSON text, `{}` for none; None where it is not a JSON object."""
    if not text.strip():
        return {}
    try:
        value = orjson.loads(scrub(text))
    except orjson.JSONDecodeError:
        return None
    return value if isinstance(value, dict) else None

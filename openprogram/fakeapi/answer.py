"""An answer before it has a wire format: blocks of text that arrive in chunks."""

from __future__ import annotations

import secrets
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Final, Literal, TypeAlias

from openprogram.fakeapi.faults import Fault
from openprogram.fakeapi.shapes import JsonObject, compact

StopReason: TypeAlias = Literal["end_turn", "tool_use", "max_tokens", "refusal", "pause_turn"]
Page: TypeAlias = tuple[str, str]
"""The address and the title of a page."""

_SEAL: Final = 48
_ENCRYPTED: Final = "gAAAAA"


@dataclass(frozen=True, slots=True)
class Chunk:
    """One delta. It waits until the hold of that name is released, if it has one."""

    text: str
    hold: str | None = None


@dataclass(frozen=True, slots=True)
class TextBlock:
    """Text for the person; `cites` are the pages that it rests on."""

    chunks: tuple[Chunk, ...]
    cites: tuple[Page, ...] = ()
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class ThinkingBlock:
    """Reasoning. On Anthropic's wire it carries a signature of its text; `binding` names the prompt before
    it, for models that bind their thinking to it."""

    chunks: tuple[Chunk, ...]
    binding: bytes = b""
    type: Literal["thinking"] = "thinking"

    @property
    def signature(self) -> str:
        """The signature that proves this exact text when it is sent back."""
        return sign(joined(self.chunks), self.binding)


@dataclass(frozen=True, slots=True)
class ToolUseBlock:
    """A call of a tool; the chunks are pieces of the arguments' JSON text."""

    name: str
    chunks: tuple[Chunk, ...]
    id: str | None = None
    type: Literal["tool_use"] = "tool_use"


@dataclass(frozen=True, slots=True)
class WebSearchBlock:
    """A search that the provider makes itself; the chunks are pieces of its input's JSON text."""

    query: str
    chunks: tuple[Chunk, ...]
    pages: tuple[Page, ...] | None = ()
    """What it found. None: the turn is paused before that; empty: nothing."""
    id: str | None = None
    type: Literal["web_search"] = "web_search"


@dataclass(frozen=True, slots=True)
class WebFoundBlock:
    """What the search of that id found."""

    id: str
    pages: tuple[Page, ...]
    chunks: tuple[Chunk, ...] = ()
    type: Literal["web_found"] = "web_found"


Block: TypeAlias = TextBlock | ThinkingBlock | ToolUseBlock | WebSearchBlock | WebFoundBlock


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model says to one request.

    `rate` is deltas a second, 0 for as fast as possible. `hold` delays the first byte. `usage` is
    merged into the reported usage in the wire's own words; a null removes a field. `output_tokens`
    spares counting where the number is known.
    """

    blocks: tuple[Block, ...]
    stop_reason: StopReason | None = None
    rate: float = 0.0
    hold: str | None = None
    fault: Fault | None = None
    usage: JsonObject = field(default_factory=dict)
    report_usage: bool = True
    output_tokens: int | None = None

    @property
    def stop(self) -> StopReason:
        """The stated stop reason, or the one that follows from the blocks."""
        if self.stop_reason is not None:
            return self.stop_reason
        called = any(isinstance(block, ToolUseBlock) for block in self.blocks)
        return "tool_use" if called else "end_turn"


def joined(chunks: Iterable[Chunk]) -> str:
    """The whole text of a block."""
    return "".join(chunk.text for chunk in chunks)


def sign(thinking: str, binding: bytes = b"") -> str:
    """A signature that only this text has; like the real one it is opaque to the client. `binding` is
    carried in it."""
    return b64encode(_seal(thinking) + binding).decode()


def is_signed(thinking: str, signature: str) -> bool:
    """Whether `signature` was made for this text."""
    return _unpacked(signature)[:_SEAL] == _seal(thinking)


def binding_of(signature: str) -> bytes:
    """The binding that a signature carries; empty where it has none."""
    return _unpacked(signature)[_SEAL:]


def encrypted(reasoning: str) -> str:
    """Reasoning as OpenAI hands it out: only this server can read it again."""
    return _ENCRYPTED + b64encode(_seal(reasoning) + reasoning.encode("utf-8", "surrogatepass")).decode()


def decrypted(content: str) -> str | None:
    """The reasoning in `encrypted_content`, or `None` where this server did not make it."""
    raw = _unpacked(content.removeprefix(_ENCRYPTED))
    text = raw[_SEAL:].decode("utf-8", "surrogatepass") if content.startswith(_ENCRYPTED) else ""
    return text if raw and raw[:_SEAL] == _seal(text) else None


def _seal(thinking: str) -> bytes:
    raw = thinking.encode("utf-8", "surrogatepass")
    return blake2b(raw, key=b"openprogram fake api", digest_size=_SEAL).digest()


def _unpacked(signature: str) -> bytes:
    try:
        return b64decode(signature, validate=True)
    except (Base64Error, ValueError):
        return b""


def pieces(text: str, size: int = 4) -> tuple[Chunk, ...]:
    """`text` in deltas of about one token: a word start each, long words cut, wide characters singly."""
    return tuple(Chunk(piece) for piece in _cut(text, size))


def _cut(text: str, size: int) -> Iterator[str]:
    start = length = 0
    for position, character in enumerate(text):
        blank = character.isspace()
        wide = character > "\u2e7f"
        starts_word = blank and not text[position - 1].isspace()
        if position > start and (starts_word or length >= size or (wide and length)):
            yield text[start:position]
            start, length = position, 0
        length += 0 if blank else size if wide else 1
    if start < len(text):
        yield text[start:]


def text_block(text: str) -> TextBlock:
    """A text block in deltas of natural size."""
    return TextBlock(pieces(text))


def thinking_block(text: str) -> ThinkingBlock:
    """A thinking block in deltas of natural size."""
    return ThinkingBlock(pieces(text))


def tool_use_block(name: str, arguments: JsonObject) -> ToolUseBlock:
    """A tool call with its arguments in deltas as models send them."""
    return ToolUseBlock(name, pieces(compact(arguments), size=12))


def with_ids(answer: Answer, prefix: str) -> Answer:
    """The answer with an id for each tool call that has none yet (`toolu_...` or `call_...`), and for each search."""
    return replace(answer, blocks=tuple(_with_id(block, prefix) for block in answer.blocks))


def _with_id(block: Block, prefix: str) -> Block:
    if isinstance(block, ToolUseBlock) and block.id is None:
        return replace(block, id=f"{prefix}{secrets.token_hex(12)}")
    if isinstance(block, WebSearchBlock) and block.id is None:
        return replace(block, id=f"srvtoolu_{secrets.token_hex(12)}")
    return block


def truncated(blocks: Sequence[Block], limit: int, costs: Sequence[int]) -> tuple[Block, ...] | None:
    """The blocks cut to `limit` tokens at a delta's border, or `None` if they fit.

    `costs` holds the tokens of every chunk of every block, in order.
    """
    if sum(costs) <= limit:
        return None
    kept: list[Block] = []
    spent = 0
    cost = iter(costs)
    for block in blocks:
        chunks: list[Chunk] = []
        for chunk in block.chunks:
            spent += next(cost)
            if spent > limit:
                break
            chunks.append(chunk)
        if chunks:
            kept.append(replace(block, chunks=tuple(chunks)))
        if spent > limit:
            break
    return tuple(kept)

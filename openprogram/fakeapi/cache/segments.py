"""A request as a sequence of tokenised segments.

A segment is a tool, a system block or a content block. Its tokens end with a separator that text can
never produce, so the token sequences of two requests agree exactly as far as their segments do.
Segments are tokenised once and remembered by their digest: the hundredth request of a chat costs one
hash for each old segment and tokenises the new ones only.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final, Literal, TypeAlias

from openprogram.tokens import encode

Section: TypeAlias = Literal["tools", "system", "messages"]
Ttl: TypeAlias = Literal["5m", "1h", "30m", "12h"]
"""Anthropic writes for 5 minutes or 1 hour, OpenAI for 30 minutes or 12 hours."""

TOKEN_BYTES: Final = 4
_SEPARATOR: Final = array("I", [200_018]).tobytes()


@dataclass(frozen=True, slots=True)
class Segment:
    """One unit of a prompt.

    `tokens` holds four bytes a token, the separator included; it is empty for a marker, which stands
    for a parameter that the cache key covers although it adds no text. `breakpoint` is the lifetime
    asked for by a mark here. `block` says whether an entry may end here: it counts in the lookback.
    """

    digest: bytes
    tokens: bytes
    section: Section
    breakpoint: Ttl | None = None
    block: bool = True

    @property
    def size(self) -> int:
        """Number of tokens."""
        return len(self.tokens) // TOKEN_BYTES


Prompt: TypeAlias = tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Rendering:
    """A rendered request. `binding` names its prompt for the thinking that will follow it; `misbound` are
    the places of thinking blocks that were made behind another prompt."""

    prompt: Prompt
    binding: bytes = b""
    misbound: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Number of tokens of the whole prompt."""
        return prompt_size(self.prompt)


def prompt_size(prompt: Prompt) -> int:
    """Number of tokens of a whole prompt."""
    return sum(len(segment.tokens) for segment in prompt) // TOKEN_BYTES


class SegmentTable:
    """Makes segments and remembers the tokens of the texts it has seen.

    `limit` bounds the remembered tokens in bytes; the least recently used text goes first.
    """

    def __init__(self, limit: int = 64 * 1024 * 1024) -> None:
        self._limit = limit
        self._held = 0
        self._tokens: OrderedDict[bytes, bytes] = OrderedDict()

    def segment(self, text: str, section: Section, breakpoint: Ttl | None = None, *, salt: str = "") -> Segment:
        """The segment of `text`. `salt` is covered by the cache key but adds no tokens (a signature)."""
        raw = text.encode("utf-8", "surrogatepass")
        digest = blake2b(raw, digest_size=16, person=section.encode()).digest()
        tokens = self._tokens.get(digest)
        if tokens is None:
            tokens = array("I", encode(text)).tobytes() + _SEPARATOR
            self._remember(digest, tokens)
        else:
            self._tokens.move_to_end(digest)
        if salt:
            digest = blake2b(digest + salt.encode(), digest_size=16).digest()
        return Segment(digest, tokens, section, breakpoint)

    def marker(self, text: str, section: Section) -> Segment:
        """A segment without tokens: a parameter that breaks the cached prefix when it changes."""
        digest = blake2b(text.encode(), digest_size=16, person=b"marker").digest()
        return Segment(digest, b"", section, block=False)

    def _remember(self, digest: bytes, tokens: bytes) -> None:
        self._tokens[digest] = tokens
        self._held += len(tokens)
        while self._held > self._limit and len(self._tokens) > 1:
            _, dropped = self._tokens.popitem(last=False)
            self._held -= len(dropped)


def common_tokens(left: bytes, right: bytes) -> int:
    """Length of the common prefix of two token strings, in tokens."""
    low, high = 0, min(len(left), len(right)) // TOKEN_BYTES
    while low < high:
        middle = (low + high + 1) // 2
        if left[low * TOKEN_BYTES : middle * TOKEN_BYTES] == right[low * TOKEN_BYTES : middle * TOKEN_BYTES]:
            low = middle
        else:
            high = middle - 1
    return low

"""Identifiers: a kind prefix, then a ULID in lower-case Crockford base 32.

A ULID (https://github.com/ulid/spec) is 48 bits of Unix milliseconds followed by 80 random bits, so ids of
one kind sort by the time they were made, across processes, without coordination.
"""

import re
import secrets
import time
from typing import Final, Literal

IdKind = Literal["s", "m", "t", "c", "a", "u", "q", "e"]
"""session, message, turn, tool call, approval, question to the user, queued message, boot (process start)."""

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
_PATTERN: Final = re.compile(r"[a-z]_[0-9a-hjkmnp-tv-z]{26}")


def new_id(kind: IdKind) -> str:
    """A fresh id such as ``s_01jd...``; sortable by time to the millisecond."""
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    return f"{kind}_{_base32(number)}"


def is_id(text: str, kind: IdKind) -> bool:
    """Whether ``text`` has the shape of an id of this kind (it need not exist)."""
    return text.startswith(kind) and _PATTERN.fullmatch(text) is not None


def _base32(number: int) -> str:
    digits = []
    for _ in range(26):
        digits.append(_ALPHABET[number & 31])
        number >>= 5
    return "".join(reversed(digits))

"""Identifiers: a kind prefix, then a ULID in lower-case Crockford base 32.

A ULID (https://github.com/ulid/spec) is 48 bits of Unix milliseconds followed by 80 random bits, so ids of
one kind sort by the time they were made, across processes, without coordination.
"""

import secrets
import time
from typing import Final, Literal

IdKind = Literal["s", "m", "t", "c", "a", "u", "q", "e"]
"""session, message, turn, tool call, approval, question to the user, queued message, boot (process start)."""

_ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(kind: IdKind) -> str:
    """A fresh id such as ``s_01jd...``; sortable by time to the millisecond."""
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    return f"{kind}_{_base32(number)}"


def _base32(number: int) -> str:
    digits = []
    for _ in range(26):
        digits.append(_ALPHABET[number & 31])
        number >>= 5
    return "".join(reversed(digits))

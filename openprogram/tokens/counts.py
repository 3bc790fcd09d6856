"""Token counts without a tokenizer in this process: kept in the store by hash, counted by a short-lived other process.

An encoder costs 45 MB and 0.4 s. The texts that are counted here (tools, names in a catalog) rarely change: each is
counted once in the life of a database.
"""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

import structlog

from openprogram.core.errors import BadJson, StorageError
from openprogram.core.jsonio import decode, digest_bytes, encode
from openprogram.core.ports import Store

Worker = Callable[[Sequence[str]], Awaitable[Sequence[int]]]
"""Counts texts. Raises `OSError` where it cannot."""

_LONGEST_S: Final = 60.0

_log = structlog.get_logger(__name__)


class TokenCounts:
    """What is known of how many tokens (o200k) texts have. Belongs to one event loop."""

    def __init__(self, store: Store, worker: Worker | None = None) -> None:
        self._store = store
        self._worker = worker or count_elsewhere
        self._known: dict[str, int] = {}
        """By text: those that are counted are held by their tools anyhow, and a turn asks for all of them."""
        self._counting = asyncio.Lock()

    def exact(self, text: str) -> int | None:
        """The tokens of a text, if they were counted."""
        return self._known.get(text)

    def at_most(self, text: str) -> int:
        """The tokens of a text, or more: a token is never shorter than a byte."""
        known = self._known.get(text)
        return len(text.encode()) if known is None else known

    async def learn(self, texts: Iterable[str]) -> None:
        """Make counts known: from memory, from the store, and the rest from a new process. Never raises.

        What cannot be counted stays unknown, which is logged.
        """
        wanted = self._unknown(texts)
        if not wanted:
            return
        async with self._counting:
            try:
                await self._learn(self._unknown(wanted.values()))
            except (OSError, BadJson, StorageError) as error:
                _log.warning("tokens_not_counted", texts=len(wanted), error=str(error))

    def _unknown(self, texts: Iterable[str]) -> dict[str, str]:
        return {_digest(text): text for text in texts if text not in self._known}

    async def _learn(self, wanted: dict[str, str]) -> None:
        stored = await self._store.token_counts(wanted.keys())
        self._known.update((wanted[digest], tokens) for digest, tokens in stored.items())
        new = [digest for digest in wanted if digest not in stored]
        if new:
            counts = await self._worker([wanted[digest] for digest in new])
            counted = dict(zip(new, counts, strict=True))
            self._known.update((wanted[digest], tokens) for digest, tokens in counted.items())
            await self._store.put_token_counts(counted)


async def count_elsewhere(texts: Sequence[str]) -> Sequence[int]:
    """Count in a process of its own (`python -m openprogram.tokens`). Raises `OSError`, `BadJson`."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "openprogram.tokens"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(_LONGEST_S):
            out, err = await process.communicate(encode(list(texts)))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    counts = decode(out) if process.returncode == 0 else None
    if not isinstance(counts, list) or len(counts) != len(texts):
        raise OSError(f"the counting process ended with {process.returncode}: {err.decode(errors='replace')[-500:]}")
    return [count for count in counts if isinstance(count, int)]


def _digest(text: str) -> str:
    return digest_bytes(text.encode())

"""The optional second stage: tools ranked by the meaning of their texts. Vectors are kept on disk by hash.

Needs `numpy`; nothing imports this module unless the stage is switched on.
"""

import asyncio
import hashlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from openprogram.core.tooling import Snapshot, ToolSpec
from openprogram.tools.search.document import parameter_text

Array = np.ndarray[Any, np.dtype[np.float32]]

_CHARACTERS: Final = 2_000
"""Of a tool's text; what follows is beyond what a sentence model reads."""
_HASH: Final = 16


class Embedder(Protocol):
    """Makes a vector of length one of each text. Called in a thread."""

    @property
    def size(self) -> int:
        """Numbers in a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Array:
        """One row per text."""
        ...


class Meaning:
    """Ranks tools by how near their texts are to a query. A tool whose vector is not there yet is not ranked.

    `path` is a file of records, a hash and a vector of 16-bit floats each, that only grows; half a record at its end,
    from a crash, is cut off. Belongs to one event loop.
    """

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder = embedder
        self._path = path
        self._vectors: dict[bytes, Array] | None = None
        self._learning = asyncio.Lock()
        self._last: tuple[Snapshot, dict[str, bytes]] | None = None

    async def learn(self, snapshot: Snapshot) -> None:
        """Make the vectors of these tools that are missing, one after the other. Raises `OSError`."""
        async with self._learning:
            vectors = await self._known()
            for text in dict.fromkeys(map(text_of, snapshot.tools)):
                key = _key(text)
                if key not in vectors:
                    (vector,) = await asyncio.to_thread(self._embedder.embed, [text])
                    await asyncio.to_thread(self._append, key, vector)
                    vectors[key] = vector

    async def rank(self, snapshot: Snapshot, query: str, among: Collection[str], limit: int) -> tuple[str, ...]:
        """The names of the nearest tools among those named and at most so many, the nearest first."""
        vectors = await self._known()
        wanted = ((name, vectors.get(key)) for name, key in self._keys(snapshot).items() if name in among)
        found = [(name, vector) for name, vector in wanted if vector is not None]
        if not found:
            return ()
        (asked,) = await asyncio.to_thread(self._embedder.embed, [query])
        nearness = np.stack([vector for _, vector in found]) @ asked
        order = np.argsort(-nearness, kind="stable")[:limit]
        return tuple(found[place][0] for place in order)

    def _keys(self, snapshot: Snapshot) -> dict[str, bytes]:
        if self._last is None or self._last[0] is not snapshot:
            self._last = (snapshot, {tool.name: _key(text_of(tool)) for tool in snapshot.tools})
        return self._last[1]

    async def _known(self) -> dict[bytes, Array]:
        if self._vectors is None:
            self._vectors = await asyncio.to_thread(self._read)
        return self._vectors

    def _read(self) -> dict[bytes, Array]:
        size = _HASH + 2 * self._embedder.size
        data = self._path.read_bytes() if self._path.exists() else b""
        whole = len(data) - len(data) % size
        if whole < len(data):
            with self._path.open("r+b") as file:
                file.truncate(whole)
        records = (data[at : at + size] for at in range(0, whole, size))
        return {record[:_HASH]: np.frombuffer(record[_HASH:], np.float16).astype(np.float32) for record in records}

    def _append(self, key: bytes, vector: Array) -> None:
        with self._path.open("ab") as file:
            file.write(key + vector.astype(np.float16).tobytes())


def text_of(tool: ToolSpec) -> str:
    """What is said of a tool, as prose."""
    name = tool.name.replace("_", " ").replace("-", " ")
    return f"{name}: {tool.description} {parameter_text(tool.parameters)}"[:_CHARACTERS]


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="replace")).digest()[:_HASH]

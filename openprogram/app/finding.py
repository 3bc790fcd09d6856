"""Finding deferred tools: by their words, and where the settings say so by their meaning too."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Final

import structlog

from openprogram.app.beside import beside
from openprogram.app.settings import Settings
from openprogram.core.errors import ConfigError
from openprogram.tools.registry import Registry
from openprogram.tools.search.finder import Finder

VECTORS: Final = "tool_vectors.bin"

_log = structlog.get_logger(__name__)


@asynccontextmanager
async def finding(settings: Settings, registry: Registry) -> AsyncIterator[Finder]:
    """The finder, which follows the registry. Raises `ConfigError` where meaning is wanted and not installed."""
    if not settings.embeddings:
        yield Finder()
        return
    if find_spec("numpy") is None:
        raise ConfigError(
            "finding tools by meaning needs numpy",
            field="tools.embeddings",
            hint="install the extra: openprogram-server[embeddings]",
        )
    # Half a second and 100 MB that only those pay who want it.
    from openprogram.tools.search.meaning import Meaning  # noqa: PLC0415
    from openprogram.tools.search.minilm import MiniLm, find_model  # noqa: PLC0415

    meaning = Meaning(await asyncio.to_thread(MiniLm, find_model()), settings.home / VECTORS)
    changed = asyncio.Event()
    changed.set()

    async def follow() -> None:
        while True:
            await changed.wait()
            changed.clear()
            try:
                await meaning.learn(registry.snapshot)
            except OSError as error:  # words alone find the tools whose vectors are missing
                _log.warning("vectors_not_kept", error=str(error))

    unsubscribe = registry.subscribe(lambda _snapshot: changed.set())
    try:
        async with beside(follow, "learn meanings"):
            yield Finder(meaning)
    finally:
        unsubscribe()

"""Tools of other installed packages: each entry point of the group `openprogram.tools` is a source of the registry.

A plug-in that cannot be loaded is a problem of its source, told in the log and by `explain_tools`; it keeps nobody
else's tools away, and one whose import does not end is named and left out. Packages come and go while the program runs
(`following_packages`); of one that is upgraded the old code stays until the next start, and people are told.
"""

import asyncio
import importlib
import os
import sys
import threading
from collections.abc import AsyncIterator, Collection, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import Final

import structlog

from openprogram.app.beside import beside
from openprogram.core.errors import ConfigError
from openprogram.tools.published import CheckedTools, check_published
from openprogram.tools.registry import Registry

GROUP: Final = "openprogram.tools"

SLOW_S: Final = 5.0
"""An import that takes longer is named in the log: at the start the server waits for it."""
MOST_S: Final = 30.0
"""An import that takes longer is left out."""
POLL_S: Final = 1.0
"""How often is looked whether a package came or went; it has to be at rest for as long."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Published:
    """An entry point, and the package that it is from: name and version, and what it says of itself."""

    point: EntryPoint
    package: str
    about: str = ""

    @property
    def source(self) -> str:
        """What the registry calls the plug-in."""
        return f"plugin:{self.point.name}"


@dataclass(frozen=True, slots=True)
class _Plugin:
    """A plug-in that was imported, or could not be."""

    source: str
    about: str
    content: CheckedTools


class Plugins:
    """Keeps the registry's sources in step with the packages that are installed.

    The built-in tools are registered before, so that no plug-in takes a name of theirs.
    """

    def __init__(self, registry: Registry, slow_s: float = SLOW_S, most_s: float = MOST_S) -> None:
        self._registry = registry
        self._slow_s = slow_s
        self._most_s = most_s
        self._known: dict[str, tuple[Published, ...]] = {}
        self._failed: set[str] = set()
        self._ran: dict[str, str] = {}

    async def read(self) -> None:
        """Import what was not there at the last reading, or failed then, and take away what is gone."""
        importlib.invalidate_caches()
        named: dict[str, list[Published]] = {}
        for one in await asyncio.to_thread(installed):
            named.setdefault(one.source, []).append(one)
        for source in [source for source in self._known if source not in named]:
            del self._known[source]
            self._registry.remove(source)
            _log.info("plugin_gone", source=source)
        for source, found in named.items():
            if self._known.get(source) != tuple(found) or source in self._failed:
                await self._put(source, *found)
                self._known[source] = tuple(found)

    async def _put(self, source: str, first: Published, *others: Published) -> None:
        builtin = frozenset(tool.name for tool in self._registry.snapshot.tools if tool.source == "builtin")
        plugin = await _loaded(first, others, builtin, self._slow_s, self._most_s)
        tools, problems = plugin.content.tools, plugin.content.problems
        if tools:
            self._failed.discard(source)
            ran = self._ran.setdefault(source, first.package)
            if ran != first.package:  # what was imported once stays as it is
                problems = (*problems, f"{first.package} is installed: start the server again, it still runs {ran}")
        else:
            self._failed.add(source)
        self._registry.put(source, tools, about=plugin.about, problems=problems)
        _log.info("plugin", source=source, tools=[tool.name for tool in tools])
        for problem in problems:
            _log.error("plugin_problem", source=source, problem=problem)


@asynccontextmanager
async def following_packages(registry: Registry, poll_s: float = POLL_S) -> AsyncIterator[None]:
    """Make every installed plug-in a source, and from then on each one that comes, until the block ends."""
    plugins = Plugins(registry)
    read = last = await asyncio.to_thread(_stamps)
    await plugins.read()

    async def follow() -> None:
        nonlocal read, last
        while True:
            await asyncio.sleep(poll_s)
            before, last = last, await asyncio.to_thread(_stamps)
            if last == before and last != read:  # no installer is at work any more
                read = last
                await plugins.read()

    async with beside(follow, "follow packages"):
        yield


def _stamps() -> tuple[tuple[str, int], ...]:
    """What changes when a package is installed or taken away: the directories that packages are imported from."""
    found = []
    for path in tuple(sys.path):
        try:
            found.append((path, os.stat(path or os.curdir).st_mtime_ns))
        except OSError:
            continue
    return tuple(found)


def installed() -> tuple[Published, ...]:
    """The entry points of all packages, in an order that does not hang on where they are installed."""
    found: dict[tuple[str, str], Published] = {}
    for distribution in distributions():
        for one in _points(distribution):
            # Of a package that is there twice the first counts, as it does for an import.
            found.setdefault((one.point.name, one.package.partition(" ")[0]), one)
    return tuple(found[key] for key in sorted(found))


def _points(distribution: Distribution) -> Iterator[Published]:
    if GROUP in (distribution.read_text("entry_points.txt") or ""):
        about = distribution.metadata["Summary"] or ""
        for point in distribution.entry_points.select(group=GROUP):
            yield Published(point, f"{distribution.name} {distribution.version}", about)


async def _loaded(
    first: Published, others: Iterable[Published], builtin: Collection[str], slow_s: float, most_s: float
) -> _Plugin:
    """Import one in a thread that the program's end does not wait for: code of other people may hang in there."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()
    loaded: list[_Plugin] = []

    def load() -> None:
        loaded.append(_load(first, others, builtin))
        if not loop.is_closed():
            loop.call_soon_threadsafe(done.set)

    threading.Thread(target=load, name=f"import {first.source}", daemon=True).start()
    if not await _within(done, slow_s):
        hint = f"it is waited for, {most_s:g} s at most"
        _log.warning("plugin_slow", source=first.source, package=first.package, after_s=slow_s, hint=hint)
        if not await _within(done, most_s - slow_s):
            problem = f"{first.package} is left out: its import did not end within {most_s:g} s"
            return _Plugin(first.source, first.about, CheckedTools((), (problem,)))
    return loaded[0]


async def _within(done: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await done.wait()
    except TimeoutError:
        return False


def _load(first: Published, others: Iterable[Published], builtin: Collection[str]) -> _Plugin:
    content = _guarded(first, builtin)
    twins = (f"{other.package} is left out: {first.package} has a plug-in of this name" for other in others)
    return _Plugin(first.source, first.about, replace(content, problems=(*content.problems, *twins)))


def _guarded(published: Published, builtin: Collection[str]) -> CheckedTools:
    """The supervisor of a plug-in's import, which runs code of other people: what it raises becomes a problem."""
    try:
        return check_published(published.point.load(), builtin)
    except ConfigError as error:
        problem = f"{published.package} is left out: {error.message}; {error.hint}"
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # `sys.exit` and Rust panics are no `Exception`
        _log.exception("plugin_failed", source=published.source, package=published.package)
        problem = f"{published.package} cannot be imported: {type(error).__name__}: {error}"
    return CheckedTools((), (problem,))

"""Tools of other installed packages: each entry point of the group `openprogram.tools` is a source of the registry.

A plug-in that cannot be loaded is a problem of its source, told in the log and by `explain_tools`; it keeps nobody
else's tools away, and one whose import does not end is named and left out. Packages are read at the start: what is
installed later is there after the next one.
"""

import asyncio
import threading
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from importlib.metadata import Distribution, EntryPoint, distributions
from typing import Final

import structlog

from openprogram.core.errors import ConfigError
from openprogram.tools.published import CheckedTools, check_published
from openprogram.tools.registry import Registry

GROUP: Final = "openprogram.tools"

SLOW_S: Final = 5.0
"""An import that takes longer is named in the log: it keeps the server from starting."""
MOST_S: Final = 30.0
"""An import that takes longer is left out."""

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


async def register_plugins(registry: Registry, slow_s: float = SLOW_S, most_s: float = MOST_S) -> None:
    """Import every installed plug-in and make it a source.

    The built-in tools are registered before, so that no plug-in takes a name of theirs.
    """
    builtin = frozenset(tool.name for tool in registry.snapshot.tools if tool.source == "builtin")
    named: dict[str, list[Published]] = {}
    for one in await asyncio.to_thread(installed):
        named.setdefault(one.source, []).append(one)
    for first, *others in named.values():
        plugin = await _loaded(first, others, builtin, slow_s, most_s)
        tools, problems = plugin.content.tools, plugin.content.problems
        registry.put(plugin.source, tools, about=plugin.about, problems=problems)
        _log.info("plugin", source=plugin.source, tools=[tool.name for tool in tools])
        for problem in problems:
            _log.error("plugin_problem", source=plugin.source, problem=problem)


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
        hint = f"the start waits for it, {most_s:g} s at most"
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

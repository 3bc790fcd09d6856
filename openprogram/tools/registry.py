"""Every tool that exists now. The registry is mutable and lives at the edge; what code sees is an immutable snapshot.

Tools come from sources (`builtin`, `plugin:NAME`, `mcp:SERVER`) that come, change and go while the program runs. One
that is only away for a while stays, and says so (`set_down`). All methods are called on the event loop.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

from openprogram.core.jsonio import no_number
from openprogram.core.tooling import Preset, Snapshot, ToolSpec
from openprogram.tools.naming import unique_names
from openprogram.tools.presets import combine

Listener = Callable[[Snapshot], None]
"""Told of each new snapshot. Must return at once and not raise."""

Texts = Mapping[str, tuple[str, ...]]

_NONE: Final = MappingProxyType[str, str]({})
_NO_TEXTS: Final = MappingProxyType[str, tuple[str, ...]]({})


@dataclass(frozen=True, slots=True)
class _Source:
    tools: tuple[ToolSpec, ...]
    unavailable: Mapping[str, str]
    about: str
    problems: tuple[str, ...] = ()
    down: str | None = None


class Registry:
    """Sources of tools, and presets; `snapshot` is what they come to.

    The version grows by one with each change, so it tells two snapshots of one process apart and says nothing more.
    """

    def __init__(self, presets: Iterable[Preset] = ()) -> None:
        self._sources: dict[str, _Source] = {}
        self._listeners: list[Listener] = []
        self._preset_problems: Texts = _NO_TEXTS
        self._snapshot = Snapshot(1, (), combine(presets))

    @property
    def snapshot(self) -> Snapshot:
        """Tools, presets and availability as of now."""
        return self._snapshot

    def put(
        self,
        source: str,
        tools: Iterable[ToolSpec],
        unavailable: Mapping[str, str] = _NONE,
        *,
        about: str = "",
        problems: tuple[str, ...] = (),
    ) -> None:
        """Make these the tools of `source`, in place of what it had.

        `unavailable` says for people why a tool cannot run now (no key, missing binary), by its name in `tools`.
        `about` is what the source says of itself, which helps to find its tools; `problems` say for people what it
        should have had and has not. A source that gives its tools is not down. In the snapshot a name that is invalid,
        too long or taken is replaced by a stable unique one. A tool whose schema no request could carry is left out, as
        a problem.
        """
        stamped = [tool if tool.source == source else replace(tool, source=source) for tool in tools]
        odd = [(tool.name, path) for tool in stamped if (path := no_number(tool.parameters)) is not None]
        told = (f"{name} is left out: its schema has NaN or an infinity at {path}" for name, path in odd)
        kept = tuple(tool for tool in stamped if no_number(tool.parameters) is None)
        self._sources[source] = _Source(kept, MappingProxyType(dict(unavailable)), about, (*problems, *told))
        self._rebuild()

    def set_unavailable(self, source: str, unavailable: Mapping[str, str]) -> None:
        """Say anew which tools of a source cannot run, and why: a key was given, a program installed."""
        self._sources[source] = replace(self._sources[source], unavailable=MappingProxyType(dict(unavailable)))
        self._rebuild()

    def set_down(self, source: str, why: str | None) -> None:
        """Announce that a source is away, or with None that it is back. Its tools keep their place all the while.

        `why` says for people and models what is away and what to do; calls fail with it. Raises `KeyError` for a source
        that was never put.
        """
        self._sources[source] = replace(self._sources[source], down=why)
        self._rebuild()

    def remove(self, source: str) -> None:
        """Take away all tools of a source; one that is not there is no error."""
        if self._sources.pop(source, None) is not None:
            self._rebuild()

    def set_presets(self, presets: Iterable[Preset], problems: Texts = _NO_TEXTS) -> None:
        """Make these the presets beside the built-in ones. Raises `ConfigError` and keeps the old ones.

        `problems` say for people, by where it stands, what cannot be one.
        """
        combined = combine(presets)
        self._preset_problems = problems
        self._publish(replace(self._snapshot, presets=combined, problems=self._problems()))

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with each new snapshot from now on; returns the unsubscription."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _rebuild(self) -> None:
        named = unique_names(tool for source in self._sources.values() for tool in source.tools)
        reasons = {
            name: self._sources[tool.source].unavailable[tool.name]
            for name, tool in named
            if tool.name in self._sources[tool.source].unavailable
        }
        tools = tuple(
            tool if tool.name == name else replace(tool, name=name, asked_name=tool.name) for name, tool in named
        )
        sources = sorted(self._sources.items())
        about = {source: given.about for source, given in sources if given.about}
        down = {source: given.down for source, given in sources if given.down is not None}
        self._publish(
            replace(
                self._snapshot,
                tools=tools,
                unavailable=MappingProxyType(reasons),
                about=MappingProxyType(about),
                down=MappingProxyType(down),
                problems=self._problems(),
            )
        )

    def _problems(self) -> Texts:
        told = {source: given.problems for source, given in sorted(self._sources.items()) if given.problems}
        return MappingProxyType({**told, **self._preset_problems})

    def _publish(self, snapshot: Snapshot) -> None:
        if _same(snapshot, self._snapshot):
            return
        self._snapshot = replace(snapshot, version=self._snapshot.version + 1)
        for listener in tuple(self._listeners):
            listener(self._snapshot)


def _same(one: Snapshot, other: Snapshot) -> bool:
    """Equal in all that a snapshot says, down to the functions that run: equal words may hide another server."""
    return one == other and all(a.execute is b.execute for a, b in zip(one.tools, other.tools, strict=True))

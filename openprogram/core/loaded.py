"""The loaded set: which deferred tools a session has discovered, handed along beside the contract."""

from collections.abc import Collection


class LoadedSet:
    """The deferred tools that a session has discovered: ordered, one shared value handed along.

    It only grows, but at the start of a turn, where what is no longer authorised leaves it, and at a rebase.
    """

    __slots__ = ("_names",)

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self._names = dict.fromkeys(names)

    def add(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Append what is not there yet; returns what was new, in order."""
        new = tuple(name for name in dict.fromkeys(names) if name not in self._names)
        self._names.update(dict.fromkeys(new))
        return new

    def drop(self, names: Collection[str]) -> bool:
        """Take these out at a boundary where the loaded set may shrink; returns whether any was there."""
        kept = {name: None for name in self._names if name not in names}
        shrunk = len(kept) < len(self._names)
        self._names = kept
        return shrunk

    @property
    def names(self) -> tuple[str, ...]:
        """The loaded names in order of discovery."""
        return tuple(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

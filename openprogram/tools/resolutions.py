"""Resolutions that were made before: most chats share a few intents, and registries seldom change."""

from collections import OrderedDict
from typing import Final

from openprogram.core.intent import ToolIntent
from openprogram.core.tooling import AgentProfile, Origin, Resolution, Snapshot
from openprogram.tools.resolve import resolve

KEPT: Final = 64
"""So many are remembered, those that were asked for last."""

_Key = tuple[int, int, Origin, ToolIntent, int]


class Resolutions:
    """`resolve` with a memory. A snapshot and a profile are the same as before if they are the same object: neither
    ever changes, and what is remembered keeps its own alive."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._known: OrderedDict[_Key, tuple[Snapshot, AgentProfile, Resolution]] = OrderedDict()

    def __call__(
        self, intent: ToolIntent, snapshot: Snapshot, profile: AgentProfile, origin: Origin, revision: int
    ) -> Resolution:
        """What `resolve` gives. Raises what that raises."""
        key = id(snapshot), id(profile), origin, intent, revision
        known = self._known.get(key)
        if known is None:
            known = snapshot, profile, resolve(intent, snapshot, profile, origin, revision=revision)
            self._known[key] = known
            if len(self._known) > self._kept:
                self._known.popitem(last=False)
        else:
            self._known.move_to_end(key)
        return known[2]

    def __len__(self) -> int:
        return len(self._known)

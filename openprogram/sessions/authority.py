"""What the user allows at this moment: asked at each dispatch while a turn runs (spec tools.md T21)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from openprogram.core.events import PermissionMode
from openprogram.core.intent import StoredIntent, ToolIntent
from openprogram.core.ports import PermissionState
from openprogram.core.storage import ANYWHERE, Grant
from openprogram.core.tooling import Snapshot

NamesNow = Callable[[StoredIntent, Snapshot, ToolIntent, ToolIntent | None], frozenset[str]]
"""The tools that an intent authorises against a registry snapshot, over a project's wishes, under a turn's override."""


Switch = Literal["enabled", "web_search"]


class LiveAuthority:
    """The `Authority` port of one run; told of changes as they are stored."""

    def __init__(self, names_now: NamesNow, mode: PermissionMode, grants: tuple[Grant, ...] = ()) -> None:
        self._names_now = names_now
        self._intent = StoredIntent()
        self._permission = PermissionState(mode, grants)
        self._snapshot: Snapshot | None = None
        self._project = ToolIntent()
        self._override: ToolIntent | None = None
        self._flipped: frozenset[Switch] = frozenset()
        self._names: frozenset[str] | None = None

    def begin_turn(
        self, intent: StoredIntent, snapshot: Snapshot, project: ToolIntent, override: ToolIntent | None
    ) -> None:
        """Judge by this turn's registry snapshot, project and override from now on."""
        self._snapshot, self._project, self._override, self._names = snapshot, project, override, None
        newest, self._intent, self._flipped = self.newest(intent), intent, frozenset()
        self.intent_changed(newest)

    def intent_changed(self, intent: StoredIntent) -> None:
        """A newer intent is stored."""
        if intent.revision >= self._intent.revision:
            self._flipped |= _flipped(self._intent.intent, intent.intent)
            self._intent, self._names = intent, None

    def newest(self, intent: StoredIntent) -> StoredIntent:
        """The intent that was read, or one that was stored since."""
        self.intent_changed(intent)
        return self._intent

    def mode_changed(self, mode: PermissionMode) -> None:
        """Another permission mode is stored."""
        self._permission = PermissionState(mode, self._permission.grants)

    def granted(self, grant: Grant) -> None:
        """The user allowed something for this chat."""
        self._permission = PermissionState(self._permission.mode, (*self._permission.grants, grant))

    def moved(self, directory: str) -> None:
        """The chat works in another directory from now on: what was allowed in the old one is withdrawn."""
        kept = (grant for grant in self._permission.grants if grant.directory in (ANYWHERE, directory))
        self._permission = PermissionState(self._permission.mode, tuple(kept))

    def authorised_now(self, name: str) -> bool:
        """Whether the newest intent authorises this tool, by this turn's registry snapshot."""
        if self._snapshot is None:
            return False
        if self._names is None:
            self._names = self._names_now(self._intent, self._snapshot, self._project, self._yielding())
        return name in self._names

    def _yielding(self) -> ToolIntent | None:
        """The turn's override, but where the user has switched off since the turn began: then off is off (T21, T4).

        What was off before, the override was meant to lift; another switch that is flipped meanwhile changes nothing.
        """
        override, now = self._override, self._intent.intent
        if override is None:
            return None
        return replace(
            override,
            enabled=None if now.enabled is False and "enabled" in self._flipped else override.enabled,
            web_search=None if now.web_search is False and "web_search" in self._flipped else override.web_search,
        )

    def permission(self) -> PermissionState:
        """The permission mode and grants now."""
        return self._permission


def _flipped(before: ToolIntent, after: ToolIntent) -> frozenset[Switch]:
    """The switches that stand otherwise than before."""
    flipped: set[Switch] = set()
    if before.enabled != after.enabled:
        flipped.add("enabled")
    if before.web_search != after.web_search:
        flipped.add("web_search")
    return frozenset(flipped)

"""Presets beside the built-in ones: those of `config.toml`, which is read again when it changes, and the user's own.

The file is a person's and is never written. What is saved in the interface is a setting in the store. Where both have
a name, the file wins.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import structlog

from openprogram.app.beside import AGAIN_S, beside
from openprogram.app.config_file import CONFIG_FILE, ConfigFile, ConfigTables, read_config
from openprogram.core.errors import ConfigError
from openprogram.core.jsonio import JsonValue
from openprogram.core.tooling import Preset
from openprogram.sessions.presets import PRESETS
from openprogram.tools.presets import combine, read_presets
from openprogram.tools.registry import Registry

POLL_S: Final = 1.0
"""How often the file's time stamp is looked at."""

_Stamp = tuple[int, int, int] | None

_log = structlog.get_logger(__name__)


def config_presets(config: ConfigFile, tables: ConfigTables) -> tuple[Preset, ...]:
    """The presets of the file. Raises `ConfigError` with file, line and key."""
    with config.locating():
        presets = read_presets(tables.presets, "config")
        combine(presets)
    return presets


class PresetSource:
    """Keeps the registry's presets in step with the file and the setting."""

    def __init__(self, registry: Registry, configured: Iterable[Preset], own: JsonValue) -> None:
        self._registry = registry
        self._configured = tuple(configured)
        self._own = own
        self._fault: str | None = None
        self._apply()

    def configure(self, presets: Iterable[Preset]) -> None:
        """The file has these now."""
        self._configured, self._fault = tuple(presets), None
        self._apply()

    def refused(self, why: str) -> None:
        """The file cannot be read as it is now: its presets are those from before, and people are told."""
        self._fault = f"{why}. Until the file is right, its presets are those from before."
        self._apply()

    def setting_changed(self, _user_id: str, key: str, value: JsonValue) -> None:
        """Follow a setting that was stored."""
        if key == PRESETS:
            self._own = value
            self._apply()

    def _apply(self) -> None:
        usable, left_out = self._usable()
        problems: dict[str, tuple[str, ...]] = {} if self._fault is None else {CONFIG_FILE: (self._fault,)}
        if left_out:
            problems[PRESETS] = tuple(f"{preset.title} is left out: {why}" for preset, why in left_out.items())
        self._registry.set_presets((*self._configured, *usable), problems)

    def _usable(self) -> tuple[list[Preset], dict[Preset, str]]:
        """The user's presets that can be expanded beside the file's, and why others cannot (T13)."""
        usable = list[Preset]()
        waiting = read_presets(self._own or {}, "user")
        while waiting:  # those that include others are known once the others are
            problems: dict[Preset, str] = {}
            for preset in waiting:
                try:
                    combine((*self._configured, *usable, preset))
                except ConfigError as error:
                    problems[preset] = error.message
                else:
                    usable.append(preset)
            if len(problems) == len(waiting):
                for preset, problem in problems.items():
                    _log.warning("preset_left_out", preset=preset.name, error=problem)
                return usable, problems
            waiting = tuple(problems)
        return usable, {}


@asynccontextmanager
async def following(
    home: Path, source: PresetSource, poll_s: float = POLL_S, again_s: float = AGAIN_S
) -> AsyncIterator[None]:
    """Read the presets of `config.toml` again when the file changes. One that cannot be read changes nothing."""
    path = home / CONFIG_FILE
    seen = await asyncio.to_thread(_stamp, path)

    async def follow() -> None:
        nonlocal seen
        while True:
            await asyncio.sleep(poll_s)
            now = await asyncio.to_thread(_stamp, path)
            if now == seen:
                continue
            try:
                source.configure(await asyncio.to_thread(_read, home))
                _log.info("presets_read_again", file=str(path))
            except ConfigError as error:
                source.refused(error.message)
                _log.warning("presets_not_read", error=error.message, hint="the old ones stay until the file is right")
            seen = now

    async with beside(follow, "follow config.toml", again_s):
        yield


def _stamp(path: Path) -> _Stamp:
    """What changes when the file does; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _read(home: Path) -> tuple[Preset, ...]:
    config = read_config(home)
    return config_presets(config, config.tables())

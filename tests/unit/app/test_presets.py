"""Presets of the file and of the user side by side, and the file read again when it changes."""

import asyncio
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from openprogram.app.config_file import read_config
from openprogram.app.presets import PresetSource, config_presets, following
from openprogram.core.errors import ConfigError
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import Preset, Snapshot
from openprogram.tools.registry import Registry


def read(home: Path, text: str) -> tuple[Preset, ...]:
    (home / "config.toml").write_text(text)
    config = read_config(home)
    return config_presets(config, config.tables())


def test_a_preset_of_the_file_is_read_whole(tmp_path: Path) -> None:
    text = 'title = "Audit"\ndescription = "Look"\nentries = ["@readonly", "-web_*"]\nincludes = ["safe"]\n'
    (preset,) = read(tmp_path, f"[presets.audit]\n{text}")
    assert preset == Preset("audit", "Audit", "Look", ("@readonly", "-web_*"), ("safe",), "config")


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ('[presets.a]\nentries = ["@nothing"]', 2, "presets.a.entries"),
        ('[presets.a]\ntitle = "A"\nentries = "read"', 3, "presets.a.entries"),
        ('[presets.a]\nentrys = ["read"]', 2, "presets.a.entrys"),
        ('[presets.full]\nentries = ["read"]', 1, "presets.full"),
        ('[presets.a]\nincludes = ["b"]\n[presets.b]\nincludes = ["a"]', 2, "presets.a.includes"),
        ('\n[presets."a/b"]\n', 2, "presets.a/b"),
        ("[presets]\na = 5\n", 2, "presets.a"),
        ("[presets.a]\nentries = [1979-05-27]\n", 2, "presets.a.entries.0"),
    ],
)
def test_what_cannot_be_a_preset_is_named_with_file_line_and_key(
    tmp_path: Path, text: str, line: int, field: str
) -> None:
    with pytest.raises(ConfigError, match=f"config.toml, line {line}: ") as raised:
        read(tmp_path, text)
    assert raised.value.field == field


def sources(registry: Registry) -> dict[str, str]:
    return {name: preset.source for name, preset in registry.snapshot.presets.items()}


def names(registry: Registry) -> list[str]:
    return [preset.name for preset in registry.snapshot.presets.values() if preset.source != "builtin"]


def test_the_file_wins_over_the_user_and_what_leads_nowhere_stays_out() -> None:
    own: JsonObject = {
        "uses b": {"includes": ["b"]},
        "b": {"entries": ["read"]},
        "shared": {"entries": ["write"]},
        "lost": {"includes": ["deleted from the file"]},
    }
    registry = Registry()
    source = PresetSource(registry, (Preset("shared", "Shared", entries=("read",), source="config"),), own)
    assert names(registry) == ["shared", "b", "uses b"]
    assert sources(registry)["shared"] == "config"

    assert dict(registry.snapshot.problems) == {
        "presets": (
            "shared is left out: the preset 'shared' is defined already",
            "lost is left out: the preset 'lost' includes 'deleted from the file', which does not exist",
        )
    }

    source.configure(())
    assert set(names(registry)) == {"shared", "b", "uses b"}
    assert sources(registry)["shared"] == "user"

    source.setting_changed("u", "presets", {})
    source.setting_changed("u", "another key", own)
    assert names(registry) == []


async def test_a_file_that_changes_is_read_again_and_one_that_is_broken_changes_nothing_and_is_told(
    tmp_path: Path,
) -> None:
    registry = Registry()
    source = PresetSource(registry, (), None)
    seen: asyncio.Queue[Snapshot] = asyncio.Queue()
    registry.subscribe(seen.put_nowait)
    file = tmp_path / "config.toml"

    async def until(right: Callable[[Snapshot], bool]) -> Snapshot:
        while not right(snapshot := await seen.get()):
            pass
        return snapshot

    async with following(tmp_path, source, poll_s=0.01):
        file.write_text('[presets.a]\nentries = ["read"]\n')
        await until(lambda snapshot: "a" in snapshot.presets)
        file.write_text('[presets.a]\nentries = ["@nothing"]\n[presets.b]\n')
        broken = await until(lambda snapshot: bool(snapshot.problems))
        assert list(broken.presets)[-1] == "a"
        (told,) = broken.problems["config.toml"]
        assert "config.toml, line 2: " in told
        assert told.endswith("its presets are those from before.")
        file.write_text("x = " + "[" * 5_000 + "]" * 5_000)  # more than tomllib can bear
        await until(lambda snapshot: "nested too deeply" in snapshot.problems["config.toml"][0])
        file.write_text("\ufeff[presets.b]\n")
        mended = await until(lambda snapshot: not snapshot.problems)
        assert list(mended.presets)[-1] == "b"
        file.unlink()
        await until(lambda snapshot: all(preset.source == "builtin" for preset in snapshot.presets.values()))


async def test_a_fault_that_nobody_thought_of_ends_the_following_neither_silently_nor_for_good(
    tmp_path: Path,
) -> None:  # law 10
    faults = [LookupError("nobody thought of this")]

    class Odd(PresetSource):
        def configure(self, presets: Iterable[Preset]) -> None:
            chosen = tuple(presets)
            if chosen and faults:
                raise faults.pop()
            super().configure(chosen)
            if chosen:
                done.set()

    registry, done = Registry(), asyncio.Event()
    with capture_logs() as logs:
        async with following(tmp_path, Odd(registry, (), None), poll_s=0.01, again_s=0.01):
            (tmp_path / "config.toml").write_text('[presets.a]\nentries = ["read"]\n')
            await done.wait()
    assert "a" in registry.snapshot.presets
    assert [line["work"] for line in logs if line["event"] == "background_work_failed"] == ["follow config.toml"]

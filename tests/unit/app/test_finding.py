"""Finding by meaning is off until the settings say so, and says what it needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from openprogram.app.finding import VECTORS, finding
from openprogram.app.settings import Flags, Settings, load_settings
from openprogram.core.errors import ConfigError
from openprogram.tools.registry import Registry
from openprogram.tools.search import minilm
from tests.support.sentence_model import SIZE, write_model
from tests.support.tools import spec
from tests.support.tree import ROOT


def settings(home: Path, config: str = "") -> Settings:
    (home / "config.toml").write_text(config, "utf-8")
    return load_settings(Flags(home=str(home)), {})


async def test_words_alone_find_tools_unless_the_settings_say_otherwise(tmp_path: Path) -> None:
    registry = Registry()
    registry.put("builtin", [spec("weather")])
    async with finding(settings(tmp_path), registry) as finder:
        assert await finder.rank(registry.snapshot, "weather", {"weather"}, 8) == ("weather",)
    assert not (tmp_path / VECTORS).exists()


async def test_what_is_wanted_and_not_installed_is_a_fault_of_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package_of_weights")
    with pytest.raises(ConfigError) as refusal:
        async with finding(settings(tmp_path, "[tools]\nembeddings = true\n"), Registry()):
            raise AssertionError("it started")
    assert (refusal.value.field, "pip install" in (refusal.value.hint or "")) == ("tools.embeddings", True)


async def test_vectors_follow_the_registry_and_stay_in_the_data_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_model(tmp_path / "site" / "tiny_weights" / "model").parent.parent
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setattr(minilm, "PACKAGE", "tiny_weights")
    registry = Registry()
    registry.put("builtin", [spec("weather", description="Tells of rain.")])
    record = 16 + 2 * SIZE
    for _ in range(2):  # the second start makes nothing anew
        async with finding(settings(tmp_path, "[tools]\nembeddings = true\n"), registry) as finder:
            registry.put("mcp:files", [spec("patch", description="A patch of a file.")])
            assert finder._second is not None
            await finder._second.learn(registry.snapshot)  # type: ignore[attr-defined]
            found = await finder.rank(registry.snapshot, "rain", {"weather", "patch"}, 8)
        assert found == ("weather", "patch")
        assert (tmp_path / VECTORS).stat().st_size == 2 * record


def test_a_server_without_the_stage_does_not_import_numpy() -> None:
    code = "import openprogram.app.compose, sys; print('numpy' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "False"

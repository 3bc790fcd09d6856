"""docs/tools.md tells of each built-in tool, and truly."""

import re
from pathlib import Path

import pytest

from openprogram.app.builtin import BuiltinSource
from openprogram.app.settings import Flags, load_settings
from openprogram.core.tooling import Snapshot
from openprogram.tools.builtin.browser_config import BrowserConfig
from openprogram.tools.builtin.jobs import Jobs
from openprogram.tools.builtin.playwright_browser import Browsers
from openprogram.tools.presets import expand
from openprogram.tools.registry import Registry
from tests.support.tree import ROOT

ROW = re.compile(r"^\| `(?P<name>\w+)` \|[^|]+\|(?P<asks>[^|]*)\|(?P<presets>[^|]+)\|$", re.MULTILINE)
TEXT = (ROOT / "docs" / "tools.md").read_text()


@pytest.fixture
async def snapshot(tmp_path: Path) -> Snapshot:
    registry = Registry()
    async with Jobs() as jobs:
        settings = load_settings(Flags(home=str(tmp_path)), {})
        BuiltinSource(settings, registry, jobs, Browsers(BrowserConfig()), None).register(keyless_consent=True)
        return registry.snapshot


def test_each_tool_has_its_line_with_its_presets(snapshot: Snapshot) -> None:
    presets = ("default", "coding", "research", "browser", "safe")
    members = {name: expand(name, snapshot.presets, snapshot.tools).names for name in presets}
    true = {
        tool.name: ", ".join(f"`{name}`" for name in presets if tool.name in members[name]) for tool in snapshot.tools
    }
    true["tool_search"] = "all but `none`"
    assert {row["name"]: row["presets"].strip() for row in ROW.finditer(TEXT)} == true


def test_what_asks_is_what_changes_something(snapshot: Snapshot) -> None:
    asks = {row["name"] for row in ROW.finditer(TEXT) if row["asks"].strip()}
    assert asks == {tool.name for tool in snapshot.tools if tool.permission in ("write", "execute") or tool.judge}

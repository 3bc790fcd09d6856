"""What every request pays for tools: the resident set and its price (spec tools.md T19)."""

from pathlib import Path
from typing import Final

import pytest

from openprogram.app.builtin import BuiltinSource
from openprogram.app.settings import Flags, load_settings
from openprogram.core.jsonio import canonical
from openprogram.core.tooling import DISCOVERY_TOOL, ToolSpec
from openprogram.providers.pricing import wire_tool
from openprogram.tokens import count_tokens
from openprogram.tools.builtin.browser_config import BrowserConfig
from openprogram.tools.builtin.jobs import Jobs
from openprogram.tools.builtin.playwright_browser import Browsers
from openprogram.tools.registry import Registry

BUDGET: Final = 2_600
"""Tokens (o200k) of the resident set on the wire. Raise it on purpose only: every request of every chat pays it."""

RESIDENT: Final = frozenset(
    {"bash", "read", "write", "edit", "glob", "grep", "list", "web_fetch", "todo", "ask_user", "agent"}
    | {"tool_search", "web_search"}
)
"""The whole list of T19; those that do not exist yet are in it already."""


@pytest.fixture
async def tools(tmp_path: Path) -> tuple[ToolSpec, ...]:
    """Every tool that the program brings along."""
    registry = Registry()
    async with Jobs() as jobs:
        settings = load_settings(Flags(home=str(tmp_path)), {})
        BuiltinSource(settings, registry, jobs, Browsers(BrowserConfig()), None).register(keyless_consent=True)
        return registry.snapshot.tools


def on_the_wire(tool: ToolSpec) -> str:
    """A tool in the wrapper that costs most, that of Chat Completions."""
    return canonical(wire_tool("openai-chat", tool.declaration)).decode()


def test_the_resident_set_costs_no_more_than_its_budget(tools: tuple[ToolSpec, ...]) -> None:  # T19
    resident = [tool for tool in tools if tool.residency == "resident"]
    cost = sum(count_tokens(on_the_wire(tool)) for tool in resident)
    assert cost <= BUDGET, f"{cost} tokens: {[tool.name for tool in resident]}"


def test_nothing_is_resident_that_is_not_on_the_list(tools: tuple[ToolSpec, ...]) -> None:  # T19
    assert {tool.name for tool in tools if tool.residency == "resident"} <= RESIDENT
    assert {tool.name for tool in tools if tool.residency == "deferred"} & RESIDENT == set()


def test_the_tool_that_finds_the_others_is_resident_everywhere_but_in_none(tools: tuple[ToolSpec, ...]) -> None:
    (search,) = [tool for tool in tools if tool.name == DISCOVERY_TOOL]
    assert (search.residency, search.readonly, search.permission, search.network) == ("resident", True, "none", False)
    assert {"coding", "research", "browser"} <= set(search.presets)


def test_no_description_tells_a_tool_from_another_by_name(tools: tuple[ToolSpec, ...]) -> None:  # C11
    names = {tool.name for tool in tools if "_" in tool.name}
    for tool in tools:
        said = on_the_wire(tool)
        assert [name for name in names - {tool.name} if name in said] == []

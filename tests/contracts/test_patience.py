"""Tests hold on a slow machine: what they wait for may take `WAIT_S`, and a page is waited for, not looked at once."""

import ast
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.tree import ROOT, Module, dotted_name, modules, write_tree

LIMITS = {"asyncio.timeout": 0, "asyncio.wait_for": 1}  # where the seconds stand
GLIMPSES = frozenset(
    {
        *("is_visible", "is_hidden", "is_enabled", "is_disabled", "is_checked", "is_editable"),
        *("get_attribute", "input_value", "all_inner_texts", "wait_for_timeout"),
    }
)
"""What Playwright answers at once, where `expect` has a question that waits."""


def hasty(tree: Sequence[Module]) -> list[str]:
    """Every limit in seconds of a test's own. None at all, or 0, measures nothing."""
    return [
        f"{module.path}:{node.lineno}: a limit of its own; wait for `tests.support.ws.WAIT_S`"
        for module in tree
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and (place := LIMITS.get(dotted_name(node.func))) is not None
        for limit in [*node.args[place : place + 1], *(k.value for k in node.keywords if k.arg == "timeout")]
        if isinstance(limit, ast.Constant) and limit.value
    ]


def glimpses(tree: Sequence[Module]) -> list[str]:
    """Every question to a page that is answered as it stands at this moment."""
    return [
        f"{module.path}:{node.lineno}: {node.func.attr} does not wait; `expect` does"
        for module in tree
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in GLIMPSES
    ]


def test_no_test_has_a_time_limit_of_its_own() -> None:
    assert hasty(modules(ROOT, "tests")) == []


def test_a_page_is_waited_for() -> None:
    tree = [module for module in modules(ROOT, "tests") if module.path.startswith("tests/browser/")]
    assert tree
    assert glimpses(tree) == []


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("asyncio.timeout(10)", 1),
        ("asyncio.wait_for(task, 0.5)", 1),
        ("asyncio.wait_for(task, timeout=5)", 1),
        ("asyncio.timeout(WAIT_S)", 0),
        ("asyncio.timeout(None)", 0),
        ("asyncio.timeout(0)", 0),
    ],
)
def test_a_limit_is_found(tmp_path: Path, statement: str, found: int) -> None:
    assert len(hasty(modules(write_tree(tmp_path, {"tests/a.py": statement}), "tests"))) == found


@pytest.mark.parametrize(
    ("statement", "found"), [("line.get_attribute('rel')", 1), ("expect(line).to_have_attribute('rel', 'x')", 0)]
)
def test_a_glimpse_is_found(tmp_path: Path, statement: str, found: int) -> None:
    assert len(glimpses(modules(write_tree(tmp_path, {"tests/browser/a.py": statement}), "tests"))) == found

"""Intent has one writer and the log has one door (spec tools.md T10, design law 8)."""

import ast
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest

from tests.support.tree import Module, dotted_name, modules, write_tree

MAKERS: dict[str, frozenset[str]] = {
    # `sessions/intents` changes an intent, `sessions/manage` gives a new chat its first one.
    "IntentChanged": frozenset({"openprogram/sessions/intents.py", "openprogram/sessions/manage.py"}),
    # Rows mirror events: nobody writes a row past its event.
    "PutIntent": frozenset({"openprogram/sessions/project.py"}),
    "PutMessage": frozenset({"openprogram/sessions/project.py"}),
    "PutQueue": frozenset({"openprogram/sessions/project.py"}),
    "PutApproval": frozenset({"openprogram/sessions/project.py"}),
    "ResolveApproval": frozenset({"openprogram/sessions/project.py"}),
}
"""Which modules may make which value. The classes' own module and matching on them are no making."""


def strangers(tree: Sequence[Module], makers: dict[str, frozenset[str]]) -> list[str]:
    """Every place that makes such a value and is not in the table, and every maker that makes none."""
    found, used = [], set()
    for module in tree:
        for node in _constructions(module, makers):
            name = dotted_name(node.func).rpartition(".")[2]
            used.add((name, module.path))
            if module.path not in makers[name]:
                found.append(f"{module.path}:{node.lineno}: {name} is made here")
    unused = {(name, path) for name, paths in makers.items() for path in paths} - used
    return found + [f"{path}: makes no {name}" for name, path in sorted(unused)]


def _constructions(module: Module, names: Collection[str]) -> list[ast.Call]:
    patterns = {id(node.cls) for node in ast.walk(module.tree) if isinstance(node, ast.MatchClass)}
    calls = (node for node in ast.walk(module.tree) if isinstance(node, ast.Call) and id(node.func) not in patterns)
    return [node for node in calls if dotted_name(node.func).rpartition(".")[2] in names]


def test_intents_and_rows_are_written_in_one_place() -> None:  # T10
    assert strangers(modules(), MAKERS) == []


@pytest.mark.parametrize("source", ["PutIntent(x, 1)", "storage.PutIntent(x, 1)"])
def test_another_writer_is_found(tmp_path: Path, source: str) -> None:
    tree = modules(write_tree(tmp_path, {"openprogram/channels/telegram.py": source}))
    assert strangers(tree, {"PutIntent": frozenset()}) == ["openprogram/channels/telegram.py:1: PutIntent is made here"]


def test_matching_is_no_writing(tmp_path: Path) -> None:
    source = "match write:\n  case PutIntent(intent):\n    pass\n"
    assert (
        strangers(modules(write_tree(tmp_path, {"openprogram/store/a.py": source})), {"PutIntent": frozenset()}) == []
    )

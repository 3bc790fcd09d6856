"""No import cycle between modules, imports inside functions and under TYPE_CHECKING counted."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.tree import Module, by_name, imports, modules, resolve, write_tree


def cycle(tree: Sequence[Module]) -> list[str]:
    """One import cycle as the names along it, first one repeated at the end; empty where there is none."""
    graph = {name: _imported(module, by_name(tree)) for name, module in by_name(tree).items()}
    done: set[str] = set()
    for start in graph:
        found = _search(graph, start, [], done)
        if found:
            return found
    return []


def _imported(module: Module, known: Mapping[str, Module]) -> list[str]:
    targets = {resolve(imported.target, known) for imported in imports(module)}
    return sorted(target for target in targets if target is not None and target != module.name)


def _search(graph: Mapping[str, list[str]], name: str, path: list[str], done: set[str]) -> list[str]:
    if name in path:
        return [*path[path.index(name) :], name]
    if name in done:
        return []
    for target in graph[name]:
        found = _search(graph, target, [*path, name], done)
        if found:
            return found
    done.add(name)
    return []


def test_no_import_cycle() -> None:
    assert " -> ".join(cycle(modules())) == ""


@pytest.mark.parametrize(
    "statement",
    [
        "import openprogram.a",
        "from openprogram import a",
        "def f():\n    from openprogram.a import g",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from openprogram.a import T",
    ],
)
def test_a_cycle_is_found(tmp_path: Path, statement: str) -> None:
    files = {"__init__": "", "a": "from openprogram import b", "b": "import openprogram.c", "c": statement}
    write_tree(tmp_path, {f"openprogram/{name}.py": source for name, source in files.items()})
    assert cycle(modules(tmp_path)) == ["openprogram.a", "openprogram.b", "openprogram.c", "openprogram.a"]

"""Imports point downward only, and packages of one layer do not import each other (design.md, Layers)."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.tree import Module, imports, modules, write_tree

# From the top down. Packages in one group are one unit; groups in one row are siblings.
LAYERS: tuple[tuple[frozenset[str], ...], ...] = (
    (frozenset({"__main__"}),),
    (frozenset({"cli"}),),
    (frozenset({"app", "settings"}),),
    (frozenset({"server"}), frozenset({"fakeapi"})),
    (frozenset({"sessions"}),),
    (frozenset({"agent"}),),
    (frozenset({"tools"}), frozenset({"context"}), frozenset({"surface"}), frozenset({"ledger"})),
    tuple(frozenset({name}) for name in ("providers", "store", "bus", "permissions", "mcp", "sandbox")),
    (frozenset({"session_config"}), frozenset({"net"}), frozenset({"tokens"})),
    (frozenset({"core"}),),
    (frozenset({""}),),  # openprogram/__init__.py, which everything imports and which imports nothing
)

# Tighter than the layer allows: the whole list of what these may import from openprogram.
ONLY: dict[str, frozenset[str]] = {
    "fakeapi": frozenset({"core", "tokens"}),
    "__main__": frozenset({"cli"}),
    "web": frozenset(),  # built files; at most an __init__.py with a docstring
}


def violations(tree: Sequence[Module]) -> list[str]:
    """Every import of one part of openprogram by another that the table does not allow."""
    parts = {_part(module.name) for module in tree}
    found = []
    for module in tree:
        importer = _part(module.name)
        if importer != "web" and _row(importer) is None:
            found.append(f"{module.path}: `{importer}` is in no layer of the table")
            continue
        for imported in imports(module):
            target = _part(imported.target)
            ours = imported.target.startswith("openprogram.") and (target in parts or _row(target) is not None)
            if ours and target != importer and not _allowed(importer, target):
                found.append(f"{module.path}:{imported.line}: {importer} must not import {imported.target}")
    return found


def _part(module: str) -> str:
    return [*module.split("."), ""][1]


def _row(part: str) -> int | None:
    return next((i for i, row in enumerate(LAYERS) if any(part in group for group in row)), None)


def _allowed(importer: str, imported: str) -> bool:
    if importer in ONLY:
        return imported in ONLY[importer]
    upper, lower = _row(importer), _row(imported)
    if upper is None or lower is None:
        return False
    return upper < lower or any({importer, imported} <= group for group in LAYERS[upper])


def test_imports_point_downward_only() -> None:
    tree = modules()
    assert any(module.name.startswith("openprogram.core.") for module in tree)
    assert violations(tree) == []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        pytest.param("core/ids.py", "import openprogram.store.sqlite", id="upward"),
        pytest.param("core/ids.py", "from openprogram import store", id="upward-from-package"),
        pytest.param("core/ids.py", "from ..store import sqlite", id="relative"),
        pytest.param("tools/read.py", "def f():\n    import openprogram.context.x", id="sibling-in-function"),
        pytest.param("fakeapi/app.py", "from openprogram.net import x", id="fakeapi"),
        pytest.param("web/__init__.py", "from openprogram.core import ids", id="web"),
        pytest.param("__init__.py", "from openprogram.core import ids", id="root-package"),
        pytest.param("utils/x.py", "", id="package-in-no-layer"),
    ],
)
def test_a_forbidden_import_is_found(tmp_path: Path, path: str, source: str) -> None:
    names = ("__init__", "core/ids", "store/sqlite", "net/x", "context/x")
    write_tree(tmp_path, {f"openprogram/{name}.py": "" for name in names})
    write_tree(tmp_path, {f"openprogram/{path}": source})
    assert len(violations(modules(tmp_path))) == 1


def test_an_allowed_import_is_not_found(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        {
            "openprogram/__init__.py": "",
            "openprogram/settings.py": "from openprogram import __doc__",
            "openprogram/app.py": "from openprogram.settings import x\nfrom openprogram.server import y",
            "openprogram/server.py": "import openprogram.core.ids",
            "openprogram/core/ids.py": "from . import errors\nimport sqlite3",
            "openprogram/core/errors.py": "",
        },
    )
    assert violations(modules(tmp_path)) == []

"""Small laws of the package: no ContextVar but a log id, frozen slotted core, a docstring per module."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.tree import Module, definitions, dotted_name, modules, write_tree

LOG_ID = "log_id"  # law 1: a ContextVar may carry a log id, under this name, and nothing else

# "path:Class" of core dataclasses that are mutable on purpose, each with its reason beside it.
MUTABLE: frozenset[str] = frozenset()


def context_variables(tree: Sequence[Module]) -> list[str]:
    """Every ContextVar that is not the log id."""
    return [
        f"{module.path}:{node.lineno}: a ContextVar; pass the value as an argument"
        for module in tree
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Call) and dotted_name(node.func).rpartition(".")[2] == "ContextVar"
        if not (node.args and isinstance(node.args[0], ast.Constant) and node.args[0].value == LOG_ID)
    ]


def loose_dataclasses(tree: Sequence[Module]) -> list[str]:
    """Every dataclass of core that is not frozen or not slotted."""
    return [
        f"{where}: @dataclass needs frozen=True and slots=True"
        for where, arguments in _dataclasses(tree)
        if not {"frozen", "slots"} <= arguments and where not in MUTABLE
    ]


def _dataclasses(tree: Sequence[Module]) -> Iterator[tuple[str, set[str]]]:
    for module in tree:
        for name, node in definitions(module.tree):
            for decorator in node.decorator_list:
                call = decorator.func if isinstance(decorator, ast.Call) else decorator
                if dotted_name(call).rpartition(".")[2] == "dataclass":
                    keywords = decorator.keywords if isinstance(decorator, ast.Call) else []
                    yield f"{module.path}:{name}", {str(k.arg) for k in keywords if _is_true(k.value)}


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def undocumented(tree: Sequence[Module]) -> list[str]:
    """Every module without a docstring."""
    return [f"{module.path}: no docstring" for module in tree if not ast.get_docstring(module.tree)]


def test_no_context_variable_but_the_log_id() -> None:
    assert context_variables(modules()) == []


def test_core_dataclasses_are_frozen_and_slotted() -> None:
    tree = [module for module in modules() if module.name.startswith("openprogram.core")]
    names = {where for where, _ in _dataclasses(tree)}
    assert names
    assert loose_dataclasses(tree) == []
    assert names >= MUTABLE


def test_every_module_has_a_docstring() -> None:
    assert undocumented(modules()) == []


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("x = ContextVar('x')", 1),
        ("def f():\n    x: T = contextvars.ContextVar('tools', default=())", 1),
        ("x = ContextVar(name)", 1),
        ("x = ContextVar('log_id', default='')", 0),
    ],
)
def test_a_context_variable_is_found(tmp_path: Path, statement: str, found: int) -> None:
    assert len(context_variables(modules(write_tree(tmp_path, {"openprogram/a.py": statement})))) == found


@pytest.mark.parametrize(
    ("decorator", "found"),
    [
        ("@dataclass", 1),
        ("@dataclasses.dataclass(frozen=True)", 1),
        ("@dataclass(frozen=True, slots=False)", 1),
        ("@final\n@dataclass(frozen=True, slots=True)", 0),
        ("@total_ordering", 0),
    ],
)
def test_a_loose_dataclass_is_found(tmp_path: Path, decorator: str, found: int) -> None:
    tree = modules(write_tree(tmp_path, {"openprogram/core/a.py": f"{decorator}\nclass A: pass\n"}))
    assert len(loose_dataclasses(tree)) == found


def test_a_module_without_docstring_is_found(tmp_path: Path) -> None:
    files = {"openprogram/a.py": "# Words.\n", "openprogram/b.py": '"""Words."""\n'}
    assert undocumented(modules(write_tree(tmp_path, files))) == ["openprogram/a.py: no docstring"]

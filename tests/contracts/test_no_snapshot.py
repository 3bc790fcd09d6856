"""No code writes the expansion of a preset, or of "all tools", back into an intent (spec tools.md T1).

A small taint analysis, function by function. Whatever comes out of a resolution, a contract, a registry snapshot or
an expansion is tainted, also through local variables; the three name lists of an intent must never be tainted.
"""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.tree import Module, dotted_name, modules, write_tree

# The lists that an intent can hold, in the order of ToolIntent's fields.
LISTS = ("disabled", "picked", "allowed")
INTENT = "ToolIntent"
POSITIONS = {3: "disabled", 4: "picked", 5: "allowed"}

TAINTED_TYPES = frozenset(
    {"Resolution", "Contract", "ContractTool", "Snapshot", "ToolSpec", "Preset", "LoadedSet", "Registry"}
)
TAINTED_NAMES = frozenset(
    {"resolution", "contract", "snapshot", "registry", "kept", "loaded", "entries", "presets"}
    | {"resolve", "expand", "expand_preset", "freeze"}
)


def violations(tree: Sequence[Module]) -> list[str]:
    """Every place where names of tools that were computed go into a list of an intent."""
    found = []
    for module in tree:
        for scope in _scopes(module.tree):
            tainted = _tainted_locals(scope)
            for node in ast.walk(scope):
                for field, value in _writes(node):
                    if _is_tainted(value, tainted):
                        found.append(f"{module.path}:{value.lineno}: `{field}` is filled with an expansion (T1)")
    return sorted(set(found))


def _scopes(tree: ast.Module) -> Iterator[ast.stmt]:
    """Top-level statements, and for classes those of their bodies: a method's nested functions share its names."""
    for statement in tree.body:
        yield from statement.body if isinstance(statement, ast.ClassDef) else [statement]


def _writes(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """The values that `node` itself puts into a field named like an intent's list."""
    if isinstance(node, ast.Call):
        yield from ((keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg in LISTS)
        if dotted_name(node.func).rpartition(".")[2] == INTENT:
            yield from ((POSITIONS[i], value) for i, value in enumerate(node.args) if i in POSITIONS)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value in LISTS:
                yield str(key.value), value
    elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None:
        for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
            field = _stored_field(target)
            if field in LISTS:
                yield field, node.value


def _stored_field(target: ast.expr) -> str:
    if isinstance(target, ast.Attribute):
        return target.attr
    if isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant):
        return str(target.slice.value)
    return ""


def _tainted_locals(scope: ast.AST) -> set[str]:
    """Names bound in the scope to something tainted: parameters by their annotation, the rest by their value."""
    tainted = {
        node.arg
        for node in ast.walk(scope)
        if isinstance(node, ast.arg) and node.annotation is not None and _names(node.annotation) & TAINTED_TYPES
    }
    while True:
        bound = {
            name
            for node in ast.walk(scope)
            for target, value in _bindings(node)
            if _is_tainted(value, tainted)
            for name in _names(target)
        }
        if bound <= tainted:
            return tainted
        tainted |= bound


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets if not isinstance(target, ast.Attribute))
        case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
            yield target, value
        case ast.NamedExpr(target=target, value=value):
            yield target, value
        case ast.For(target=target, iter=value) | ast.AsyncFor(target=target, iter=value):
            yield target, value
        case ast.comprehension(target=target, iter=value):
            yield target, value
        case _:
            pass


def _is_tainted(value: ast.expr, tainted: set[str]) -> bool:
    return bool(_names(value) & (tainted | TAINTED_NAMES))


def _names(node: ast.expr) -> set[str]:
    """Every name and attribute in an expression; an annotation in quotes is read too."""
    found = set()
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            found.add(child.id)
        elif isinstance(child, ast.Attribute):
            found.add(child.attr)
        elif isinstance(child, ast.Constant) and isinstance(child.value, str) and child.value.isidentifier():
            found.add(child.value)
    return found


def test_no_code_writes_an_expansion_back() -> None:  # T1
    assert violations(modules()) == []


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def f(r): return ToolIntent(picked=r.kept)", id="attribute"),
        pytest.param("def f(intent, r: Resolution): return replace(intent, picked=r.names)", id="parameter"),
        pytest.param("def f(r: 'Contract'): return Patch(allowed=list(r.names))", id="quoted-annotation"),
        pytest.param("def f(r: core.Snapshot | None): return ToolIntent(None, None, None, (), r.names)", id="position"),
        pytest.param("x = resolve(a, b)\ndef f(): return {'picked': [t.name for t in resolve(a, b).kept]}", id="dict"),
        pytest.param("def f():\n  a = resolve(i, s)\n  b = sorted(n.name for n in a)\n  g(picked=b)", id="locals"),
        pytest.param("def f(names):\n  for t in registry.tools:\n    row['disabled'] = [t.name]", id="loop-and-row"),
        pytest.param("class A:\n  async def f(self):\n    g(picked=await self.expand('full'))", id="method"),
        pytest.param("def f(tools: Sequence[ToolSpec]):\n  x.picked = tuple(t.name for t in tools)", id="all-tools"),
    ],
)
def test_a_snapshot_in_an_intent_is_found(tmp_path: Path, source: str) -> None:
    assert len(violations(modules(write_tree(tmp_path, {"openprogram/a.py": source})))) == 1


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def f(action): return patch(picked=action.tools)", id="what-the-user-picked"),
        pytest.param("def f(row): return ToolIntent(disabled=tuple(row['disabled']))", id="what-was-stored"),
        pytest.param("def f(a: ToolIntent, b): return replace(a, disabled=a.disabled + b.disabled)", id="merge"),
        pytest.param("def f(r: Resolution): return Frame(tools=r.names, dropped=r.dropped)", id="shown"),
    ],
)
def test_what_the_user_said_is_not_found(tmp_path: Path, source: str) -> None:
    assert violations(modules(write_tree(tmp_path, {"openprogram/a.py": source}))) == []

"""The source tree as data, for the contract tests: modules, their imports, their functions.

Every checker of `tests/contracts` takes modules or files as an argument, so that it runs on this repository
and on a small bad tree that a test writes to see it fail.
"""

import ast
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Module:
    """One Python file: its dotted name from the tree's root, its path from there, and its syntax tree."""

    name: str
    path: str
    tree: ast.Module
    lines: int


@dataclass(frozen=True, slots=True)
class Import:
    """One import statement's target: the full dotted name of a module, or of a name inside a module."""

    target: str
    line: int


@cache
def modules(root: Path = ROOT, *folders: str) -> tuple[Module, ...]:
    """The Python files under `folders` (default: `openprogram`) of `root`, in the order of their paths."""
    found = []
    for folder in folders or ("openprogram",):
        for file in sorted((root / folder).rglob("*")):
            if is_python(file):
                source = file.read_text(encoding="utf-8")
                path = file.relative_to(root)
                tree = ast.parse(source, filename=str(path))
                found.append(Module(_dotted(path), path.as_posix(), tree, source.count("\n")))
    return tuple(found)


def is_python(file: Path) -> bool:
    """Whether `file` is a Python source: by its suffix, or by its first line where it has none."""
    if not file.is_file():
        return False
    if file.suffix:
        return file.suffix == ".py"
    with file.open("rb") as opened:
        first = opened.readline()
    return first.startswith(b"#!") and b"python" in first


def imports(module: Module) -> Iterator[Import]:
    """Every import in a module, wherever it stands: inside functions and under TYPE_CHECKING too.

    `from a import b` gives `a.b`, since only the tree knows whether `b` is a module of `a`: see `resolve`.
    """
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                base = _absolute(module, node)
                yield Import(base if alias.name == "*" else f"{base}.{alias.name}", node.lineno)


def resolve(target: str, known: Mapping[str, Module]) -> str | None:
    """The longest prefix of `target` that is a module of the tree; None for a foreign one."""
    while target and target not in known:
        target = target.rpartition(".")[0]
    return target or None


def functions(module: Module) -> Iterator[tuple[str, Function]]:
    """Every function of a module, nested ones too, with its qualified name (`Class.method.inner`)."""
    return ((name, node) for name, node in definitions(module.tree) if not isinstance(node, ast.ClassDef))


def definitions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function | ast.ClassDef]]:
    """Every class and function below `node`, with its qualified name, outermost first."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}{child.name}"
            yield name, child
            yield from definitions(child, f"{name}.")
        else:
            yield from definitions(child, prefix)


def enclosing(module: Module, line: int) -> str:
    """The qualified name of the innermost function or class around a line; `<module>` outside all."""
    name = "<module>"
    for qualified, node in definitions(module.tree):
        if node.lineno <= line <= (node.end_lineno or node.lineno):
            name = qualified
    return name


def dotted_name(node: ast.AST) -> str:
    """`a.b.c` for the expression `a.b.c`; the empty string for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = dotted_name(node.value)
        return f"{base}.{node.attr}" if base else ""
    return ""


@cache
def tracked_files(root: Path = ROOT) -> tuple[str, ...]:
    """The files that git tracks or would track, as paths from `root`."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    return tuple(sorted(name for name in listed.split("\0") if name and (root / name).is_file()))


def write_tree(root: Path, files: Mapping[str, str]) -> Path:
    """Write a small tree for a checker to find fault with; return its root."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def by_name(found: Iterable[Module]) -> dict[str, Module]:
    """Modules by their dotted names."""
    return {module.name: module for module in found}


def _dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    is_package = module.path.endswith("/__init__.py")
    package = module.name.split(".")[: None if is_package and node.level == 1 else -node.level + is_package]
    return ".".join([*package, node.module] if node.module else package)

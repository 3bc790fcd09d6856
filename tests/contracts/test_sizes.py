"""Files of at most 300 lines and functions of at most 60 (design.md, law 11)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.tree import ROOT, Module, functions, modules, tracked_files, write_tree

FILE_LINES = 300
FUNCTION_LINES = 60


@dataclass(frozen=True, slots=True)
class Exempt:
    """A file or function that may be longer, up to `lines`, and why. The list may only shrink."""

    lines: int
    reason: str


# Keys: "path" for a file, "path:Class.method" for a function.
EXEMPT: dict[str, Exempt] = {}


@dataclass(frozen=True, slots=True)
class Size:
    """How long one file or function is, and how long one of its kind may be."""

    key: str
    lines: int
    limit: int


def python_sizes(tree: Sequence[Module]) -> Iterator[Size]:
    """The sizes of all modules and of all functions in them."""
    for module in tree:
        yield Size(module.path, module.lines, FILE_LINES)
        for name, node in functions(module):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            yield Size(f"{module.path}:{name}", lines, FUNCTION_LINES)


def interface_sizes(root: Path, files: Sequence[str]) -> Iterator[Size]:
    """The sizes of the interface's source files, generated ones aside."""
    for name in files:
        ours = name.startswith("webui/src/") and not name.endswith(".gen.ts")
        if ours and name.endswith((".ts", ".svelte", ".css")):
            yield Size(name, (root / name).read_text(encoding="utf-8").count("\n"), FILE_LINES)


def violations(sizes: Sequence[Size], exempt: Mapping[str, Exempt]) -> list[str]:
    """What is too long, and every exemption that is not needed any more or has no reason."""
    found = []
    for size in sizes:
        allowed = exempt[size.key].lines if size.key in exempt else size.limit
        if size.lines > allowed:
            found.append(f"{size.key}: {size.lines} lines, at most {allowed}")
    measured = {size.key: size for size in sizes}
    for key, entry in exempt.items():
        if len(entry.reason.split()) < 3:
            found.append(f"{key}: exempt without a reason")
        if key not in measured or measured[key].lines <= measured[key].limit:
            found.append(f"{key}: exempt, but no longer too long: take it off the list")
    return found


def test_files_and_functions_stay_short() -> None:
    python = python_sizes(modules(ROOT, "openprogram", "scripts", "benchmarks", "tests"))
    assert violations([*python, *interface_sizes(ROOT, tracked_files())], EXEMPT) == []


@pytest.mark.parametrize(("lines", "found"), [(298, 0), (299, 1)])
def test_a_long_file_is_found(tmp_path: Path, lines: int, found: int) -> None:
    write_tree(tmp_path, {"openprogram/a.py": '"""Doc."""\n\n' + "x = 1\n" * lines})
    assert len(violations(list(python_sizes(modules(tmp_path))), {})) == found


@pytest.mark.parametrize(("lines", "found"), [(58, 0), (59, 1)])
def test_a_long_method_is_found(tmp_path: Path, lines: int, found: int) -> None:
    body = "        pass\n" * lines
    write_tree(tmp_path, {"openprogram/a.py": f"class A:\n    async def f(self):\n{body}        return 1\n"})
    faults = violations(list(python_sizes(modules(tmp_path))), {})
    assert len(faults) == found
    assert all(fault.startswith("openprogram/a.py:A.f:") for fault in faults)


def test_a_long_component_of_the_interface_is_found(tmp_path: Path) -> None:
    write_tree(tmp_path, {"webui/src/A.svelte": "<p></p>\n" * 301})
    assert len(violations(list(interface_sizes(tmp_path, ["webui/src/A.svelte"])), {})) == 1


@pytest.mark.parametrize(
    ("lines", "entry", "found"),
    [
        pytest.param(350, Exempt(350, "one table, one file"), 0, id="needed"),
        pytest.param(351, Exempt(350, "one table, one file"), 1, id="grown"),
        pytest.param(300, Exempt(350, "one table, one file"), 1, id="no-longer-needed"),
        pytest.param(350, Exempt(350, "long"), 1, id="no-reason"),
    ],
)
def test_an_exemption_can_only_shrink(lines: int, entry: Exempt, found: int) -> None:
    assert len(violations([Size("a.py", lines, FILE_LINES)], {"a.py": entry})) == found


def test_an_exemption_for_what_is_gone_is_found() -> None:
    assert len(violations([], {"gone.py": Exempt(350, "one table, one file")})) == 1

"""What must not stand in any tracked file: registry hosts, paths of a machine, another project's install command."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.support.tree import ROOT, tracked_files, write_tree

# Host names are put together here, so that this file holds none.
HOSTS = tuple(
    ".".join(labels)
    for labels in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("registry", "npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("proxy", "golang", "org"),
        ("deb", "debian", "org"),
        ("crates", "io"),
        ("rubygems", "org"),
    )
)

FORBIDDEN: dict[str, re.Pattern[str]] = {
    "a registry's host name": re.compile("|".join(map(re.escape, HOSTS)), re.IGNORECASE),
    "a path of one machine": re.compile(
        r"(?<![\w./~-])(?:/work/(?:main|wt|shared|\.library)|/roo[t]|/Users/\w+|/opt/(?:pypi|wheels))\b(?![-\w])"
    ),
    # The distribution is openprogram-server; the shorter name belongs to another project on the package index.
    "an install of another project's package": re.compile(r"\binstall\s+(?:-\S+\s+)*openprogram(?![\w-])"),
}

# path -> what it may hold, and why.
ALLOWED: dict[str, dict[str, str]] = {}


def violations(root: Path, files: Sequence[str], allowed: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Every forbidden text with its file and line, and every allowance that nothing needs."""
    found, used = [], set()
    for name in files:
        text = (root / name).read_text(encoding="utf-8", errors="replace")
        for what, pattern in FORBIDDEN.items():
            for match in pattern.finditer(text):
                if what in allowed.get(name, {}):
                    used.add((name, what))
                else:
                    found.append(f"{name}:{text.count(chr(10), 0, match.start()) + 1}: {what}: {match[0]}")
    needed = [(name, what) for name, entries in allowed.items() for what in entries]
    return found + [f"{name}: {what} is allowed, but not there" for name, what in needed if (name, what) not in used]


def test_no_tracked_file_holds_forbidden_text() -> None:
    files = tracked_files()
    assert "pyproject.toml" in files
    assert violations(ROOT, files, ALLOWED) == []


@pytest.mark.parametrize(
    "text",
    [
        *(f'"resolved": "https://{host}/a.tgz"' for host in HOSTS),
        "cd /work/" + "main && ls",
        'open("/ro' + 'ot/.cache/x")',
        "pip install " + "openprogram",
        "pip3 install -U " + "openprogram && openprogram serve",
        "uv tool install " + "openprogram\n",
    ],
)
def test_forbidden_text_is_found(tmp_path: Path, text: str) -> None:
    write_tree(tmp_path, {"a.md": f"first line\n{text}\n"})
    faults = violations(tmp_path, ["a.md"], {})
    assert len(faults) == 1
    assert faults[0].startswith("a.md:2:")


@pytest.mark.parametrize(
    "text",
    [
        "pip install openprogram-server",
        "pip install dist/*.whl",
        "/workspace/a",
        "a/root/b",
        "https://x.test/root",
    ],
)
def test_ordinary_text_is_not_found(tmp_path: Path, text: str) -> None:
    write_tree(tmp_path, {"a.md": text})
    assert violations(tmp_path, ["a.md"], {}) == []


def test_an_allowance_that_is_not_needed_is_found(tmp_path: Path) -> None:
    write_tree(tmp_path, {"a.md": "nothing"})
    assert len(violations(tmp_path, ["a.md"], {"a.md": {"a path of one machine": "it is an example"}})) == 1

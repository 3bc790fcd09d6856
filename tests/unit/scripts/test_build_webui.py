"""scripts/build_webui.py: builds what is stale, only that, and says what is missing."""

from pathlib import Path

import pytest

from scripts.build_webui import BuildError, ensure_built, source_hash
from tests.support.interface_stub import FILES
from tests.support.tree import write_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_tree(tmp_path, FILES)


def built(root: Path) -> str:
    return (root / "openprogram/web/static/index.html").read_text(encoding="utf-8")


def test_it_builds_once_and_again_when_a_source_changes(root: Path) -> None:
    assert ensure_built(root)
    assert built(root) == "<p>one</p>"
    assert not ensure_built(root)
    write_tree(root, {"webui/src/index.html": "<p>two</p>"})
    assert ensure_built(root)
    assert built(root) == "<p>two</p>"


def test_a_failed_build_is_an_error_and_is_tried_again(root: Path) -> None:
    assert ensure_built(root)
    write_tree(root, {"webui/src/index.html": "broken"})
    for _ in range(2):
        with pytest.raises(BuildError, match=r"npm run build.* failed"):
            ensure_built(root)
    write_tree(root, {"webui/src/index.html": "<p>one</p>"})
    assert ensure_built(root)


def test_a_build_that_leaves_no_page_is_an_error(root: Path) -> None:
    write_tree(root, {"webui/build.mjs": ""})
    with pytest.raises(BuildError, match=r"left no index\.html"):
        ensure_built(root)


@pytest.mark.parametrize(
    ("name", "changes"),
    [("src/new.ts", True), ("package-lock.json", True), ("node_modules/a.js", False), ("dist/a.js", False)],
)
def test_the_hash_covers_the_sources_and_nothing_generated(root: Path, name: str, changes: bool) -> None:
    before = source_hash(root / "webui")
    write_tree(root, {f"webui/{name}": "{}"})
    assert (source_hash(root / "webui") != before) is changes


def test_the_hash_sees_a_renamed_file(root: Path) -> None:
    before = source_hash(root / "webui")
    (root / "webui/src/index.html").rename(root / "webui/src/main.html")
    assert source_hash(root / "webui") != before


def test_built_files_without_sources_need_no_node(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ensure_built(root)
    (root / "webui/package.json").unlink()
    monkeypatch.setenv("PATH", str(root))
    assert not ensure_built(root)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (None, "none on the PATH"),
        ("#!/bin/sh\necho v18.20.0\n", "v18"),
        ("#!/bin/sh\necho v20.9.0\n", "v20.9"),
        ("#!/bin/sh\nexit 1\n", "broken"),
    ],
)
def test_node_missing_or_too_old_is_said(
    root: Path, monkeypatch: pytest.MonkeyPatch, program: str | None, message: str
) -> None:
    for name in ("node", "npm") if program else ():
        write_tree(root, {f"bin/{name}": str(program)})
        (root / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(root / "bin"))
    with pytest.raises(BuildError, match=f"Node 20.19 or newer.*{message}"):
        ensure_built(root)


def test_nothing_to_build_from_is_said(tmp_path: Path) -> None:
    with pytest.raises(BuildError, match="nothing to build the interface from"):
        ensure_built(tmp_path)

"""R15: whatever the path and whatever links there are, nothing outside of the workspace is read or changed."""

import asyncio
import os
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.edit import edit
from openprogram.tools.builtin.glob import glob_tool
from openprogram.tools.builtin.listing import list_folder
from openprogram.tools.builtin.read import read_tool
from openprogram.tools.builtin.ripgrep import find_ripgrep
from openprogram.tools.builtin.write import write
from tests.support.tool_calls import Caller, text_of

SECRET = "do-not-tell"
NAMES = ["a", "b", "c", "link", "WS", "ws"]
parts = st.sampled_from(
    [*NAMES, "..", ".", "", "...", "\uff0e\uff0e", "\u2024\u2024", "ws-other", "secret", "%2e%2e", " ..", "~", "..\\"]
)
paths = st.builds(
    lambda start, middle: start + "/".join(middle),
    st.sampled_from(["", "", "/", "//", "ROOT/", "ROOT/ws/", "ROOT/ws-other/", "/proc/self/cwd/", "/proc/self/root/"]),
    st.lists(parts, min_size=1, max_size=6),
)
targets = st.sampled_from(
    [
        "..",
        ".",
        "/",
        "ROOT",
        "ROOT/ws-other",
        "ROOT/secret",
        "../secret",
        "a",
        "b/../..",
        "link",
        "ROOT/ws",
        "a/../../ws",
    ]
)


@st.composite
def trees(draw: st.DrawFn) -> list[tuple[str, str | None]]:
    """Directories and links to make in the workspace, in order; a link has a target."""
    names = draw(st.lists(st.sampled_from(["a", "b", "c", "link", "a/b", "a/c", "b/link", "a/link"]), unique=True))
    return [(name, draw(st.one_of(st.none(), targets))) for name in sorted(names)]


def build(root: Path, tree: list[tuple[str, str | None]]) -> Path:
    workspace = root / "ws"
    workspace.mkdir()
    (root / "ws-other").mkdir()
    (root / "ws-other" / "secret").write_text(SECRET)
    (root / "secret").write_text(SECRET)
    for name, target in tree:
        path = workspace / name
        if path.exists() or path.is_symlink() or not path.parent.is_dir() or path.parent.resolve() != path.parent:
            continue
        if target is None:
            path.mkdir()
        else:
            path.symlink_to(target.replace("ROOT", str(root)))
    return workspace


def outside(root: Path) -> dict[str, str]:
    """Everything that lies beside the workspace."""
    found = {}
    for folder, folders, files in os.walk(root):
        if Path(folder) == root:
            folders.remove("ws")
        for name in files:
            found[os.path.join(folder, name)] = Path(folder, name).read_text()
        found.update(dict.fromkeys((os.path.join(folder, name) for name in folders), ""))
    return found


async def try_everything(call: Caller, path: str, output_dir: Path) -> str:
    """What all tools told about this path."""
    ripgrep = find_ripgrep()
    assert ripgrep is not None
    told = []
    for spec, arguments in (
        (read_tool(output_dir), {"path": path}),
        (list_folder, {"path": path}),
        (write, {"path": path, "content": "written"}),
        (edit, {"path": path, "old": "e", "new": "E", "replace_all": True}),
        (glob_tool(ripgrep), {"pattern": "*", "path": path}),
    ):
        try:
            told.append(text_of(await call(spec, **arguments)))
        except ToolFailure as failure:
            told.append(failure.message)
    return "\n".join(told)


@given(trees(), paths)
def test_no_path_leaves_the_workspace(tree, path):  # R15
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        workspace = build(root, tree)
        before = outside(root)
        told = asyncio.run(try_everything(Caller(workspace), path.replace("ROOT", str(root)), root / "out"))
        assert outside(root) == before
        assert SECRET not in told
        assert "root:" not in told

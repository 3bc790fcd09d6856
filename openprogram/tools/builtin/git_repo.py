"""Which git repository a folder belongs to, and whether all of it may be looked at (R15). Blocking, but short.

Git itself would follow its pointers anywhere: a `.git` file, `commondir`, alternates and links can all lead out of the
workspace, and a stranger's archive may bring them along. So what is found is given to git by name, after a look at
where it leads. One pointer out is trusted: that of a linked worktree whose repository points back at it.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.files import explained
from openprogram.tools.builtin.paths import Place, Roots

_POINTER_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class Repository:
    """A working tree at `top`, the directory that git keeps for it, and the one shared by all its worktrees."""

    top: Path
    git_dir: Path
    common: Path


def find_repository(roots: Roots, place: Place) -> Repository:
    """The repository that the folder at `place` belongs to.

    Raises `ToolFailure` if there is none, or it lies or leads outside of the roots.
    """
    if not place.path.is_dir():
        raise ToolFailure(f"{place.shown} is no folder.")
    for folder in (place.path, *place.path.parents):
        if not os.path.lexists(folder / ".git"):
            continue
        if not _inside(roots, folder):
            raise ToolFailure(
                f"{place.shown} belongs to the git repository {folder}, which is outside of what may be used here; "
                "add that folder to the chat's directories."
            )
        with explained(place):
            return _checked(roots, folder)
    raise ToolFailure(f"{place.shown} is in no git repository.")


def _checked(roots: Roots, top: Path) -> Repository:
    git_dir = _git_dir(top / ".git")
    pointer = _pointer(git_dir / "commondir")
    common = Path(os.path.realpath(git_dir / pointer)) if pointer else git_dir
    if not (common / "objects").is_dir():
        raise ToolFailure(f"{roots.shown(top)} has a `.git` that is no repository.")
    if _inside(roots, common):
        if not _inside(roots, git_dir):
            raise _leads_out(roots, top, git_dir)
        for target in _targets(common):
            if not _inside(roots, target):
                raise _leads_out(roots, top, target)
    elif not _points_back(top, git_dir, common):
        raise _leads_out(roots, top, common)
    return Repository(top, git_dir, common)


def _git_dir(path: Path) -> Path:
    if path.is_dir():
        return Path(os.path.realpath(path))
    text = _pointer(path)
    if not text.startswith("gitdir: "):
        raise ToolFailure(f"{path} is no pointer to a repository.")
    return Path(os.path.realpath(path.parent / text.removeprefix("gitdir: ")))


def _points_back(top: Path, git_dir: Path, common: Path) -> bool:
    """Whether the repository outside has this working tree among its own."""
    back = _pointer(git_dir / "gitdir")
    return git_dir.parent == common / "worktrees" and os.path.realpath(git_dir / back) == os.path.realpath(top / ".git")


def _targets(common: Path) -> Iterator[Path]:
    """Where the parts of a repository really are, and the others whose objects it borrows."""
    objects = common / "objects"
    for path in (common / "HEAD", common / "refs", common / "packed-refs", common / "config", objects):
        yield Path(os.path.realpath(path))
    for folder in (objects, objects / "pack", objects / "info"):
        for entry in folder.iterdir() if folder.is_dir() else ():
            if entry.is_symlink():
                yield Path(os.path.realpath(entry))
    for line in _pointer(objects / "info" / "alternates").splitlines():
        yield Path(os.path.realpath(objects / line.strip('"')))


def _pointer(path: Path) -> str:
    """A small file's text without the line end; empty if there is no such file."""
    if not path.is_file():
        return ""
    with path.open("rb") as stream:
        return os.fsdecode(stream.read(_POINTER_BYTES)).rstrip("\n")


def _inside(roots: Roots, path: Path) -> bool:
    return any(path.is_relative_to(root) for root in (roots.workspace, *roots.others))


def _leads_out(roots: Roots, top: Path, target: Path) -> ToolFailure:
    return ToolFailure(
        f"The git repository of {roots.shown(top)} leads to {target}, which is outside of what may be used here."
    )

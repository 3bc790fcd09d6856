"""`worktree_create`, `worktree_list`, `worktree_remove`: git worktrees inside the chat's directories.

Like all git here (`git_run`), checking out runs no hook and no content filter of the repository.
"""

import asyncio
import os
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import CallPreview, ToolContext, ToolOutput
from openprogram.tools.builtin.files import explained, replace_file
from openprogram.tools.builtin.git_repo import find_repository
from openprogram.tools.builtin.git_run import Git
from openprogram.tools.builtin.paths import Place, Roots, printable
from openprogram.tools.decorator import tool

GROUP: Final = "worktree"
FOLDER: Final = ".openprogram/worktrees"
"""Where worktrees go that are given no path: below the workspace, so that all file tools reach them."""

_BRANCH: Final = re.compile(r"[^\x00-\x20\x7f-][^\x00-\x20\x7f]{0,199}")
_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Worktree:
    """One that git knows: `branch` is empty where HEAD is detached; `notes` are `locked`, `prunable`, `bare`."""

    path: Path
    commit: str
    branch: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Creation:
    """What a new worktree needs: `base` is the commit that a new branch begins at, None for a branch that is there."""

    git: Git
    place: Place
    branch: str
    base: str | None

    @property
    def arguments(self) -> tuple[str, ...]:
        path = str(self.place.path)
        if self.base is None:
            return ("worktree", "add", "--no-guess-remote", "--", path, self.branch)
        return ("worktree", "add", "--no-track", "-b", self.branch, "--", path, self.base)


def written_by_create(arguments: JsonObject) -> tuple[str, ...]:
    """The folder that a call of `worktree_create` makes."""
    path = arguments.get("path")
    return (str(path) if path is not None else _default_path(str(arguments["branch"])),)


async def preview_create(arguments: JsonObject, context: ToolContext) -> CallPreview:
    """The git command that would run."""
    values = {name: str(value) for name, value in arguments.items() if value is not None}
    creation = await _creation(context, values["branch"], values.get("path"), values.get("start", "HEAD"))
    return CallPreview("command", shlex.join(("git", *creation.arguments)))


@tool(permission="write", writes=written_by_create, group=GROUP, presets=("coding",), preview=preview_create)
async def worktree_create(
    context: ToolContext, branch: str, path: str | None = None, start: str = "HEAD"
) -> ToolOutput:
    """Check out a branch into a folder of its own (git worktree), to work on it beside what is checked out now.

    Args:
        branch: Branch to check out; a new one is made if it does not exist
        path: Folder to make, relative to the workspace
        start: Commit that a new branch begins at
    """
    creation = await _creation(context, branch, path, start)
    if path is None:
        await asyncio.to_thread(_ignore, Roots.of(context))
    await creation.git.checked(*creation.arguments)
    made = "existing" if creation.base is None else "new"
    text = f"Created the worktree {creation.place.shown} on the {made} branch {branch}."
    if creation.git.filters:
        text += (
            f" Content filters were not run ({', '.join(creation.git.filters)}): their files are as git stores them."
        )
    return ToolOutput.text(text, display={"path": creation.place.shown, "branch": branch})


@tool(readonly=True, parallel_safe=True, group=GROUP, presets=("coding", "safe"))
async def worktree_list(context: ToolContext) -> ToolOutput:
    """Name the git worktrees of the repository: folder, branch and commit of each."""
    roots = Roots.of(context)
    found = await _worktrees(await _git(roots))
    lines = [
        " ".join([roots.shown(tree.path), tree.branch or "(no branch)", tree.commit[:10], *tree.notes])
        for tree in found
    ]
    return ToolOutput.text("\n".join(lines), display={"worktrees": len(found)})


async def preview_remove(arguments: JsonObject, context: ToolContext) -> CallPreview:
    """Which worktree would go, and what would be lost with it."""
    force = arguments.get("force") in (True, "true")
    tree, place, losses = await _removal(context, str(arguments["path"]), force=force)
    text = f"Remove the worktree {place.shown} ({tree.branch or tree.commit[:10]})"
    return CallPreview("call", "\n".join([text, *(f"lost: {loss}" for loss in losses)]))


@tool(permission="write", group=GROUP, presets=("coding",), preview=preview_remove)
async def worktree_remove(context: ToolContext, path: str, force: bool = False) -> ToolOutput:
    """Delete a git worktree's folder. Refuses where uncommitted changes would be lost. Its branch stays.

    Args:
        path: The worktree's folder, relative to the workspace
        force: Delete it with its uncommitted changes
    """
    tree, place, losses = await _removal(context, path, force=force)
    git = await _git(Roots.of(context))
    await git.checked("worktree", "remove", *(["--force"] if force else []), "--", str(tree.path))
    text = f"Removed the worktree {place.shown}."
    if tree.branch:
        text += f" Its branch {tree.branch} stays."
    return ToolOutput.text(text, display={"path": place.shown, "lost": len(losses)})


async def _git(roots: Roots) -> Git:
    return await Git.on(await asyncio.to_thread(find_repository, roots, roots.locate(".")))


async def _creation(context: ToolContext, branch: str, path: str | None, start: str) -> _Creation:
    """Raises `ToolFailure` for whatever would keep the worktree from being made."""
    roots = Roots.of(context)
    git = await _git(roots)
    if not _BRANCH.fullmatch(branch) or (await git.run("check-ref-format", f"refs/heads/{branch}"))[0] != 0:
        raise ToolFailure(f"{branch!r} cannot be the name of a branch.")
    place = roots.locate(path if path is not None else _default_path(branch))
    if os.path.lexists(place.path) and not (place.path.is_dir() and not any(place.path.iterdir())):
        raise ToolFailure(f"{place.shown} exists already.")
    if place.path.is_relative_to(git.repository.common):
        raise ToolFailure(f"{place.shown} lies in the repository's own files.")
    taken = [tree for tree in await _worktrees(git) if tree.branch == branch]
    if taken:
        raise ToolFailure(f"The branch {branch} is checked out in {roots.shown(taken[0].path)} already.")
    exists = (await git.run("show-ref", "--verify", "--quiet", f"refs/heads/{branch}"))[0] == 0
    return _Creation(git, place, branch, None if exists else await git.resolve(start))


async def _removal(context: ToolContext, path: str, *, force: bool) -> tuple[Worktree, Place, list[str]]:
    """The worktree at `path` and what would be lost with it. Raises `ToolFailure` if it may not be removed."""
    roots = Roots.of(context)
    place = roots.locate(path)
    git = await _git(roots)
    first, *linked = await _worktrees(git)
    tree = next((tree for tree in linked if os.path.realpath(tree.path) == str(place.path)), None)
    if tree is None:
        main = os.path.realpath(first.path) == str(place.path)
        raise ToolFailure(f"{place.shown} is {'the main working tree' if main else 'no worktree'} of this repository.")
    if roots.workspace.is_relative_to(place.path):
        raise ToolFailure(f"{place.shown} holds the workspace of this chat.")
    losses = await _losses(roots, place, tree)
    if losses and not force:
        shown = "\n".join(losses[:_SHOWN]) + (f"\nand {len(losses) - _SHOWN} more" if len(losses) > _SHOWN else "")
        raise ToolFailure(f"{place.shown} holds what is nowhere else; commit it, or force:\n{shown}")
    return tree, place, losses


async def _losses(roots: Roots, place: Place, tree: Worktree) -> list[str]:
    """Uncommitted files, and a commit that no branch or tag holds."""
    if not place.path.is_dir():
        return []
    git = await Git.on(await asyncio.to_thread(find_repository, roots, place))
    status = await git.checked(
        "status", "--porcelain=v1", "--untracked-files=normal", "--ignore-submodules=dirty", "-z"
    )
    losses = [printable(entry) for entry in status.split("\0") if entry]
    if not tree.branch:
        holders = await git.checked("for-each-ref", "--count=1", f"--contains={tree.commit}")
        losses += [] if holders else [f"commit {tree.commit[:10]}, which is on no branch"]
    return losses


async def _worktrees(git: Git) -> list[Worktree]:
    """All worktrees, the main one first."""
    listing = await git.checked("worktree", "list", "--porcelain", "-z")
    return list(_parsed(listing))


def _parsed(listing: str) -> Iterator[Worktree]:
    for block in listing.split("\0\0"):
        fields = dict(line.partition(" ")[::2] for line in block.split("\0") if line)
        if "worktree" in fields:
            notes = tuple(name for name in ("bare", "locked", "prunable") if name in fields)
            branch = fields.get("branch", "").removeprefix("refs/heads/")
            yield Worktree(Path(fields["worktree"]), fields.get("HEAD", ""), branch, notes)


def _default_path(branch: str) -> str:
    return f"{FOLDER}/{branch.replace('/', '-')}"


def _ignore(roots: Roots) -> None:
    """Keep worktrees below the workspace out of the status of the repository around them."""
    place = roots.locate(f"{FOLDER}/.gitignore")
    if not place.path.exists():
        with explained(place):
            replace_file(place, b"*\n")

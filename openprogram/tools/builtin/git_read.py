"""`git_read`: look at a repository and change nothing, run nothing, reach nothing (see `git_run`)."""

import asyncio
from typing import Final, Literal, assert_never

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.tools.builtin.git_repo import find_repository
from openprogram.tools.builtin.git_run import Git, GitOutput
from openprogram.tools.builtin.paths import Place, Roots
from openprogram.tools.decorator import tool

Command = Literal["status", "log", "show", "diff", "blame", "branches"]

_MOST: Final = 1_000
_BLAMED: Final = 400
_LINE: Final = "--format=%h %ad %an: %s%d"
_WHOLE: Final = "--format=commit %H%d%nauthor %an <%ae>%ndate   %ad%n%n%B"
_REFERENCE: Final = "--format=%(refname:short) %(objectname:short) %(committerdate:short) %(subject)"
_DIFF: Final = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--submodule=short",
    "--ignore-submodules=dirty",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
_PATCH: Final = ("--patch-with-stat", "--stat-width=120", *_DIFF)


@tool(readonly=True, parallel_safe=True, presets=("coding", "research", "safe"))
async def git_read(
    context: ToolContext,
    command: Command,
    revision: str | None = None,
    path: str | None = None,
    staged: bool = False,
    limit: int = 30,
    offset: int = 1,
    folder: str = ".",
) -> ToolOutput:
    """Look at a git repository: status (what is uncommitted), commit history (log), a commit or an old version of a
    file (show), differences, who wrote each line (blame), branches and tags.

    Args:
        command: What to look at
        revision: Commit, branch, tag or range (a..b); for show also commit:file
        path: Only this path, relative to the workspace; blame needs one
        staged: With diff, what is in the index
        limit: Most commits or branches
        offset: First line of the output, to go on where it was cut
        folder: Folder in the repository
    """
    if offset < 1 or not 1 <= limit <= _MOST:
        raise ToolFailure(f"offset starts at 1, limit is 1 to {_MOST}.")
    roots = Roots.of(context)
    git = await Git.on(await asyncio.to_thread(find_repository, roots, roots.locate(folder)))
    look = _Look(git, roots, path, limit, offset)
    match command:
        case "status":
            output = await look.status()
        case "log":
            output = await look.log(revision or "HEAD")
        case "show":
            output = await look.show(revision or "HEAD")
        case "diff":
            output = await look.diff(revision, staged=staged)
        case "blame":
            output = await look.blame(revision)
        case "branches":
            output = await look.branches()
        case _:
            assert_never(command)
    display: JsonObject = {"repository": roots.shown(git.repository.top), "command": command}
    return ToolOutput.text(_told(command, output), display=display)


class _Look:
    """One call's commands. What a model wrote reaches git as the id of an object or after `--`, never else."""

    def __init__(self, git: Git, roots: Roots, path: str | None, limit: int, offset: int) -> None:
        self._git = git
        self._roots = roots
        self._place = self._within(roots.locate(path)) if path is not None else None
        self._limit = limit
        self._offset = offset

    async def status(self) -> GitOutput:
        options = ("--porcelain=v1", "--branch", "--untracked-files=normal", "--ignore-submodules=dirty")
        return await self._show("status", *options, "--", *self._paths())

    async def log(self, revision: str) -> GitOutput:
        ids = await self._git.resolve_range(revision)
        options = (_LINE, "--date=short", "--decorate=short", "--no-show-signature", "--no-patch", *_DIFF)
        return await self._show("log", f"--max-count={self._limit}", *options, *ids, "--", *self._paths())

    async def show(self, revision: str) -> GitOutput:
        found = await self._git.resolve(revision, "")
        match (await self._git.checked("cat-file", "-t", found)).strip():
            case "blob":
                return await self._show("cat-file", "blob", found)
            case "tree":
                return await self._show("ls-tree", "-l", found)
            case _:
                options = (
                    _WHOLE,
                    "--date=iso",
                    "--decorate=short",
                    "--no-show-signature",
                    "--diff-merges=dense-combined",
                )
                return await self._show("show", *options, *_PATCH, found, "--", *self._paths())

    async def diff(self, revision: str | None, *, staged: bool) -> GitOutput:
        ids = await self._git.resolve_range(revision) if revision is not None else ()
        return await self._show("diff", *(["--cached"] if staged else []), *_PATCH, *ids, "--", *self._paths())

    async def blame(self, revision: str | None) -> GitOutput:
        if self._place is None:
            raise ToolFailure("blame needs the path of a file.")
        ids = [await self._git.resolve(revision)] if revision is not None else []
        _, found, _ = await self._git.run("config", "--null", "--type=path", "--get-all", "blame.ignoreRevsFile")
        for name in filter(None, found.split("\0")):  # git quotes what it cannot read there
            self._roots.locate(str(self._git.repository.top / name))
        options = ("--date=short", "--no-textconv", f"-L{self._offset},+{_BLAMED}")
        output = await self._git.show("blame", *options, *ids, "--", *self._paths())
        more = output.more or output.last == _BLAMED
        return GitOutput(output.text, self._offset, self._offset + output.last - 1, more)

    async def branches(self) -> GitOutput:
        options = ("--sort=-committerdate", f"--count={self._limit}", _REFERENCE)
        return await self._show("for-each-ref", *options, "refs/heads", "refs/remotes", "refs/tags")

    async def _show(self, *arguments: str) -> GitOutput:
        return await self._git.show(*arguments, first=self._offset)

    def _paths(self) -> tuple[str, ...]:
        return (str(self._place.path),) if self._place is not None else ()

    def _within(self, place: Place) -> Place:
        """Git compares what is outside of its tree as files of the system; here it is refused."""
        if not place.path.is_relative_to(self._git.repository.top):
            raise ToolFailure(f"{place.shown} is not in the repository {self._git.repository.top}.")
        return place


def _told(command: Command, output: GitOutput) -> str:
    if "\0" in output.text:
        raise ToolFailure("That is a binary file; it cannot be shown as text.")
    if not output.text:
        past = f" from line {output.first} on" if output.first > 1 else ""
        return f"Nothing{past}." if command != "diff" or past else "No differences."
    more = f"\n[cut here; go on with offset {output.last + 1}, or name a path]" if output.more else ""
    return output.text + more

"""A repository that a stranger made: nothing in it runs, and nothing outside of the workspace is seen through it."""

import os
from pathlib import Path

import pytest

from openprogram.tools.builtin.git_read import git_read
from openprogram.tools.builtin.worktrees import worktree_create, worktree_list, worktree_remove
from tests.support.git import commit, git, repository
from tests.support.tool_calls import Caller, text_of

HOOKS = ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman")


class Trap:
    """A program that leaves its first argument's name behind when it runs; `caught` tells which did."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()

    def named(self, name: str) -> str:
        script = self.folder / f"{name}.sh"
        script.write_text(f"#!/bin/sh\ntouch {self.folder}/{name}.ran\ncat\n")
        script.chmod(0o755)
        return str(script)

    @property
    def caught(self) -> set[str]:
        return {path.stem for path in self.folder.glob("*.ran")}


@pytest.fixture
def trap(tmp_path):
    return Trap(tmp_path / "trap")


@pytest.fixture
def hostile(tmp_path, trap):
    """A repository whose every setting that names a program names a trap."""
    root = repository(tmp_path / "ws", a="one\n", b="two\n", c="three\n")
    (root / ".gitattributes").write_text("a.txt filter=f diff=d\nb.txt filter=p\nc.txt diff=e\nm.txt merge=m\n")
    commit(root, "Attributes")
    for side in ("left", "right"):
        git(root, "checkout", "--quiet", "-b", side, "main")
        (root / "m.txt").write_text(f"{side}\n")
        commit(root, side)
    git(root, "merge", "--quiet", "-s", "ours", "-m", "Merge", "left")
    signed = git(root, "cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\n", 1
    )
    git(root, "update-ref", "HEAD", git(root, "hash-object", "-t", "commit", "-w", "--stdin", stdin=f"{signed}\n"))
    settings = {
        "core.fsmonitor": trap.named("fsmonitor"),
        "core.pager": trap.named("pager"),
        "core.sshCommand": trap.named("ssh"),
        "core.alternateRefsCommand": trap.named("alternates"),
        "core.worktree": str(tmp_path / "elsewhere"),
        "diff.external": trap.named("external"),
        "diff.d.textconv": trap.named("textconv"),
        "diff.e.command": trap.named("driver"),
        "diff.submodule": "diff",
        "filter.f.clean": trap.named("clean"),
        "filter.f.smudge": trap.named("smudge"),
        "filter.f.required": "true",
        "filter.p.process": trap.named("process"),
        "format.pretty": "%H %G?",
        "gpg.program": trap.named("gpg"),
        "log.diffMerges": "remerge",
        "log.showSignature": "true",
        "merge.m.driver": trap.named("merge"),
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "remote.far.promisor": "true",
        "remote.far.url": f"ext::{trap.named('remote')}",
        "status.submoduleSummary": "true",
    }
    (tmp_path / "elsewhere").mkdir()
    for name, value in settings.items():
        git(root, "config", name, value)
    for hook in HOOKS:
        (root / ".git" / "hooks" / hook).write_text(Path(trap.named(hook)).read_text())
        (root / ".git" / "hooks" / hook).chmod(0o755)
    for name in ("a", "b", "c"):
        (root / f"{name}.txt").write_text("changed\n")
    return root


def test_the_traps_work(hostile, trap):
    """Plain git falls into them: without that the tests below would show nothing."""
    git(hostile, "config", "--unset", "core.worktree")
    for command in ("status", "diff", "log -p --textconv", "show HEAD", "blame a.txt", "blame --textconv a.txt"):
        git(hostile, *command.split(), check=False)
    git(hostile, "-c", "diff.external=", "diff", check=False)
    git(hostile, "worktree", "add", "--quiet", "../plain", "main", check=False)
    assert trap.caught >= {"clean", "driver", "external", "fsmonitor", "gpg", "post-checkout", "post-index-change"}
    assert trap.caught >= {"process", "reference-transaction", "smudge", "textconv"}


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "status"},
        {"command": "log"},
        {"command": "log", "path": "a.txt"},
        {"command": "show"},
        {"command": "show", "revision": "HEAD:a.txt"},
        {"command": "diff"},
        {"command": "diff", "revision": "main"},
        {"command": "diff", "staged": True},
        {"command": "blame", "path": "a.txt"},
        {"command": "branches"},
    ],
)
async def test_looking_runs_no_program_of_the_repository(hostile, trap, arguments):
    output = await Caller(hostile)(git_read, **arguments)
    assert trap.caught == set()
    assert output.status == "ok"


async def test_worktrees_run_no_program_of_the_repository(hostile, trap):
    call = Caller(hostile)
    output = await call(worktree_create, branch="mine", path="tree", start="main")
    assert text_of(output).endswith("Content filters were not run (f, p): their files are as git stores them.")
    assert (hostile / "tree" / "a.txt").read_text() == "one\n"
    await call(worktree_list)
    (hostile / "tree" / "a.txt").write_text("changed\n")
    assert "a.txt" in await call.fails(worktree_remove, path="tree")
    await call(worktree_remove, path="tree", force=True)
    assert trap.caught == set()


async def test_blame_opens_no_file_outside_that_a_repository_names(hostile, tmp_path):  # R15
    (tmp_path / "private.txt").write_text("secret of the host\n")
    for name in (str(tmp_path / "private.txt"), "../private.txt"):
        git(hostile, "config", "blame.ignoreRevsFile", name)
        message = await Caller(hostile).fails(git_read, command="blame", path="a.txt")
        assert "outside of what may be used" in message
        assert "secret" not in message


async def test_a_missing_object_is_not_fetched(hostile, trap):
    blob = git(hostile, "rev-parse", "main:a.txt")
    (hostile / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    call = Caller(hostile)
    for arguments in ({"command": "show", "revision": "main:a.txt"}, {"command": "diff", "revision": "main"}):
        assert await call.fails(git_read, **arguments)
    assert trap.caught == set()


async def test_programs_named_in_the_environment_do_not_run(tmp_path, trap, monkeypatch):
    root = repository(tmp_path / "ws", a="one\n")
    (root / "a.txt").write_text("two\n")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", trap.named("external"))
    monkeypatch.setenv("GIT_PAGER", trap.named("pager"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert "+two" in text_of(await Caller(root)(git_read, command="diff"))
    assert trap.caught == set()


# -- what leads out of the workspace (R15) --------------------------------------------------------------------------


@pytest.fixture
def private(tmp_path):
    """Somebody's repository beside the workspace."""
    return repository(tmp_path / "private", a="secret\n")


async def refused(workspace: Path) -> str:
    return await Caller(workspace).fails(git_read, command="log")


async def test_a_workspace_inside_a_repository_does_not_open_what_is_around_it(private):
    (private / "sub").mkdir()
    assert "outside of what may be used" in await refused(private / "sub")
    call = Caller(private / "sub", extra_dirs=(private,))
    assert "First" in text_of(await call(git_read, command="log"))


@pytest.mark.parametrize("way", ["file", "link", "commondir", "alternates", "objects", "pack", "refs"])
async def test_no_pointer_leads_to_a_repository_outside(tmp_path, private, way):
    git(private, "gc", "--quiet")
    root = tmp_path / "ws"
    theirs = private / ".git"
    if way in ("file", "link"):
        root.mkdir()
        if way == "file":
            (root / ".git").write_text(f"gitdir: {theirs}\n")
        else:
            (root / ".git").symlink_to(theirs)
    else:
        ours = repository(root, a="ours\n") / ".git"
        match way:
            case "commondir":
                (ours / "commondir").write_text(f"{theirs}\n")
                (ours / "gitdir").write_text(f"{root}/.git\n")
            case "alternates":
                (ours / "objects" / "info" / "alternates").write_text(f"{theirs}/objects\n")
            case "pack":
                (ours / "objects" / "pack").rmdir()
                (ours / "objects" / "pack").symlink_to(theirs / "objects" / "pack")
            case _:
                (ours / way).rename(ours / "moved")
                (ours / way).symlink_to(theirs / way)
    assert "outside of what may be used" in await refused(root)


async def test_a_linked_worktree_may_be_the_workspace_and_only_a_true_one(tmp_path, private):
    git(private, "worktree", "add", "--quiet", "-b", "side", str(tmp_path / "linked"))
    assert "First" in text_of(await Caller(tmp_path / "linked")(git_read, command="log"))
    (tmp_path / "forged").mkdir()
    (tmp_path / "forged" / ".git").write_bytes((tmp_path / "linked" / ".git").read_bytes())
    assert "outside of what may be used" in await refused(tmp_path / "forged")


async def test_what_is_no_repository_says_so(tmp_path):
    (tmp_path / ".git").write_text("nonsense")
    assert "no pointer" in await refused(tmp_path)
    os.unlink(tmp_path / ".git")
    (tmp_path / ".git").mkdir()
    assert "no repository" in await refused(tmp_path)
    assert "is no folder" in await Caller(tmp_path).fails(git_read, command="log", folder="gone")

"""Git worktrees: made inside the chat's directories, removed only where nothing is lost."""

import pytest

from openprogram.permissions.decide import decide
from openprogram.tools.builtin.git_read import git_read
from openprogram.tools.builtin.worktrees import FOLDER, worktree_create, worktree_list, worktree_remove
from tests.support.git import commit, git, repository
from tests.support.tool_calls import Caller, contents, text_of


@pytest.fixture
def call(tmp_path):
    root = repository(tmp_path / "ws", a="one\n")
    git(root, "branch", "side")
    (root / "a.txt").write_text("two\n")
    commit(root, "Second")
    return Caller(root)


async def test_a_new_branch_begins_where_it_is_told_to(call):
    output = await call(worktree_create, branch="feature/x", path="tree", start="side")
    assert text_of(output) == "Created the worktree tree on the new branch feature/x."
    assert (call.workspace / "tree" / "a.txt").read_text() == "one\n"
    assert git(call.workspace / "tree", "symbolic-ref", "HEAD") == "refs/heads/feature/x"
    assert "First" in text_of(await call(git_read, command="log", folder="tree"))


async def test_an_existing_branch_is_checked_out_below_the_workspace_unseen_by_its_status(call):
    await call(worktree_create, branch="side")
    assert (call.workspace / FOLDER / "side" / "a.txt").read_text() == "one\n"
    assert git(call.workspace, "status", "--porcelain") == ""
    await call(worktree_create, branch="other/name")
    assert (call.workspace / FOLDER / "other-name").is_dir()


async def test_they_are_listed_with_branch_and_commit(call):
    await call(worktree_create, branch="side", path="tree")
    git(call.workspace / "tree", "checkout", "--quiet", "--detach")
    head, side = (git(call.workspace, "rev-parse", name)[:10] for name in ("HEAD", "side"))
    listed = text_of(await call(worktree_list)).splitlines()
    assert listed == [f". main {head}", f"tree (no branch) {side}"]


async def test_beside_the_workspace_where_that_is_allowed(call, tmp_path):
    assert "outside" in await call.fails(worktree_create, branch="side", path="../beside")
    wider = Caller(call.workspace, extra_dirs=(tmp_path,))
    await wider(worktree_create, branch="side", path="../beside")
    assert (tmp_path / "beside" / "a.txt").exists()
    await wider(worktree_remove, path="../beside")
    assert not (tmp_path / "beside").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"branch": "--force"}, "cannot be the name"),
        ({"branch": "a..b"}, "cannot be the name"),
        ({"branch": "a b"}, "cannot be the name"),
        ({"branch": "new", "path": "a.txt"}, "exists already"),
        ({"branch": "new", "path": "."}, "exists already"),
        ({"branch": "new", "path": ".git/x"}, "repository's own files"),
        ({"branch": "main", "path": "tree"}, "checked out in . already"),
        ({"branch": "new", "path": "tree", "start": "nowhere"}, "There is no commit"),
        ({"branch": "new", "path": "tree", "start": "--orphan"}, "no revision"),
    ],
)
async def test_what_cannot_be_made_is_said_and_nothing_is_made(call, arguments, said):
    before = contents(call.workspace)
    assert said in await call.fails(worktree_create, **arguments)
    assert contents(call.workspace) == before


async def test_removing_refuses_to_lose_anything_unless_forced(call):
    await call(worktree_create, branch="side", path="tree")
    (call.workspace / "tree" / "a.txt").write_text("changed\n")
    (call.workspace / "tree" / "new.txt").write_text("new\n")
    message = await call.fails(worktree_remove, path="tree")
    assert message.splitlines()[1:] == [" M a.txt", "?? new.txt"]
    assert (call.workspace / "tree" / "new.txt").exists()
    assert text_of(await call(worktree_remove, path="tree", force=True)) == (
        "Removed the worktree tree. Its branch side stays."
    )
    assert not (call.workspace / "tree").exists()
    assert len(text_of(await call(worktree_list)).splitlines()) == 1


async def test_a_commit_on_no_branch_is_something_to_lose(call):
    await call(worktree_create, branch="side", path="tree")
    git(call.workspace / "tree", "checkout", "--quiet", "--detach")
    await call(worktree_remove, path="tree")
    await call(worktree_create, branch="side", path="tree")
    git(call.workspace / "tree", "checkout", "--quiet", "--detach")
    lost = commit(call.workspace / "tree", "On no branch")
    assert f"commit {lost[:10]}, which is on no branch" in await call.fails(worktree_remove, path="tree")


async def test_what_is_no_worktree_of_its_own_is_not_removed(call):
    assert "main working tree" in await call.fails(worktree_remove, path=".")
    (call.workspace / "plain").mkdir()
    assert "no worktree" in await call.fails(worktree_remove, path="plain", force=True)
    await call(worktree_create, branch="side", path="tree")
    inside = Caller(call.workspace / "tree", extra_dirs=(call.workspace,))
    assert "holds the workspace" in await inside.fails(worktree_remove, path=".", force=True)
    assert (call.workspace / "tree" / "a.txt").exists()


async def test_previews_show_the_command_and_what_would_be_lost(call):
    before = contents(call.workspace)
    preview = await call.preview(worktree_create, branch="side", path="tree")
    assert preview.kind == "command"
    assert preview.text == f"git worktree add --no-guess-remote -- {call.workspace}/tree side"
    assert contents(call.workspace) == before
    await call(worktree_create, branch="side", path="tree")
    (call.workspace / "tree" / "new.txt").write_text("new\n")
    preview = await call.preview(worktree_remove, path="tree", force=True)
    assert preview.text == "Remove the worktree tree (side)\nlost: ?? new.txt"
    assert (call.workspace / "tree").exists()


def test_making_one_inside_is_an_edit_of_the_workspace_and_removing_always_asks(tmp_path):  # R17
    roots = (tmp_path,)
    assert decide("accept_edits", (), worktree_create, {"branch": "x"}, roots).outcome == "allow"
    assert decide("accept_edits", (), worktree_create, {"branch": "x", "path": "../y"}, roots).outcome == "ask"
    assert decide("accept_edits", (), worktree_remove, {"path": "y"}, roots).outcome == "ask"
    assert decide("ask", (), worktree_create, {"branch": "x"}, roots).outcome == "ask"
    assert {worktree_create.group, worktree_list.group, worktree_remove.group} == {"worktree"}  # T17

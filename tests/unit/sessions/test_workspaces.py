"""A chat works in a directory that is there, and nowhere else: a typo is an error and makes nothing."""

from pathlib import Path

import pytest

from openprogram.core.errors import BadField
from openprogram.core.tooling import AgentProfile
from openprogram.sessions.hub import Defaults
from openprogram.sessions.workspaces import checked


def defaults(home: Path) -> Defaults:
    (home / "workspace").mkdir(parents=True)
    return Defaults(workspace=home / "workspace", profile=AgentProfile(), home=home)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("typo", "not an absolute path"),
        ("{}/typo", "there is no directory"),
        ("{}/typo/../nor this", "there is no directory"),
        ("{}/file", "is a file"),
        ("{}/file/below", "there is no directory"),
        ("~nobody_at_all/x", "not an absolute path"),
        ("{}/a\0b", "not an absolute path"),
        ("{}/" + "x" * 300, "cannot be used"),
        ("{}/data", "server's own keys"),
        ("{}/data/output", "server's own keys"),
        ("{}/way in", "server's own keys"),
        ("{}", "server's own keys"),
        ("/", "server's own keys"),
        ("/proc/self", "the system.s own state"),
        ("/sys", "the system.s own state"),
    ],
)
async def test_what_is_no_directory_for_a_chat_is_refused_and_nothing_is_made(
    tmp_path: Path, text: str, said: str
) -> None:
    given = defaults(tmp_path / "data")
    (tmp_path / "data" / "output").mkdir()
    (tmp_path / "file").write_text("")
    (tmp_path / "way in").symlink_to(tmp_path / "data")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(BadField, match=said) as raised:
        await checked(given, text.format(tmp_path))
    assert raised.value.field == "workspace"
    assert sorted(tmp_path.rglob("*")) == before


async def test_a_directory_is_stored_in_its_plain_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = defaults(tmp_path / "data")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "project").mkdir()
    for text in (f"{tmp_path}/project/", f"{tmp_path}/x/../project", "~/project"):
        assert await checked(given, text) == f"{tmp_path}/project"
    assert await checked(given, str(given.workspace)) == str(given.workspace)


async def test_a_link_is_followed_when_it_is_chosen_and_never_again(tmp_path: Path) -> None:  # R17
    """What is allowed for the chat in one directory would hold in another one if the chat went where the link goes."""
    given = defaults(tmp_path / "data")
    (tmp_path / "here" / "project").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "here")
    assert await checked(given, f"{tmp_path}/link") == f"{tmp_path}/here"
    assert await checked(given, f"{tmp_path}/link/project") == f"{tmp_path}/here/project"

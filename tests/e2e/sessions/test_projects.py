"""The project layer: a file in the directory that a chat works in (spec tools.md T9)."""

import os
from pathlib import Path
from typing import cast

from openprogram.core.events import ErrorRaised, TurnFinished, TurnStarted
from openprogram.core.intent import ToolIntent
from openprogram.core.protocol.frames import ToolsAck
from openprogram.core.tooling import AgentProfile
from tests.support.agent import FakeTool, held
from tests.support.script import Gate, call, say, use
from tests.support.sessions import Chats, opened

PROFILE = AgentProfile(intent=ToolIntent(toolset="full"))


def tools() -> list[FakeTool]:
    return [FakeTool("bash", permission="execute", readonly=False), FakeTool("read"), FakeTool("notes")]


def project(folder: Path, text: str) -> Path:
    """A project directory with that file."""
    (folder / "project" / ".openprogram").mkdir(parents=True, exist_ok=True)
    (folder / "project" / ".openprogram" / "project.toml").write_text(text, "utf-8")
    return folder / "project"


async def panel(chats: Chats, session_id: str) -> ToolsAck:
    return cast(ToolsAck, await chats.do("explain_tools", session_id=session_id))


async def test_a_projects_wishes_are_those_of_its_chats_and_of_no_other(tmp_path: Path) -> None:  # T7, T9
    where = project(tmp_path, '[tools]\npicked = ["read", "notes"]\ndisabled = ["notes"]\n')
    async with opened(tmp_path, say("."), say("."), tools=tools(), profile=PROFILE) as chats:
        session_id = await chats.draft()
        await chats.do("set_workspace", session_id=session_id, workspace=str(where))
        await chats.said("hello", session_id)
        other = await chats.said("hello")
        assert (await chats.of(session_id, TurnStarted))[0].tools == ("read",)
        assert (await chats.of(other, TurnStarted))[0].tools == ("bash", "notes", "read")
        assert (await chats.store.intent(session_id)).intent == ToolIntent()  # T1: what it came to is stored nowhere
        ack = await panel(chats, session_id)
        assert {tool.name: (tool.reason, tool.layer) for tool in ack.tools} == {
            "bash": ("not_in_preset", "project"),
            "notes": ("switched_off", "project"),
            "read": (None, None),
        }
        decided = {one.field: one.layer for one in ack.decided}
        assert (decided["picked"], decided["disabled"], decided["toolset"]) == ("project", "project", "profile")


async def test_the_chats_own_choice_is_over_its_projects(tmp_path: Path) -> None:  # T9
    where = project(tmp_path, '[tools]\ntoolset = "none"\n')
    async with opened(tmp_path, say("."), tools=tools(), profile=PROFILE) as chats:
        session_id = await chats.draft()
        await chats.do("set_workspace", session_id=session_id, workspace=str(where))
        assert [tool.state for tool in (await panel(chats, session_id)).tools] == ["off"] * 3
        await chats.patch("set_tools_profile", session_id, toolset="full")
        await chats.said("hello", session_id)
        assert (await chats.of(session_id, TurnStarted))[0].tools == ("bash", "notes", "read")


async def test_what_only_the_project_gives_can_be_called_until_the_chat_takes_it_away(
    tmp_path: Path,
) -> None:  # T9, T21
    where = project(tmp_path, '[tools]\ntoolset = "full"\n')
    gate = Gate()
    read, bash = FakeTool("read", held(gate)), FakeTool("bash")
    scripts = (call(use("bash")), call(use("read")), call(use("bash")), say("Done."))
    nothing = AgentProfile(intent=ToolIntent(toolset="none"))
    async with opened(tmp_path, *scripts, tools=[read, bash], profile=nothing) as chats:
        session_id = await chats.draft()
        await chats.do("set_workspace", session_id=session_id, workspace=str(where))
        await chats.say("look", session_id)
        await gate.reached()
        assert len(bash.calls) == 1
        assert (await chats.patch("set_tool_disabled", session_id, name="bash", value=True)).applies == "now"
        gate.open()
        await chats.until(session_id, TurnFinished)
        await chats.rest(session_id)
        assert (len(bash.calls), len(read.calls)) == (1, 1)


async def test_a_project_that_is_edited_is_followed_from_the_next_message_and_not_before(
    tmp_path: Path,
) -> None:  # T21
    where = project(tmp_path, "[tools]\n")
    gate = Gate()
    read, bash = FakeTool("read", held(gate)), FakeTool("bash")
    scripts = (call(use("read")), call(use("bash")), say("Done."), say("."))
    async with opened(tmp_path, *scripts, tools=[read, bash], profile=PROFILE) as chats:
        session_id = await chats.draft()
        await chats.do("set_workspace", session_id=session_id, workspace=str(where))
        await chats.say("look", session_id)
        await gate.reached()
        project(tmp_path, '[tools]\ndisabled = ["bash"]\n')
        gate.open()
        await chats.until(session_id, TurnFinished)
        await chats.rest(session_id)
        assert len(bash.calls) == 1
        await chats.said("again", session_id)
        assert [turn.tools for turn in await chats.of(session_id, TurnStarted)] == [("bash", "read"), ("read",)]


async def test_a_faulty_file_is_told_stops_no_turn_and_widens_nothing(tmp_path: Path) -> None:  # law 6
    where = project(tmp_path, '[tools]\ntoolset = "reserch"\n')
    async with opened(tmp_path, say("."), say("."), tools=tools(), profile=PROFILE) as chats:
        session_id = await chats.draft()
        await chats.do("set_workspace", session_id=session_id, workspace=str(where))
        await chats.said("hello", session_id)
        (told,) = await chats.of(session_id, ErrorRaised)
        path = where / ".openprogram" / "project.toml"
        assert told.error.code == "bad_config"
        assert told.error.message.startswith(f"{path}: tools.toolset: there is no preset 'reserch'")
        assert (await panel(chats, session_id)).problems == {".openprogram/project.toml": (told.error.message,)}
        started, finished = await chats.of(session_id, TurnStarted), await chats.of(session_id, TurnFinished)
        assert [turn.tools for turn in started] == [("notes", "read")]
        assert [turn.reason for turn in finished] == ["done"]
        project(tmp_path, '[tools]\ntoolset = "full"\n')
        await chats.said("mended", session_id)
        assert (await chats.of(session_id, TurnStarted))[-1].tools == ("bash", "notes", "read")
        assert len(await chats.of(session_id, ErrorRaised)) == 1


async def test_a_pipe_a_link_and_a_flood_in_the_files_place_are_faults(tmp_path: Path) -> None:  # R18
    where = project(tmp_path, "")
    path = where / ".openprogram" / "project.toml"
    secret = tmp_path / "secret"
    secret.write_text("password", "utf-8")
    async with opened(tmp_path, tools=tools(), profile=PROFILE) as chats:
        session_id = await chats.draft()
        await chats.do("set_workspace", session_id=session_id, workspace=str(where))
        said = []
        for make in (
            lambda: os.mkfifo(path),
            lambda: path.symlink_to(secret),
            lambda: path.write_bytes(b"#" * 64_001),
            lambda: path.mkdir(),
        ):
            path.unlink()
            make()
            ((problem,),) = (await panel(chats, session_id)).problems.values()
            said.append(problem.removeprefix(f"{path}: ").partition(".")[0])
        assert said == [
            "not a plain file",
            "cannot be read: Too many levels of symbolic links",
            "larger than 64,000 bytes",
            "cannot be read: Is a directory",
        ]
        path.rmdir()
        assert (await panel(chats, session_id)).problems == {}
        path.parent.rename(where / "cfg")
        (where / "cfg" / path.name).write_text('[tools]\ntoolset = "full"\n', "utf-8")
        path.parent.symlink_to("cfg")
        ((problem,),) = (await panel(chats, session_id)).problems.values()
        assert "its folder is a link" in problem

"""docs/plugins.md is followed to the letter: the tool is written, installed, and offered in a chat from before."""

import asyncio
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.support.conversation import Chat, call_block, sent
from tests.support.fake import FakeApi
from tests.support.server import running_server
from tests.support.tree import ROOT, write_tree

GUIDE = (ROOT / "docs" / "plugins.md").read_text("utf-8")
OFFLINE = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check", "--quiet")


def files_of_the_guide() -> dict[str, str]:
    """The files that the guide tells to write, by path."""
    return dict(re.findall(r"`(dice/[^`]+)`:\n\n```\w+\n(.*?)```", GUIDE, re.DOTALL))


def install(folder: Path) -> Path:
    """Run the guide's own command in `folder`, but into a directory beside it and without a network."""
    (command,) = re.findall(r"```sh\n(.*?)\n```", GUIDE, re.DOTALL)
    python, *arguments = shlex.split(command)
    assert python == "python"
    target = folder / "site"
    command_here = [sys.executable, *arguments, *OFFLINE, "--target", str(target)]
    subprocess.run(command_here, cwd=folder, check=True, capture_output=True)
    return target


def test_the_guide_and_the_example_are_the_same() -> None:
    files = files_of_the_guide()
    assert sorted(files) == ["dice/openprogram_dice/__init__.py", "dice/pyproject.toml"]
    for path, text in files.items():
        assert (ROOT / "examples" / path).read_text("utf-8") == text
    assert tomllib.loads(files["dice/pyproject.toml"])["project"]["dependencies"] == ["openprogram-server"]


async def panel(chat: Chat) -> dict[str, Any]:
    """The tool as the tools panel shows it, and what the panel says of plug-ins that are not there."""
    ack = await chat.act("explain_tools")
    (tool,) = [tool for tool in ack["tools"] if tool["name"] == "roll_dice"] or [None]
    return {"tool": tool, "problems": ack["problems"]}


@pytest.mark.asyncio(loop_scope="session")
async def test_the_guides_tool_is_in_a_chat_that_existed_before(
    tmp_path: Path, fake: FakeApi, wire: str
) -> None:  # T5, report 2
    write_tree(tmp_path, files_of_the_guide())
    write_tree(
        tmp_path / "site",
        {
            "broken.py": "raise RuntimeError('no licence')",
            "broken-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n",
            "broken-1.0.dist-info/entry_points.txt": "[openprogram.tools]\nbroken = broken:tool\n",
        },
    )
    async with running_server(tmp_path, fake, api=wire) as server:
        async with server.client() as client:
            old = await Chat.create(client, wire)
            await fake.say("Hello.")
            await old.turn("hello")
            assert await panel(old) == {"tool": None, "problems": {}}
        await server.stop()
        server.environment = {**server.environment, "PYTHONPATH": str(install(tmp_path))}
        await server.start()
        async with server.client() as client:
            chat = Chat(client, old.id)
            await chat.snapshot()
            shown = await panel(chat)
            assert (shown["tool"]["source"], shown["tool"]["state"]) == ("plugin:dice", "deferred")
            assert shown["tool"]["description"] == "Roll dice and tell what each one shows."
            assert list(shown["problems"]) == ["plugin:broken"]
            assert "no licence" in shown["problems"]["plugin:broken"][0]
            await fake.script({"blocks": [call_block("roll_dice", "c_1", sides=2, count=3)]})
            await fake.say("Rolled.")
            await chat.send("roll three coins")
            assert (await chat.event("turn_finished"))["reason"] == "done"
    first, told, rolled = await sent(fake)
    assert (told.tools, told.system) == (first.tools, first.system)  # C5: nothing that was cached has moved
    assert "roll_dice" in told.text
    assert re.fullmatch(r"[12], [12], [12]", rolled.results["c_1"])


@pytest.mark.asyncio(loop_scope="session")
async def test_the_guides_tool_is_in_the_open_chats_of_a_running_server_until_it_is_taken_away(
    tmp_path: Path, fake: FakeApi, wire: str
) -> None:  # T5, report 2
    write_tree(tmp_path, files_of_the_guide())
    site = tmp_path / "site"
    site.mkdir()
    async with (
        running_server(tmp_path, fake, api=wire, environment={"PYTHONPATH": str(site)}) as server,
        server.client() as client,
    ):
        await client.subscribe(None)
        chat = await Chat.create(client, wire)
        await fake.say("Hello.")
        await chat.turn("hello")
        assert await panel(chat) == {"tool": None, "problems": {}}
        await asyncio.to_thread(install, tmp_path)
        while (shown := (await panel(chat))["tool"]) is None:
            await client.frame("hint", hint="registry_changed")
        assert (shown["source"], shown["state"]) == ("plugin:dice", "deferred")
        await fake.script({"blocks": [call_block("roll_dice", "c_1", sides=2, count=3)]})
        await fake.say("Rolled.")
        assert (await chat.turn("roll three coins"))["reason"] == "done"
        shutil.rmtree(site / "openprogram_dice-1.0.dist-info")
        while (await panel(chat))["tool"] is not None:
            await client.frame("hint", hint="registry_changed")
    first, told, rolled = await sent(fake)
    assert (told.tools, told.system) == (first.tools, first.system)  # C5: nothing that was cached has moved
    assert re.fullmatch(r"[12], [12], [12]", rolled.results["c_1"])

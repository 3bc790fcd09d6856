"""A turn that goes on after the process ended: from its last safe point, under a contract that was verified (T23)."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from openprogram.agent.tool_search import tool_search
from openprogram.core.events import LoadedChanged, Notice, ToolCallStarted, TurnFinished, TurnStarted
from openprogram.core.tooling import ToolSpec
from openprogram.tools.registry import Registry
from tests.support.agent import FakeTool
from tests.support.deferral import declared, deferred, search, select
from tests.support.script import call, say, use
from tests.support.sessions import Chats, crashed, opened


def bash() -> FakeTool:
    return FakeTool("bash", permission="execute", readonly=False)


def registry(*tools: FakeTool | ToolSpec) -> Registry:
    made = Registry()
    made.put("builtin", [tool_search, *(tool if isinstance(tool, ToolSpec) else tool.spec for tool in tools)])
    return made


async def waiting(tmp_path: Path, *tools: FakeTool) -> tuple[Path, str]:
    """A chat that has searched and loaded `weather` in one step, and asks about `bash` in the next, after a kill."""
    steps = (call(search("the weather"), select("weather", call_id="c_1")), call(use("bash", "c_2", command="ls")))
    async with opened(tmp_path, *steps, registry=registry(*tools), mode="ask") as chats:
        session_id = (await chats.say("look")).session_id
        await chats.asked(session_id)
        folder = crashed(tmp_path, tmp_path / "after")
        await chats.do("stop", session_id=session_id)
        await chats.rest(session_id)
    return folder, session_id


async def resume(chats: Chats, session_id: str) -> None:
    """Allow what was asked about, and wait for the turn's end."""
    (asked,) = (await chats.snapshot(session_id)).state.approvals
    await chats.do("answer_approval", session_id=session_id, approval_id=asked.approval_id, decision="once")
    await chats.until(session_id, TurnFinished)
    await chats.rest(session_id)


async def test_each_safe_point_is_in_the_log_with_the_contract_and_what_is_loaded(tmp_path: Path) -> None:
    folder, session_id = await waiting(tmp_path, bash(), deferred("weather"))
    async with opened(folder, registry=registry(bash(), deferred("weather")), mode="ask") as chats:
        assert (await chats.row(session_id)).loaded == ("weather",)
        (started,) = await chats.of(session_id, TurnStarted)
        (loaded,) = await chats.of(session_id, LoadedChanged)
        assert started.fingerprint
        assert loaded.loaded == ("weather",)


async def test_under_the_same_contract_the_turn_goes_on_and_repeats_nothing(tmp_path: Path) -> None:
    folder, session_id = await waiting(tmp_path, bash(), deferred("weather"))
    ran, weather = bash(), deferred("weather")
    again = registry(ran, weather)
    async with opened(folder, call(use("weather")), say("Done."), registry=again, mode="ask") as chats:
        await resume(chats, session_id)
        assert (len(ran.calls), len(weather.calls)) == (1, 1)
        names = [event.name for event in await chats.of(session_id, ToolCallStarted)]
        assert names == ["tool_search", "tool_search", "bash", "bash", "weather"]  # only what has no result runs again
        assert declared(chats.provider.requests[0]) == ["bash", "tool_search", "weather"]
        first, resumed = await chats.of(session_id, TurnStarted)
        assert (resumed.turn_id, resumed.fingerprint) == (first.turn_id, first.fingerprint)
        assert [note.message for note in await chats.of(session_id, Notice)] == ["The turn goes on after a restart."]


@pytest.mark.parametrize(
    "changed",
    [
        {"description": "Tells the weather otherwise."},
        {"parameters": {"type": "object", "properties": {"town": {"type": "string"}}}},
        {"version": "2"},
        {"validate": lambda arguments: None},  # wrapped in one more way
    ],
)
async def test_a_contract_that_differs_is_told_and_the_turn_goes_on_under_a_fresh_one(
    tmp_path: Path, changed: dict[str, Any]
) -> None:
    folder, session_id = await waiting(tmp_path, bash(), deferred("weather"))
    weather = deferred("weather")
    other = registry(bash(), replace(weather.spec, **changed))
    async with opened(folder, call(use("weather")), say("Done."), registry=other, mode="ask") as chats:
        await resume(chats, session_id)
        (note,) = await chats.of(session_id, Notice)
        assert note.message == "The turn goes on after a restart, with the tools of now: they changed since it began."
        first, resumed = await chats.of(session_id, TurnStarted)
        assert first.fingerprint != resumed.fingerprint
        assert len(weather.calls) == 1


async def test_a_name_that_is_no_longer_authorised_leaves_the_loaded_set(tmp_path: Path) -> None:
    folder, session_id = await waiting(tmp_path, bash(), deferred("weather"))
    weather = deferred("weather")
    script = (call(use("weather")), say("Pity."))
    async with opened(folder, *script, registry=registry(bash(), weather), mode="ask") as chats:
        await chats.patch("set_tool_disabled", session_id, name="weather", value=True)
        await resume(chats, session_id)
        assert (await chats.row(session_id)).loaded == ()
        assert [event.loaded for event in await chats.of(session_id, LoadedChanged)] == [("weather",), ()]
        assert weather.calls == []
        statuses = [result.status for message in await chats.branch(session_id) for result in message.results]
        assert statuses[-1] == "denied"


async def test_a_checkpoint_from_before_the_field_resumes_with_none(tmp_path: Path) -> None:
    folder, session_id = await waiting(tmp_path, bash(), deferred("weather"))
    with closing(sqlite3.connect(folder / "chats.db")) as db:
        db.execute("UPDATE sessions SET loaded = NULL, surface = NULL")
        db.execute("DELETE FROM events WHERE payload LIKE '%loaded_changed%'")
        db.commit()
    async with opened(folder, say("Done."), registry=registry(bash(), deferred("weather")), mode="ask") as chats:
        await resume(chats, session_id)
        assert declared(chats.provider.requests[0]) == ["bash", "tool_search"]  # though the results tell of `weather`
        assert (await chats.row(session_id)).loaded == ()


@pytest.mark.parametrize("how", ["switched off", "uninstalled", "kept"])
async def test_work_that_is_continued_goes_on_under_a_fresh_contract_and_says_which_of_its_tools_are_gone(
    tmp_path: Path, how: str
) -> None:  # T23, T24
    steps = (call(use("bash", "c_1", command="ls"), use("read", "c_2")), say("Then like this."))
    shell, read = bash(), FakeTool("read")
    async with opened(tmp_path, *steps, registry=registry(shell, read), mode="auto", max_steps=1) as chats:
        session_id = await chats.said("look")
        if how == "switched off":
            await chats.patch("set_tool_disabled", session_id, name="bash", value=True)
        elif how == "uninstalled":
            chats.registry.put("builtin", [tool_search, read.spec])
        await chats.do("continue_turn", session_id=session_id)
        await chats.until(session_id, TurnFinished, 2)
        first, second = await chats.of(session_id, TurnStarted)
        assert first.turn_id != second.turn_id
        assert ("bash" in second.tools) == (how == "kept") == (first.fingerprint == second.fingerprint)
        told = [notice.message for notice in await chats.of(session_id, Notice) if notice.code == "tools_gone"]
        assert len(told) == (0 if how == "kept" else 1)
        assert all("without bash:" in text for text in told)
        assert (len(shell.calls), len(read.calls)) == (1, 1)
        called = [use.name for message in chats.provider.requests[1].messages for use in message.calls]
        assert called == ["bash", "read"]


async def test_a_new_message_is_not_bothered_with_tools_that_an_earlier_turn_used(tmp_path: Path) -> None:
    steps = (call(use("bash", command="ls")), say("Done."), say("Hello."))
    async with opened(tmp_path, *steps, registry=registry(bash()), mode="auto") as chats:
        session_id = await chats.said("look")
        await chats.patch("set_tool_disabled", session_id, name="bash", value=True)
        await chats.said("hi", session_id)
        assert [notice.code for notice in await chats.of(session_id, Notice) if notice.code == "tools_gone"] == []

"""Commands in the background: they run on, are bounded, and end with the server."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from openprogram.tools.builtin.bash import ShellConfig, bash_tool
from openprogram.tools.builtin.job_records import JobRecord, write_record
from openprogram.tools.builtin.jobs import _CHATS, PER_SESSION, Job, Jobs
from openprogram.tools.builtin.output import output_file
from tests.support.shell import TREE, all_started, assert_tree_gone, prepare_tree, shell
from tests.support.tool_calls import Caller, display_of, text_of
from tests.support.ws import WAIT_S


@pytest.fixture
def call(tmp_path):
    workspace = tmp_path / "ws"
    workspace.mkdir()
    return Caller(workspace)


@pytest.fixture
def tree(call):
    return prepare_tree(call)


async def test_a_background_command_runs_on_and_its_end_is_in_the_file(call):
    os.mkfifo(call.workspace / "go")
    ended: asyncio.Future[Job] = asyncio.get_running_loop().create_future()
    async with Jobs() as jobs:
        jobs.subscribe(ended.set_result)
        bash = bash_tool(ShellConfig(), call.workspace.parent / "out", jobs)
        output = await call(bash, command="echo begun; read line < go; echo $line; exit 4", background=True)
        display = display_of(output)
        log = Path(str(display["output_file"]))
        assert (output.status, display["exit_code"]) == ("ok", None)
        assert str(display["job"]) in text_of(output)
        assert str(log) in text_of(output)
        assert [job.end for job in jobs.of(call.session_id)] == [None]
        (call.workspace / "go").write_text("done\n")
        job = await ended
    assert (job.id, job.end and job.end.code) == (display["job"], 4)
    assert log.read_text() == "begun\ndone\n\n[ended: exit code 4]\n"
    assert call.live == []


async def test_a_background_command_that_fails_at_once_says_so_at_once(call, monkeypatch):
    monkeypatch.setattr("openprogram.tools.builtin.bash._FIRST_LOOK_S", WAIT_S)  # however slow the machine is
    async with shell(call) as bash:
        text = text_of(await call(bash, command="echo port in use; exit 1", background=True))
    assert text.endswith("has already ended.\nport in use\n\n[ended: exit code 1]")


async def test_background_commands_end_with_the_server(call, tree):
    async with shell(call) as bash:
        started = asyncio.create_task(call(bash, command=f"{TREE}\nsleep 1000", background=True))
        await all_started(tree)
        await started
    assert_tree_gone(call)


async def test_the_id_that_is_given_ends_a_background_command(call, tree):
    async with Jobs() as jobs:
        bash = bash_tool(ShellConfig(), call.workspace.parent / "out", jobs)
        started = asyncio.create_task(call(bash, command=f"{TREE}\nsleep 1000", background=True))
        await all_started(tree)
        text = text_of(await started)
        (job,) = jobs.of(call.session_id)
        assert f"`kill {job.pid}`" in text
        await call(bash, command=f"kill {job.pid}")
        ended = await jobs.settled(job.id, WAIT_S)
        assert ended.end is not None
        assert ended.end.code == -signal.SIGTERM
        assert_tree_gone(call)


async def test_a_job_can_be_stopped(call):
    async with Jobs() as jobs:
        bash = bash_tool(ShellConfig(), call.workspace.parent / "out", jobs)
        await call(bash, command="sleep 1000", background=True)
        (job,) = jobs.of(call.session_id)
        await jobs.stop(job.id)
        assert [done.end is not None for done in jobs.of(call.session_id)] == [True]
        await jobs.stop("job_unknown")


async def test_a_chat_has_so_many_background_commands_and_no_more(call, monkeypatch):
    monkeypatch.setattr("openprogram.tools.builtin.bash._FIRST_LOOK_S", 0)
    async with shell(call) as bash:
        for _ in range(PER_SESSION):
            await call(bash, command="sleep 1000", background=True)
        assert "already run" in await call.fails(bash, command="sleep 1000", background=True)
        call.session_id = "s_other"
        await call(bash, command="sleep 1000", background=True)


async def test_after_the_shutdown_nothing_is_started_in_the_background(call):
    async with shell(call) as bash:
        pass
    assert "shutting down" in await call.fails(bash, command="sleep 1000", background=True)


async def test_earlier_commands_of_many_chats_are_not_all_held_in_memory(tmp_path):
    kept = {}
    for chat in (f"s_{n}" for n in range(_CHATS + 5)):
        log = output_file(tmp_path, chat, "c_1")
        kept[chat] = JobRecord(f"job_{chat}", "make", str(log), 1.0, 2.0, "itself", 0)
        write_record(kept[chat])
    async with Jobs(tmp_path) as jobs:
        for _ in range(2):
            for chat, record in kept.items():
                assert await jobs.records(chat) == {record.id: record}
                assert len(jobs._earlier) <= _CHATS

"""`bash`: however a command ends, nothing of it is left."""

import asyncio
import os
import re
import sys

import pytest

from openprogram.tools.builtin import bash as bash_module
from tests.support.shell import TREE, all_started, assert_tree_gone, prepare_tree, shell
from tests.support.time_limits import by_hand
from tests.support.tool_calls import Caller, display_of, text_of


@pytest.fixture
def call(tmp_path):
    workspace = tmp_path / "ws"
    workspace.mkdir()
    return Caller(workspace)


@pytest.fixture
def tree(call):
    return prepare_tree(call)


async def test_what_a_command_leaves_running_ends_with_it(call, tree):
    async with shell(call) as bash:
        output, _ = await asyncio.gather(call(bash, command=TREE), all_started(tree))
        assert_tree_gone(call)
    assert re.search(r"\n?\[[56] processes that it left running were ended\]", text_of(output))
    assert text_of(output).endswith("[exit code 0]")


async def test_time_up_ends_the_whole_tree(call, tree, monkeypatch):
    limit = by_hand(monkeypatch, bash_module)
    async with shell(call) as bash:
        task = asyncio.create_task(call(bash, command=f"echo begun; {TREE}\nsleep 1000", timeout=3))
        await all_started(tree)
        await limit.up()
        output = await task
        assert_tree_gone(call)
    assert text_of(output) == "begun\n[time was up after 3 s; the command and all it started were ended]"
    assert output.status == "error"
    assert (display_of(output)["exit_code"], display_of(output)["timed_out"]) == (None, True)


async def test_cancelling_ends_the_whole_tree(call, tree):
    async with shell(call) as bash:
        task = asyncio.create_task(call(bash, command=f"{TREE}\nsleep 1000"))
        await all_started(tree)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert_tree_gone(call)


SERVER = """
import asyncio, sys
from pathlib import Path
from openprogram.tools.builtin.bash import ShellConfig, bash_tool
from openprogram.tools.builtin.jobs import Jobs
from tests.support.tool_calls import Caller

async def main(workspace, command):
    async with Jobs() as jobs:
        bash = bash_tool(ShellConfig(), workspace.parent / "out", jobs)
        await Caller(workspace)(bash, command=command)

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


async def test_a_server_that_is_killed_leaves_nothing_running(call, tree):
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        SERVER,
        call.workspace,
        f"{TREE}\nsleep 1000",
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    await all_started(tree)
    server.kill()
    await server.wait()
    assert_tree_gone(call)


async def test_only_the_commands_own_processes_are_ended(call):
    bystander = await asyncio.create_subprocess_exec("sleep", "1000")
    try:
        async with shell(call) as bash:
            await call(bash, command="sleep 1000 &")
        assert bystander.returncode is None
        os.kill(bystander.pid, 0)
    finally:
        bystander.kill()
        await bystander.wait()


async def test_a_watcher_that_is_killed_is_told(call):
    async with shell(call) as bash:
        assert "could not be watched" in await call.fails(bash, command="kill -9 $PPID; sleep 1000")


async def test_no_descriptor_and_no_task_is_left(call):  # R5
    async with shell(call) as bash:
        await call(bash, command="true")
        before = len(os.listdir("/dev/fd"))
        for _ in range(8):
            await call(bash, command="sleep 1000 & exit 1")
        assert len(os.listdir("/dev/fd")) <= before + 1
        assert asyncio.all_tasks() == {asyncio.current_task()}

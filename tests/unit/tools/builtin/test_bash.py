"""`bash`: real commands, and nothing left of them."""

import asyncio
import os
import re
import shlex
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from openprogram.core.tooling import ToolSpec
from openprogram.tools.builtin.bash import LIVE_BYTES, ShellConfig, bash_tool
from openprogram.tools.builtin.jobs import PER_SESSION, Job, Jobs
from tests.support.processes import wait_gone
from tests.support.tool_calls import Caller, display_of, text_of

# A tree of every kind: a child, one in a session of its own, one whose parent has gone, one that ignores SIGTERM. Each
# writes its id to the file `pids`; the pipe `ready` tells that all have.
TREE = """
note() { echo $1 >> pids; }
sleep 1000 & note $!
setsid sleep 1000 & note $!
(setsid bash -c 'echo $$ >> pids; (sleep 1000 & echo $! >> pids) ; sleep 1000' &)
bash -c 'trap "" TERM HUP INT; echo $$ >> pids; while :; do sleep 1000; done' &
while [ "$(wc -l < pids)" -lt 5 ]; do :; done
echo all > ready
"""


@pytest.fixture
def call(tmp_path):
    workspace = tmp_path / "ws"
    workspace.mkdir()
    return Caller(workspace)


@asynccontextmanager
async def shell(call: Caller, config: ShellConfig | None = None) -> AsyncIterator[ToolSpec]:
    async with Jobs() as jobs:
        yield bash_tool(config or ShellConfig(), call.workspace.parent / "out", jobs)


async def run(call: Caller, command: str, **arguments: int | bool) -> str:
    async with shell(call) as bash:
        return text_of(await call(bash, command=command, **arguments))


async def test_output_and_exit_code(call):
    async with shell(call) as bash:
        output = await call(bash, command="pwd; echo error >&2; exit 3")
    assert text_of(output) == f"{call.workspace}\nerror\n[exit code 3]"
    assert output.status == "error"
    display = display_of(output)
    assert (display["command"], display["exit_code"], display["timed_out"]) == (
        "pwd; echo error >&2; exit 3",
        3,
        False,
    )
    assert Path(str(display["output_file"])).read_text() == f"{call.workspace}\nerror\n"
    assert isinstance(display["duration_ms"], int)


async def test_a_command_that_succeeds_is_ok(call):
    async with shell(call) as bash:
        output = await call(bash, command="true")
    assert (output.status, text_of(output)) == ("ok", "[exit code 0]")


async def test_a_command_that_a_signal_ends_says_which(call):
    assert await run(call, "kill -SEGV $$") == "[ended by SIGSEGV]"


async def test_there_is_no_input_and_no_terminal(call):
    assert await run(call, "cat; [ -t 1 ] || echo none") == "none\n[exit code 0]"


async def test_what_runs_is_seen_while_it_runs(call):
    os.mkfifo(call.workspace / "go")
    seen = asyncio.Event()
    call.on_output = seen.set
    async with shell(call) as bash:
        task = asyncio.create_task(call(bash, command="echo first; read line < go; echo $line"))
        await seen.wait()
        assert call.live == ["first\n"]
        (call.workspace / "go").write_text("second\n")
        assert text_of(await task) == "first\nsecond\n[exit code 0]"
    assert "".join(call.live) == "first\nsecond\n"


async def test_characters_cut_in_half_on_the_way_are_put_together(call):
    await run(call, "printf '\\303'; sleep 0.05; printf '\\251'")
    assert "".join(call.live) == "é"


async def test_a_hundred_megabytes_are_kept_in_the_file_and_bounded_elsewhere(call):
    async with shell(call) as bash:
        output = await call(bash, command="seq 1 13000000")
    log = Path(str(display_of(output)["output_file"]))
    assert log.stat().st_size > 100_000_000
    text = text_of(output)
    assert len(text) < 30_000
    assert text.startswith("1\n2\n")
    assert text.endswith("\n13000000\n[exit code 0]")
    assert f"bytes left out; the full output is in {log}]" in text
    assert 0 < len("".join(call.live)) <= LIVE_BYTES


async def test_the_file_is_bounded_too(call):
    async with shell(call, ShellConfig(log_limit=1_000)) as bash:
        output = await call(bash, command="seq 1 100000")
    log = Path(str(display_of(output)["output_file"])).read_bytes()
    assert log[1_000:].startswith(b"\n[587895 further bytes of output were not kept]")
    assert "[587,895 bytes of output were more than is kept]" in text_of(output)


async def test_control_sequences_and_overwritten_lines_are_for_people_only(call):
    text = await run(call, "printf '\\033[31mred\\033[0m\\n10%%\\r50%%\\r100%%\\n\\033]0;title\\007x\\n'")
    assert text == "red\n100%\nx\n[exit code 0]"
    assert "\x1b[31m" in "".join(call.live)


async def test_secrets_stay_out_of_commands(call, monkeypatch):
    monkeypatch.setenv("TAVILY_API_KEY", "s3cret")
    monkeypatch.setenv("OPENPROGRAM_TOKEN", "s3cret")
    monkeypatch.setenv("DATABASE_URL", "postgres://user:s3cret@host/db")
    monkeypatch.setenv("HARMLESS", "shown")
    text = await run(call, "env; cat /proc/$PPID/environ | tr '\\0' '\\n'")
    assert "s3cret" not in text
    assert text.count("HARMLESS=shown") == 2


async def test_a_variable_can_be_kept_on_purpose(call, monkeypatch):
    monkeypatch.setenv("MY_TOKEN", "meant")
    async with shell(call, ShellConfig(keep=frozenset({"MY_TOKEN"}))) as bash:
        assert "meant" in text_of(await call(bash, command="echo $MY_TOKEN"))


async def test_refusals(call, tmp_path):
    async with shell(call) as bash:
        assert "empty" in await call.fails(bash, command="  ")
        assert "NUL" in await call.fails(bash, command="a\0b")
        call.workspace = tmp_path / "gone"
        assert "not there" in await call.fails(bash, command="true")


async def test_the_preview_is_the_exact_command(call):
    async with shell(call) as bash:
        preview = await call.preview(bash, command="ls && rm -rf 'x y'")
    assert (preview.kind, preview.text) == ("command", "ls && rm -rf 'x y'")


# -- nothing is left ---------------------------------------------------------------------------------------------


def pids(call: Caller) -> list[int]:
    found = [int(line) for line in (call.workspace / "pids").read_text().split()]
    assert len(found) == 5
    return found


@pytest.fixture
def tree(call):
    (call.workspace / "pids").touch()
    os.mkfifo(call.workspace / "ready")
    return call.workspace / "ready"


async def all_started(ready: Path) -> None:
    assert await asyncio.to_thread(ready.read_bytes) == b"all\n"


async def test_what_a_command_leaves_running_ends_with_it(call, tree):
    async with shell(call) as bash:
        output, _ = await asyncio.gather(call(bash, command=TREE), all_started(tree))
        for pid in pids(call):
            wait_gone(pid)
    assert re.search(r"\n?\[[56] processes that it left running were ended\]", text_of(output))
    assert text_of(output).endswith("[exit code 0]")


async def test_time_up_ends_the_whole_tree(call, tree):
    async with shell(call) as bash:
        output, _ = await asyncio.gather(
            call(bash, command=f"echo begun; {TREE}\nsleep 1000", timeout=3), all_started(tree)
        )
        for pid in pids(call):
            wait_gone(pid)
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
        for pid in pids(call):
            wait_gone(pid)


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
    for pid in pids(call):
        wait_gone(pid)


async def test_only_the_commands_own_processes_are_ended(call):
    bystander = await asyncio.create_subprocess_exec("sleep", "1000")
    try:
        await run(call, "sleep 1000 &")
        assert bystander.returncode is None
        os.kill(bystander.pid, 0)
    finally:
        bystander.kill()
        await bystander.wait()


async def test_a_watcher_that_is_killed_is_told(call):
    async with shell(call) as bash:
        assert "could not be watched" in await call.fails(bash, command="kill -9 $PPID; sleep 1000")


# -- in the background -------------------------------------------------------------------------------------------


async def test_a_background_command_runs_on_and_its_end_is_in_the_file(call):
    os.mkfifo(call.workspace / "go")
    ended: asyncio.Future[Job] = asyncio.get_running_loop().create_future()
    async with Jobs(ended.set_result) as jobs:
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


async def test_a_background_command_that_fails_at_once_says_so_at_once(call):
    text = await run(call, "echo port in use; exit 1", background=True)
    assert text.endswith("has already ended.\nport in use\n\n[ended: exit code 1]")


async def test_background_commands_end_with_the_server(call, tree):
    async with shell(call) as bash:
        started = asyncio.create_task(call(bash, command=f"{TREE}\nsleep 1000", background=True))
        await all_started(tree)
        await started
    for pid in pids(call):
        wait_gone(pid)


async def test_the_id_that_is_given_ends_a_background_command(call, tree):
    async with Jobs() as jobs:
        bash = bash_tool(ShellConfig(), call.workspace.parent / "out", jobs)
        started = asyncio.create_task(call(bash, command=f"{TREE}\nsleep 1000", background=True))
        await all_started(tree)
        text = text_of(await started)
        (job,) = jobs.of(call.session_id)
        assert f"`kill {job.pid}`" in text
        await call(bash, command=f"kill {job.pid}")
        ended = await jobs.settled(job.id, 20)
        assert ended.end is not None
        assert ended.end.code == -signal.SIGTERM
        for pid in pids(call):
            wait_gone(pid)


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


async def test_outputs_of_chats_lie_apart_and_are_closed_to_others(call):
    async with shell(call) as bash:
        output = await call(bash, command="true")
        call.session_id = "../escape"
        other = await call(bash, command="true")
    out = call.workspace.parent / "out"
    first, second = (Path(str(display_of(each)["output_file"])) for each in (output, other))
    assert first.parent == out / "s_test"
    assert second.parent.parent == out
    assert second.parent != first.parent
    assert first.stat().st_mode & 0o077 == 0
    assert first.parent.stat().st_mode & 0o077 == 0


async def test_quotes_reach_the_shell_as_they_are(call):
    words = ["a b", "it's", '"q"', "$HOME", "\\n", "ü"]
    text = await run(call, f"printf '%s\\n' {shlex.join(words)}")
    assert text.split("\n")[:-1] == words

"""`bash`: real commands, and nothing left of them."""

import asyncio
import os
import shlex
from pathlib import Path

import pytest

from openprogram.tools.builtin.bash import LIVE_BYTES, ShellConfig, preview_bash
from tests.support.shell import shell
from tests.support.tool_calls import Caller, display_of, text_of


@pytest.fixture
def call(tmp_path):
    workspace = tmp_path / "ws"
    workspace.mkdir()
    return Caller(workspace)


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


async def test_a_person_sees_that_a_command_would_stay_in_the_background_and_how_long_it_may_take(call):
    shown = [
        (await preview_bash({"command": "make\n", **more}, call.context())).text
        for more in ({}, {"background": False}, {"background": True, "timeout": 600})
    ]
    assert shown == ["make\n", "make\n", "make\n\n# background: true\n# timeout: 600"]


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

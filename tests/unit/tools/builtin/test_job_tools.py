"""`job_output` and `job_stop`: what a background command has printed, how it ended, and that its whole tree ends."""

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from openprogram.core.jsonio import encode
from openprogram.core.tooling import ToolSpec
from openprogram.tools.builtin.bash import ShellConfig, bash_tool
from openprogram.tools.builtin.job_records import EARLIER, JobRecord, read_records, write_record
from openprogram.tools.builtin.job_tools import BUDGET, job_tools
from openprogram.tools.builtin.job_words import duration, ending, fate, news_of, short
from openprogram.tools.builtin.jobs import Job, Jobs
from tests.support.shell import TREE, all_started, assert_tree_gone, prepare_tree, printed
from tests.support.tool_calls import Caller, display_of, text_of
from tests.support.ws import WAIT_S


@pytest.fixture
def call(tmp_path: Path) -> Caller:
    workspace = tmp_path / "ws"
    workspace.mkdir()
    os.mkfifo(workspace / "go")
    return Caller(workspace)


class Place:
    """A server's background commands with the tools over them."""

    def __init__(self, call: Caller, jobs: Jobs, out: Path) -> None:
        self.call = call
        self.jobs = jobs
        self.bash: ToolSpec = bash_tool(ShellConfig(), out, jobs)
        self.output, self.stop = job_tools(jobs)

    async def start(self, command: str, *, prints: bytes = b"") -> str:
        """Start a command in the background, and wait until it has printed so much; returns its id."""
        display = display_of(await self.call(self.bash, command=command, background=True))
        await printed(Path(str(display["output_file"])), prints)
        return str(display["job"])

    async def at_once(self, command: str) -> str:
        """Start a command whose end its own call still sees, however slow the machine is."""
        with patch("openprogram.tools.builtin.bash._FIRST_LOOK_S", WAIT_S):
            return await self.start(command)

    async def go(self) -> None:
        """Let a command go on that reads `go`."""
        await asyncio.to_thread((self.call.workspace / "go").write_text, "on\n")

    async def over(self, job: str) -> Job:
        """Wait for its end, and tell nobody."""
        if (watch := self.jobs._watches.get(job)) is not None:
            await asyncio.wait({watch})
        return next(known for known in self.jobs.of(self.call.session_id) if known.id == job)

    async def look(self, job: str, **more: int) -> list[str]:
        """What `job_output` says: its first line, then the output's lines."""
        return text_of(await self.call(self.output, job=job, **more)).split("\n")


@pytest.fixture
async def place(call: Caller, tmp_path: Path) -> AsyncIterator[Place]:
    async with Jobs(tmp_path / "out") as jobs:
        yield Place(call, jobs, tmp_path / "out")


async def test_each_look_shows_what_is_new(place: Place) -> None:
    job = await place.start("echo one; read line < go; echo two; exit 3", prints=b"one\n")
    first = await place.look(job)
    assert first[0].startswith(f"{job}: running for ")
    assert first[1:] == ["one"]
    assert (await place.look(job))[1:] == ["(no new output)"]
    await place.go()
    await place.over(job)
    last = await place.look(job)
    assert last[0].startswith(f"{job}: exit code 3 after ")
    assert last[1:] == ["two", "", "[ended: exit code 3]"]
    assert display_of(await place.call(place.output, job=job)) == {
        "job": job,
        "command": "echo one; read line < go; echo two; exit 3",
        "running": False,
        "exit_code": 3,
        "output_file": display_of(await place.call(place.output, job=job))["output_file"],
    }


async def test_the_tail_is_the_last_lines_and_counts_as_read(place: Place) -> None:
    job = await place.start("seq 1 50; read line < go", prints=b"50\n")
    assert (await place.look(job, tail=3))[1:] == ["48", "49", "50"]
    assert (await place.look(job))[1:] == ["(no new output)"]
    await place.go()


async def test_a_flood_comes_in_pieces_that_join_without_a_gap(place: Place) -> None:  # R6
    job = await place.start("seq -f 'zeile %.0f äöü' 1 3000")
    await place.over(job)
    shown, looks = "", 0
    while True:
        text = text_of(await place.call(place.output, job=job)).partition("\n")[2]
        assert len(text.encode()) < BUDGET + 300
        if text == "(no new output)":
            break
        piece, _, note = text.partition("\n[")
        shown += piece if note and "bytes more" in note else text
        looks += 1
    assert looks > 1
    assert "\ufffd" not in shown
    wanted = "".join(f"zeile {n} äöü\n" for n in range(1, 3001))
    assert shown.replace("\n", "").startswith(wanted.replace("\n", ""))
    assert len((await place.look(job, tail=100_000))[1:]) < 3000  # bounded, too


async def test_a_character_that_is_half_there_waits_for_its_rest(place: Place) -> None:
    job = await place.start(r"printf 'a\xc3'; read line < go; printf '\xa4b'", prints=b"a\xc3")
    assert (await place.look(job))[1:] == ["a"]
    await place.go()
    await place.over(job)
    assert (await place.look(job))[1:] == ["äb", "[ended: exit code 0]"]


async def test_without_an_id_the_chats_jobs_are_listed(place: Place) -> None:
    assert text_of(await place.call(place.output)) == "No command was started in the background of this chat."
    done = await place.at_once("echo x; exit 2")
    running = await place.start("read line < go")
    listing = text_of(await place.call(place.output)).split("\n")
    assert [line.split(" ")[0] for line in listing] == [f"{done}:", f"{running}:"]
    assert "exit code 2 after" in listing[0]
    assert "running for" in listing[1]
    await place.go()


@pytest.mark.parametrize("tool", ["output", "stop"])
async def test_another_chats_job_is_not_there(place: Place, tool: str) -> None:  # R12
    job = await place.start("read line < go")
    spec = place.output if tool == "output" else place.stop
    place.call.session_id = "s_other"
    assert await place.call.fails(spec, job=job) == (f"This chat has no background command {job!r} (there are none).")
    assert text_of(await place.call(place.output)) == "No command was started in the background of this chat."
    assert place.jobs.runs(job)
    place.call.session_id = "s_test"
    await place.go()


async def test_stop_ends_the_whole_tree(place: Place) -> None:  # P7, R14
    ready = prepare_tree(place.call)
    started = asyncio.create_task(place.start(f"{TREE}\nsleep 1000"))
    await all_started(ready)
    job = await started
    text = text_of(await place.call(place.stop, job=job))
    assert text.startswith(f"Stopped, with everything it started. {job}: stopped on request after ")
    assert_tree_gone(place.call)
    again = text_of(await place.call(place.stop, job=job))
    assert again.startswith(f"Nothing to stop. {job}: stopped on request after ")


async def test_only_an_end_that_no_call_told_is_news(place: Place) -> None:  # C12
    told: list[str] = []
    place.jobs.subscribe(lambda job: told.append(job.id))
    await place.at_once("exit 1")  # its own call says so
    stopped = await place.start("read line < go")
    await place.call(place.stop, job=stopped)
    quiet = await place.start("read line < go; exit 4")
    assert await place.jobs.news("s_test") == ()
    await place.go()
    await place.over(quiet)
    (news,) = await place.jobs.news("s_test")
    assert news.key == quiet
    assert news.text.startswith("exit code 4 after ")
    assert news.text.endswith("(read line < go; exit 4)")
    assert await place.jobs.news("s_other") == ()
    assert told == [quiet]
    await place.look(quiet)
    assert await place.jobs.news("s_test") == ()


async def test_after_a_restart_it_is_said_how_each_command_ended(call: Caller, tmp_path: Path) -> None:  # R2
    out = tmp_path / "out"
    async with Jobs(out) as jobs:
        before = Place(call, jobs, out)
        done = await before.start("read line < go; echo done")
        await before.go()
        await before.over(done)
        cut = await before.start("echo begun; sleep 1000", prints=b"begun\n")
        told = await before.at_once("exit 5")
    async with Jobs(out) as jobs:
        after = Place(call, jobs, out)
        news = {item.key: item.text for item in await jobs.news("s_test")}
        assert news.keys() == {done, cut}
        assert news[done].startswith("exit code 0 after ")
        assert news[cut].startswith("ended with the server, after ")
        assert (await after.look(cut))[1:] == ["begun", "", "[ended: signal 15]"]
        assert (await after.look(told))[0].startswith(f"{told}: exit code 5 after ")
        assert "Nothing to stop." in text_of(await call(after.stop, job=cut))
    async with Jobs(out) as jobs:
        assert [item.key for item in await jobs.news("s_test")] == [done]


async def test_a_command_whose_end_nobody_lived_to_see_is_told_as_such(call: Caller, tmp_path: Path) -> None:
    log = tmp_path / "out" / "s_test" / "c_9.log"
    log.parent.mkdir(parents=True)
    log.write_text("half ")
    write_record(JobRecord("job_dead", "make all", str(log), 1000.0))
    (log.parent / "job_torn.json").write_text('{"id": "job_torn"')
    async with Jobs(tmp_path / "out") as jobs:
        place = Place(call, jobs, tmp_path / "out")
        (news,) = await jobs.news("s_test")
        assert news.text == (
            "cut off when the server ended without warning; how far it came is not recorded (make all)"
        )
        assert (await place.look("job_dead"))[1:] == ["half "]
        assert await jobs.news("s_test") == ()


def test_the_newest_records_are_kept_in_order(tmp_path: Path) -> None:
    for number in range(EARLIER + 5):
        write_record(JobRecord(f"job_{number:02}", "x", str(tmp_path / f"{number}.log"), float(number)))
    assert [record.id for record in read_records(tmp_path)] == [f"job_{number:02}" for number in range(5, EARLIER + 5)]
    assert read_records(tmp_path / "nothing") == ()


def test_a_record_reads_as_it_was_written(tmp_path: Path) -> None:
    record = JobRecord("job_1", 'ä\n"x"', str(tmp_path / "c.log"), 1.5, 2.5, "stop", -15, True)
    write_record(record)
    assert read_records(tmp_path) == (record,)
    assert (tmp_path / "job_1.json").read_bytes() == encode(record)


def test_how_it_ended_in_words() -> None:
    record = JobRecord("job_1", "make\n  all", "/x", 1000.0, 1200.0, "itself", 0)
    assert fate(record) == "exit code 0 after 3 min 20 s"
    assert fate(replace(record, code=-9)) == "ended by SIGKILL after 3 min 20 s"
    assert fate(replace(record, ended_by="stop", code=-15)) == "stopped on request after 3 min 20 s"
    assert fate(replace(record, ended_by="server")) == "ended with the server, after 3 min 20 s, before it was done"
    assert news_of(record).text == "exit code 0 after 3 min 20 s (make all)"
    assert ending(-200) == "ended by signal 200"
    assert [duration(s) for s in (-3, 0.4, 59.6, 7500)] == ["0 s", "0 s", "1 min 0 s", "2 h 5 min"]
    assert short("x" * 100) == "x" * 79 + "…"

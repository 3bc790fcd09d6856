"""Running git so that nothing in a repository can make it run anything else, talk to anyone or wait for anyone.

A repository's configuration can name programs for hooks, the file system monitor, pagers, external differences, text
conversion, content filters, signature checks and transports. Each is switched off by configuration of a higher rank;
what only an option switches off is in the options of each command (`git_read`).
"""

import asyncio
import os
import re
import shutil
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.environment import command_environment
from openprogram.tools.builtin.git_repo import Repository

TIMEOUT_S: Final = 60.0
BUDGET: Final = 28_000
"""Bytes of output that are shown."""

_CHUNK: Final = 65_536
_SMALL: Final = 1_000_000
_COMPLAINT: Final = 2_000
_REVISION: Final = re.compile(r"[^\x00-\x1f\x7f-][^\x00-\x1f\x7f]{0,299}")
_RANGE: Final = re.compile(r"(.*?)(\.\.\.?)(.*)")
_FIXED: Final = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.pager": "cat",
    "core.askPass": "",
    "core.sshCommand": "false",
    "core.quotePath": "false",
    "color.ui": "false",
    "credential.helper": "",
    "diff.external": "",
    "gc.auto": "0",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "submodule.recurse": "false",
}
_ENVIRONMENT: Final = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C.UTF-8",
}
_FILTERS: Final = r"^filter\..*\.(clean|smudge|process|required)$"


def git_path() -> str | None:
    """The git of this machine, or None."""
    return shutil.which("git")


@dataclass(frozen=True, slots=True)
class GitOutput:
    """Lines of output from `first` on, as much as the budget holds; `more` says that it goes on."""

    text: str
    first: int
    last: int
    more: bool


class Git:
    """Git on one repository."""

    def __init__(self, binary: str, repository: Repository, settings: Mapping[str, str]) -> None:
        self._binary = binary
        self.repository = repository
        self._environment = _environment(repository, settings)
        self.filters = tuple(
            sorted({name.rsplit(".", 1)[0].partition(".")[2] for name in settings if _is_filter(name)})
        )
        """Names of the content filters that are configured, and not run here."""

    @classmethod
    async def on(cls, repository: Repository) -> "Git":
        """Raises `ToolFailure` if there is no git, or its configuration cannot be read."""
        binary = git_path()
        if binary is None:
            raise ToolFailure("git is not installed.")
        plain = cls(binary, repository, _FIXED)
        code, found, problem = await plain.run("config", "--null", "--name-only", "--get-regexp", _FILTERS)
        if code not in (0, 1):
            raise ToolFailure(f"The configuration of the git repository cannot be read: {problem}")
        off = {name: "false" if name.endswith(".required") else "" for name in found.split("\0") if name}
        return cls(binary, repository, {**_FIXED, **off})

    async def run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, output and complaint of a command that says little. Raises `ToolFailure` if it takes too long."""
        async with self._process(arguments) as running:
            output = b""
            while piece := await running.output.read(_CHUNK):
                output += piece
                if len(output) > _SMALL:
                    raise ToolFailure("git had more to say than can be taken in.")
            return await running.process.wait(), os.fsdecode(output), await running.complaint

    async def checked(self, *arguments: str) -> str:
        """The output of a command that has to succeed; else its complaint is the `ToolFailure`."""
        code, output, problem = await self.run(*arguments)
        if code != 0:
            raise ToolFailure(f"git says: {problem or f'exit code {code}'}")
        return output

    async def show(self, *arguments: str, first: int = 1) -> GitOutput:
        """Output for a model, from line `first` on. Raises `ToolFailure` with git's complaint."""
        async with self._process(arguments) as running:
            page = _Page(first)
            while not page.full and (piece := await running.output.read(_CHUNK)):
                page.feed(piece)
            if not page.full and (code := await running.process.wait()) != 0:
                raise ToolFailure(f"git says: {await running.complaint or f'exit code {code}'}")
            return page.finished()

    async def resolve(self, revision: str, kind: str = "commit") -> str:
        """The id of the object that a revision names. Only ids are handed to other commands, so that nothing that a
        model wrote is ever taken for an option. `kind` empty: of whatever kind it is."""
        if not _REVISION.fullmatch(revision):
            raise ToolFailure(f"{revision!r} is no revision.")
        peeled = f"{revision}^{{{kind}}}" if kind else revision
        code, found, _ = await self.run("rev-parse", "--verify", "--quiet", "--end-of-options", peeled)
        lines = [line for line in found.splitlines() if line != "--end-of-options"]
        if code != 0 or len(lines) != 1:
            raise ToolFailure(f"There is no {kind or 'object'} {revision!r} in this repository.")
        return lines[0]

    async def resolve_range(self, revision: str) -> tuple[str, ...]:
        """The same for `a`, `a..b` and `a...b`, as git takes them; an end that is left out is HEAD."""
        match = _RANGE.fullmatch(revision)
        if match is None:
            return (await self.resolve(revision),)
        left, right = [await self.resolve(end or "HEAD") for end in (match[1], match[3])]
        return (f"{left}{match[2]}{right}",)

    @asynccontextmanager
    async def _process(self, arguments: tuple[str, ...]) -> AsyncIterator["_Running"]:
        """A running git; leaving the block, early or not, ends it."""
        process = await asyncio.create_subprocess_exec(
            self._binary,
            "--no-pager",
            *arguments,
            cwd=self.repository.top,
            env=self._environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        complaint = asyncio.create_task(_beginning(process.stderr))
        try:
            async with asyncio.timeout(TIMEOUT_S):
                yield _Running(process, process.stdout, complaint)
        except TimeoutError as error:
            raise ToolFailure("git took too long: ask for less.") from error
        finally:
            if process.returncode is None:
                _kill(process.pid)
                while await process.stdout.read(_CHUNK):
                    continue  # what is left in the pipe would keep its transport open
                await process.wait()
            await complaint


@dataclass(frozen=True, slots=True)
class _Running:
    """A process with its output, and what it complains of once it has ended."""

    process: asyncio.subprocess.Process
    output: asyncio.StreamReader
    complaint: asyncio.Task[str]


class _Page:
    """Takes output as it comes and keeps the lines that are wanted."""

    def __init__(self, first: int) -> None:
        self._skip = first - 1
        self._first = first
        self._kept = b""
        self.full = False

    def feed(self, piece: bytes) -> None:
        while self._skip and piece:
            _, end, piece = piece.partition(b"\n")
            self._skip -= len(end)
        self._kept += piece
        self.full = len(self._kept) > BUDGET

    def finished(self) -> GitOutput:
        kept = self._kept
        if self.full:
            end = kept.rfind(b"\n", 0, BUDGET)
            kept = kept[:end] if end > 0 else kept[:BUDGET]
        text = kept.decode("utf-8", "replace").rstrip("\n")
        lines = text.count("\n") + 1 if text else 0
        return GitOutput(text, self._first, self._first + lines - 1, self.full)


def _kill(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return  # it has just ended by itself


async def _beginning(stream: asyncio.StreamReader) -> str:
    """The first of what is written there, read to the end so that the writer never waits."""
    data = b""
    while piece := await stream.read(_CHUNK):
        data = (data + piece)[:_COMPLAINT]
    return data.decode("utf-8", "replace").strip().removeprefix("fatal: ")


def _environment(repository: Repository, settings: Mapping[str, str]) -> dict[str, str]:
    own = {name: value for name, value in command_environment(os.environ).items() if not name.startswith("GIT_")}
    pairs = {
        key: value
        for number, (name, setting) in enumerate(settings.items())
        for key, value in ((f"GIT_CONFIG_KEY_{number}", name), (f"GIT_CONFIG_VALUE_{number}", setting))
    }
    return {
        **own,
        **_ENVIRONMENT,
        "GIT_DIR": str(repository.git_dir),
        "GIT_WORK_TREE": str(repository.top),
        "GIT_CONFIG_COUNT": str(len(settings)),
        **pairs,
    }


def _is_filter(name: str) -> bool:
    return name.lower().startswith("filter.")

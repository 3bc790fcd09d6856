"""Running ripgrep: found in the environment, bounded, ended with the call, `.gitignore` respected."""

import asyncio
import os
import shutil
import sysconfig
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.paths import Place, Roots, printable

TIMEOUT_S: Final = 30.0
_LINE_LIMIT: Final = 1_000_000
_ERROR_BYTES: Final = 4_096
_BASE: Final = ("--no-config", "--no-messages", "--color=never", "--hidden", "--no-ignore-global", "--sort=path")
_KEPT_ENV: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")


def find_ripgrep() -> Path | None:
    """The `rg` that came with this environment, else one on the PATH, else None."""
    beside = Path(sysconfig.get_path("scripts")) / "rg"
    if os.access(beside, os.X_OK):
        return beside
    found = shutil.which("rg")
    return Path(found) if found is not None else None


@dataclass(frozen=True, slots=True)
class Target:
    """What is searched: a directory, or one file in it; `flags` say which ignore files count there."""

    directory: Path
    file: str | None
    flags: tuple[str, ...]


def target_of(roots: Roots, place: Place) -> Target:
    """The target at `place`. Raises `ToolFailure` if there is nothing.

    Inside a git checkout its ignore files count up to its root. Elsewhere those from the root of the place downwards
    do; one above it, say in the home directory, does not.
    """
    if place.path.is_file():
        directory, file = place.path.parent, place.path.name
    elif place.path.is_dir():
        directory, file = place.path, None
    else:
        raise ToolFailure(f"{place.shown} does not exist.")
    if any((above / ".git").exists() for above in (directory, *directory.parents)):
        return Target(directory, file, ())
    flags = ["--no-require-git", "--no-ignore-parent"]
    ignore = place.root / ".gitignore"
    if directory != place.root and ignore.is_file():
        flags.append(f"--ignore-file={ignore}")
    return Target(directory, file, tuple(flags))


@dataclass(slots=True)
class Search:
    """A running search. Iterating `lines` gives its output line by line, with their ends.

    `problem` is what ripgrep complained of, once it has ended.
    """

    lines: asyncio.StreamReader
    problem: str = ""


@asynccontextmanager
async def ripgrep(binary: Path, target: Target, arguments: tuple[str, ...]) -> AsyncIterator[Search]:
    """Run `rg` over the target; leaving the block, early or not, ends the process.

    Raises `ToolFailure` for what it refuses (a pattern it cannot read) and when it takes too long.
    """
    process = await asyncio.create_subprocess_exec(
        binary,
        *_BASE,
        *target.flags,
        *arguments,
        "--",
        target.file if target.file is not None else ".",
        cwd=target.directory,
        env={name: os.environ[name] for name in _KEPT_ENV if name in os.environ},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        limit=_LINE_LIMIT,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    complaint = asyncio.create_task(_beginning(process.stderr))
    try:
        async with asyncio.timeout(TIMEOUT_S):
            search = Search(process.stdout)
            yield search
            if process.stdout.at_eof() and await process.wait() == 2:
                search.problem = await complaint
    except TimeoutError as error:
        raise ToolFailure("The search took too long: narrow the path or the pattern.") from error
    finally:
        complaint.cancel()
        if process.returncode is None:
            process.kill()
            while await process.stdout.read(_LINE_LIMIT):
                continue  # what is left in the pipe would keep its transport open
            await process.wait()


async def _beginning(stream: asyncio.StreamReader) -> str:
    """The first of what is written there, read to the end so that the writer never waits."""
    data = b""
    while piece := await stream.read(_ERROR_BYTES):
        data = (data + piece)[:_ERROR_BYTES]
    return data.decode("utf-8", "replace").strip()


def named(target: Target, roots: Roots, name: bytes) -> str:
    """A file that ripgrep named, as it is shown."""
    relative = os.fsdecode(name).removeprefix("./")
    return roots.shown(target.directory / relative)


async def not_ignored(binary: Path, target: Target, names: set[bytes]) -> set[bytes]:
    """Those of `names` that the ignore files leave in. (A glob given to ripgrep overrides them.)"""
    kept: set[bytes] = set()
    if target.file is not None or not names:
        return names
    async with ripgrep(binary, target, ("--files", "--glob=!.git")) as search:
        async for line in search.lines:
            name = line.rstrip(b"\n")
            if name in names:
                kept.add(name)
                if len(kept) == len(names):
                    break
    return kept


def checked_glob(pattern: str, place: Place) -> str:
    """A glob relative to `place`. Raises `ToolFailure` for one that excludes or that leaves the place."""
    relative = pattern.removeprefix(f"{place.path}/").removeprefix("./")
    if not relative or relative.startswith("!") or "\0" in relative:
        raise ToolFailure(f"{printable(pattern)!r} is not a pattern of files to find.")
    return relative

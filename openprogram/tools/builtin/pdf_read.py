"""`pdf_read`: the text of a PDF by pages."""

import asyncio
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter, ValidationError

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject, scrub
from openprogram.core.tooling import ToolContext, ToolLimits, ToolOutput
from openprogram.tools.builtin.files import explained, open_file
from openprogram.tools.builtin.paths import Place, Roots
from openprogram.tools.decorator import tool

TIMEOUT_S: Final = 60.0
BUDGET: Final = 28_000
MAX_FILE: Final = 200_000_000

_SCRIPT: Final = Path(__file__).with_name("pdf_text.py")
_HEAD: Final = 1_024
_KEPT_ENV: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR")


@dataclass(frozen=True, slots=True)
class _Report:
    """What `pdf_text` says of a file."""

    pages: int = 0
    texts: tuple[str, ...] = ()
    problem: Literal["encrypted", "damaged"] | None = None
    detail: str = ""


_REPORT: TypeAdapter[_Report] = TypeAdapter(_Report)


@tool(
    readonly=True,
    parallel_safe=True,
    presets=("coding", "research", "safe"),
    limits=ToolLimits(timeout_s=TIMEOUT_S + 5),
)
async def pdf_read(context: ToolContext, path: str, first: int = 1, last: int | None = None) -> ToolOutput:
    """Show the text of a PDF document, page by page.

    Args:
        path: File, relative to the workspace
        first: First page, counted from one
        last: Last page
    """
    if first < 1 or (last is not None and last < first):
        raise ToolFailure("first starts at 1, and last is not before it.")
    place = Roots.of(context).locate(path)
    report = await _extract(place, first, last if last is not None else sys.maxsize)
    match report.problem:
        case "encrypted":
            raise ToolFailure(f"{place.shown} is encrypted: {report.detail or 'it needs a password'}.")
        case "damaged":
            raise ToolFailure(f"{place.shown} is damaged or no PDF: {report.detail}.")
        case None:
            return _show(place, report, first, last)


async def _extract(place: Place, first: int, last: int) -> _Report:
    """Ask a process of its own, which ends with this call."""
    with _opened(place) as descriptor:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-I",
            _SCRIPT,
            *map(str, (first, last, BUDGET)),
            env={name: os.environ[name] for name in _KEPT_ENV if name in os.environ},
            stdin=descriptor,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            output, _ = await process.communicate()
    except TimeoutError as error:
        raise ToolFailure(f"{place.shown} takes too long to take apart; ask for fewer pages.") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    try:
        return _REPORT.validate_json(output)
    except ValidationError as error:
        raise ToolFailure(f"{place.shown} is damaged, or larger inside than can be taken apart.") from error


@contextmanager
def _opened(place: Place) -> Iterator[int]:
    """The file, looked at once: whether it is a PDF, and not too large."""
    with explained(place), open_file(place) as stream:
        size = os.fstat(stream.fileno()).st_size
        if b"%PDF-" not in stream.read(_HEAD):
            raise ToolFailure(f"{place.shown} is no PDF.")
        if size > MAX_FILE:
            raise ToolFailure(f"{place.shown} is larger than {MAX_FILE:,} bytes.")
        os.lseek(stream.fileno(), 0, os.SEEK_SET)
        yield stream.fileno()


def _show(place: Place, report: _Report, first: int, last: int | None) -> ToolOutput:
    shown = len(report.texts)
    display: JsonObject = {"path": place.shown, "pages": report.pages, "first": first, "shown": shown}
    if not shown:
        raise ToolFailure(f"{place.shown} has {report.pages} pages; there is no page {first}.")
    texts = [scrub(text).strip() for text in report.texts]
    parts = [f"[page {first + index} of {report.pages}]\n{text}".rstrip() for index, text in enumerate(texts)]
    if not any(texts):
        parts.append("[no text on these pages: they may be pictures]")
    if any(len(text) >= BUDGET for text in report.texts):
        parts.append("[a page is longer than can be shown; it is cut]")
    end = first + shown - 1
    if end < min(last if last is not None else report.pages, report.pages):
        parts.append(f"[go on with first {end + 1}]")
    return ToolOutput.text("\n".join(parts), display=display)

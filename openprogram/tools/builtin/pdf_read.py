"""`pdf_read`: the text of a PDF by pages."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from pydantic import TypeAdapter, ValidationError

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject, scrub
from openprogram.core.tooling import ToolContext, ToolLimits, ToolOutput
from openprogram.tools.builtin.isolated import TIMEOUT_S, take_apart
from openprogram.tools.builtin.paths import Place, Roots
from openprogram.tools.decorator import tool

BUDGET: Final = 28_000

_SCRIPT: Final = Path(__file__).with_name("pdf_text.py")


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
            raise ToolFailure(f"{place.shown} is damaged, or no PDF.")
        case None:
            return _show(place, report, first, last)


async def _extract(place: Place, first: int, last: int) -> _Report:
    output = await take_apart(_SCRIPT, place, [str(first), str(last), str(BUDGET)], [b"%PDF-"], "PDF")
    try:
        return _REPORT.validate_json(output)
    except ValidationError as error:
        raise ToolFailure(f"{place.shown} is damaged, or larger inside than can be taken apart.") from error


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

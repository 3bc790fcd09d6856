"""`read`: a window of a text file with line numbers."""

import asyncio
from pathlib import Path
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolContext, ToolOutput, ToolSpec
from openprogram.tools.builtin.files import explained, open_file
from openprogram.tools.builtin.output import outputs_of
from openprogram.tools.builtin.paths import Place, Roots
from openprogram.tools.builtin.text import MAX_LINE, Page, read_page
from openprogram.tools.decorator import tool

_BUDGET: Final = 28_000


def read_tool(output_dir: Path) -> ToolSpec:
    """The tool; it also opens what the chat's own commands left in `output_dir`."""

    @tool(
        readonly=True,
        parallel_safe=True,
        residency="resident",
        presets=("coding", "research", "safe"),
    )
    async def read(context: ToolContext, path: str, offset: int = 1, limit: int = 2000) -> ToolOutput:
        """Show a text file with line numbers.

        Args:
            path: File, relative to the workspace
            offset: First line, counted from one
            limit: Most lines to show
        """
        if offset < 1 or limit < 1:
            raise ToolFailure("offset and limit start at 1.")
        place = Roots.of(context, outputs_of(output_dir, context.session_id)).locate(path)
        page = await asyncio.to_thread(_read, place, offset, limit)
        return _show(place, page)

    return read


def _read(place: Place, first: int, limit: int) -> Page:
    with explained(place), open_file(place) as stream:
        return read_page(stream, place.shown, first=first, limit=limit, budget=_BUDGET)


def _show(place: Place, page: Page) -> ToolOutput:
    display: JsonObject = {
        "path": place.shown,
        "lines": len(page.lines),
        "first": page.first,
        "total": page.total,
    }
    if page.total == 0:
        return ToolOutput.text(f"{place.shown} is empty.", display=display)
    if not page.lines:
        raise ToolFailure(f"{place.shown} has {page.total} lines; there is no line {page.first}.")
    body = "\n".join(f"{page.first + index}\t{line}" for index, line in enumerate(page.lines))
    notes = []
    if page.more:
        of = f" of {page.total}" if page.total is not None else ""
        notes.append(f"lines {page.first} to {page.last}{of}; go on with offset {page.last + 1}")
    if page.cut:
        notes.append(f"lines longer than {MAX_LINE} characters are cut")
    if page.doubtful:
        notes.append("some bytes are not valid text and stand as \ufffd")
    return ToolOutput.text(body + "".join(f"\n[{note}]" for note in notes), display=display)

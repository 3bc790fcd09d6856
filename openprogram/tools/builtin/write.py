"""`write`: create or replace a file."""

import asyncio

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject, scrub
from openprogram.core.tooling import CallPreview, ToolContext, ToolOutput
from openprogram.tools.builtin.diff import Diff, unified
from openprogram.tools.builtin.files import MAX_EDITED, explained, read_whole, replace_file
from openprogram.tools.builtin.paths import Place, Roots
from openprogram.tools.decorator import tool


async def preview_write(arguments: JsonObject, context: ToolContext) -> CallPreview:
    """What the call would change, as a unified diff. Raises `ToolFailure` where it could not work."""
    place = Roots.of(context).locate(str(arguments["path"]))
    _, _, diff = await asyncio.to_thread(_compare, place, str(arguments["content"]))
    return diff_preview(diff) if diff.text else CallPreview("diff", f"{place.shown} stays as it is.")


@tool(permission="write", writes=("path",), residency="resident", presets=("coding",), preview=preview_write)
async def write(context: ToolContext, path: str, content: str) -> ToolOutput:
    """Create a file or replace its whole content. Missing folders are made.

    Args:
        path: File, relative to the workspace
        content: All of the new text
    """
    place = Roots.of(context).locate(path)
    existed, diff = await asyncio.to_thread(_write, place, content)
    verb = "Replaced" if existed else "Created"
    return ToolOutput.text(
        f"{verb} {place.shown} (+{diff.added} -{diff.removed} lines).", display=diff_display(place, diff)
    )


def diff_text(diff: Diff) -> str:
    """The diff with a note where it was cut."""
    return f"{diff.text}[{diff.left_out:,} more lines are not shown]\n" if diff.left_out else diff.text


def diff_preview(diff: Diff) -> CallPreview:
    """The diff as a person is asked about it; `digest` is of the whole, however much of it is shown."""
    return CallPreview("diff", diff.text, diff.left_out, diff.digest)


def diff_display(place: Place, diff: Diff) -> JsonObject:
    """What the interface shows of a changed file."""
    return {"path": place.shown, "diff": diff_text(diff), "added": diff.added, "removed": diff.removed}


def _compare(place: Place, content: str) -> tuple[bytes, bool, Diff]:
    data = scrub(content).encode()
    if len(data) > MAX_EDITED:
        raise ToolFailure(f"The text is larger than {MAX_EDITED:,} bytes; nothing was written.")
    before = _present(place)
    return data, before is not None, unified(place.shown, before, data.decode())


def _present(place: Place) -> str | None:
    try:
        with explained(place):
            return read_whole(place).decode("utf-8", "replace")
    except ToolFailure as failure:
        if isinstance(failure.__cause__, FileNotFoundError):
            return None
        raise


def _write(place: Place, content: str) -> tuple[bool, Diff]:
    data, existed, diff = _compare(place, content)
    with explained(place):
        replace_file(place, data)
    return existed, diff

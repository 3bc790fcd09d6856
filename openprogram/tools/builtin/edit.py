"""`edit`: replace one exact stretch of a file."""

import asyncio

from pydantic import TypeAdapter

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject, scrub
from openprogram.core.tooling import CallPreview, ToolContext, ToolOutput
from openprogram.tools.builtin.diff import Diff, unified
from openprogram.tools.builtin.editing import replaced
from openprogram.tools.builtin.files import MAX_EDITED, explained, read_whole, replace_file
from openprogram.tools.builtin.paths import Place, Roots
from openprogram.tools.builtin.write import diff_display, diff_preview
from openprogram.tools.decorator import tool

_FLAG: TypeAdapter[bool] = TypeAdapter(bool)


async def preview_edit(arguments: JsonObject, context: ToolContext) -> CallPreview:
    """What the call would change, as a unified diff. Raises `ToolFailure` where it could not work."""
    place = Roots.of(context).locate(str(arguments["path"]))
    every = _FLAG.validate_python(arguments.get("replace_all") or False)
    old, new = str(arguments["old"]), str(arguments["new"])
    _, diff = await asyncio.to_thread(_change, place, old, new, every)
    return diff_preview(diff)


@tool(permission="write", writes=("path",), residency="resident", presets=("coding",), preview=preview_edit)
async def edit(context: ToolContext, path: str, old: str, new: str, replace_all: bool = False) -> ToolOutput:
    """Replace text in a file. The old text has to match exactly, white space included, and be unique.

    Args:
        path: File, relative to the workspace
        old: Text as it stands in the file, without line numbers
        new: Text to put in its place
        replace_all: Replace every occurrence
    """
    place = Roots.of(context).locate(path)
    diff = await asyncio.to_thread(_edit, place, old, new, replace_all)
    text = f"Changed {place.shown} (+{diff.added} -{diff.removed} lines)."
    return ToolOutput.text(text, display=diff_display(place, diff))


def _edit(place: Place, old: str, new: str, every: bool) -> Diff:
    data, diff = _change(place, old, new, every)
    with explained(place):
        replace_file(place, data)
    return diff


def _change(place: Place, old: str, new: str, every: bool) -> tuple[bytes, Diff]:
    with explained(place):
        before = read_whole(place)
    try:
        text = before.decode()
    except UnicodeDecodeError as error:
        raise ToolFailure(f"{place.shown} is not UTF-8 text; it cannot be edited.") from error
    after = replaced(text, scrub(old), scrub(new), every=every)
    data = after.encode()
    if len(data) > MAX_EDITED:
        raise ToolFailure(f"{place.shown} would become larger than {MAX_EDITED:,} bytes; nothing was changed.")
    return data, unified(place.shown, text, after)

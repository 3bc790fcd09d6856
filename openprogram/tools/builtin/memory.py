"""`memory_search` and `memory_write`: what is worth knowing in later chats, as notes in the project."""

import asyncio
from typing import Final, Literal

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject, scrub
from openprogram.core.tooling import CallPreview, ToolContext, ToolOutput
from openprogram.tools.bounds import shorten
from openprogram.tools.builtin.changes import Change, apply_changes, content_of
from openprogram.tools.builtin.diff import Diff, unified
from openprogram.tools.builtin.notes import MAX_NOTE, Passage, best, note_names, note_path, note_place, passages
from openprogram.tools.builtin.paths import Place, Roots, printable
from openprogram.tools.builtin.write import diff_display, diff_preview
from openprogram.tools.decorator import tool

GROUP: Final = "memory"
Mode = Literal["append", "replace"]

_MOST: Final = 20
_PASSAGE: Final = 1_500
_NAMED: Final = 100


@tool(readonly=True, parallel_safe=True, group=GROUP, presets=("coding", "research", "safe"))
async def memory_search(context: ToolContext, query: str = "", limit: int = 5) -> ToolOutput:
    """Search the memory of this project: notes that earlier chats kept about decisions, facts and preferences.

    Args:
        query: Words to look for; empty names all notes
        limit: Most passages to show
    """
    if not 1 <= limit <= _MOST:
        raise ToolFailure(f"limit is 1 to {_MOST}.")
    roots = Roots.of(context)
    names = await asyncio.to_thread(note_names, roots)
    if not names:
        return ToolOutput.text("There are no notes yet.", display={"notes": 0})
    if not query.strip():
        return ToolOutput.text("Notes: " + _named(names), display={"notes": len(names)})
    found = await asyncio.to_thread(_search, roots, query, limit)
    display: JsonObject = {"query": query, "notes": len(names), "found": len(found)}
    if not found:
        return ToolOutput.text(f"No note says anything about that. Notes: {_named(names)}", display=display)
    return ToolOutput.text("\n\n".join(map(_shown, found)), display=display)


def written_by_memory(arguments: JsonObject) -> tuple[str, ...]:
    """The file that a call of `memory_write` writes. Raises `ValueError` for a name that cannot be."""
    try:
        return (note_path(str(arguments["note"])),)
    except ToolFailure as failure:
        raise ValueError(failure.message) from failure


async def preview_memory(arguments: JsonObject, context: ToolContext) -> CallPreview:
    """What the call would change, as a unified diff."""
    mode: Mode = "replace" if arguments.get("mode") == "replace" else "append"
    note, text = str(arguments["note"]), str(arguments["text"])
    _, diff = await asyncio.to_thread(_change, Roots.of(context), note, text, mode)
    return diff_preview(diff) if diff.text else CallPreview("diff", f"The note {note} stays as it is.")


@tool(permission="write", writes=written_by_memory, group=GROUP, presets=("coding", "research"), preview=preview_memory)
async def memory_write(context: ToolContext, note: str, text: str, mode: Mode = "append") -> ToolOutput:
    """Remember something about this project for later chats: adds to a note or replaces it. Keep it short and true.

    Args:
        note: Name of the note, such as its topic
        text: Markdown
        mode: Add at the end, or replace the whole note
    """
    place, diff = await asyncio.to_thread(_write, Roots.of(context), note, text, mode)
    return ToolOutput.text(
        f"Noted in {place.shown} (+{diff.added} -{diff.removed} lines).", display=diff_display(place, diff)
    )


def _search(roots: Roots, query: str, limit: int) -> list[Passage]:
    return best(passages(roots), query, limit)


def _shown(passage: Passage) -> str:
    heading = f" - {passage.heading}" if passage.heading else ""
    text = passage.text if len(passage.text) <= _PASSAGE else shorten(passage.text, _PASSAGE)
    return f"{passage.place}{heading}\n{text}"


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(printable, names[:_NAMED])) + more


def _write(roots: Roots, note: str, text: str, mode: Mode) -> tuple[Place, Diff]:
    change, diff = _change(roots, note, text, mode)
    apply_changes([change])
    return change.place, diff


def _change(roots: Roots, note: str, text: str, mode: Mode) -> tuple[Change, Diff]:
    """Raises `ToolFailure` for a text that is empty, or that would make the note too large."""
    text = scrub(text).strip("\n")
    if not text.strip():
        raise ToolFailure("The text is empty; nothing was noted.")
    place = note_place(roots, note)
    before = content_of(place)
    old = (before or b"").decode("utf-8", "replace")
    kept = f"{old.rstrip(chr(10))}\n\n" if mode == "append" and old.strip() else ""
    after = f"{kept}{text}\n"
    data = after.encode()
    if len(data) > MAX_NOTE:
        raise ToolFailure(
            f"The note would become larger than {MAX_NOTE:,} bytes: replace it by something shorter, or begin another."
        )
    return Change(place, before, data), unified(place.shown, None if before is None else old, after)

"""`apply_patch`: change, add, move and delete several files at once."""

import asyncio
from pathlib import Path
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject, digest, digest_bytes, scrub
from openprogram.core.tooling import CallPreview, ToolContext, ToolOutput, ToolSpec
from openprogram.tools.builtin.changes import apply_changes
from openprogram.tools.builtin.diff import Diff, joined, unified
from openprogram.tools.builtin.files import MAX_EDITED
from openprogram.tools.builtin.patch import FilePatch, UpdateFile, is_marked, parse_marked
from openprogram.tools.builtin.patch_plan import FileState, changes_of, plan
from openprogram.tools.builtin.patch_unified import parse_unified
from openprogram.tools.builtin.paths import Roots
from openprogram.tools.builtin.write import diff_preview, diff_text
from openprogram.tools.decorator import tool

MAX_FILES: Final = 200


async def preview_apply_patch(arguments: JsonObject, context: ToolContext) -> CallPreview:
    """What the call would change, as one unified diff. Raises `ToolFailure` where it could not work."""
    states = await asyncio.to_thread(plan, Roots.of(context), parse_patch(str(arguments["patch"])))
    diff = joined([diff for _, diff in _diffs(states)])
    return diff_preview(diff) if diff.text else CallPreview("diff", "Every file stays as it is.")


def paths_of_patch(arguments: JsonObject) -> tuple[str, ...]:
    """Every path that the call would write. Raises `ValueError` for a patch that cannot be understood."""
    try:
        sections = parse_patch(str(arguments["patch"]))
    except ToolFailure as failure:
        raise ValueError(failure.message) from failure
    moved = (section.move_to for section in sections if isinstance(section, UpdateFile) and section.move_to)
    return tuple(dict.fromkeys([*(section.path for section in sections), *moved]))


def apply_patch_tool(journals: Path | None) -> ToolSpec:
    """The tool; `journals` is where its changes are noted down while they are made, None: nowhere."""

    @tool(
        permission="write",
        writes=paths_of_patch,
        presets=("coding",),
        preview=preview_apply_patch,
    )
    async def apply_patch(context: ToolContext, patch: str) -> ToolOutput:
        """Change, add, move or delete multiple files at once by one patch (diff): all of it is done, or nothing.

        Begin with `*** Begin Patch`, end with `*** End Patch`; between them, for each file: `*** Update File: name`,
        then perhaps `*** Move to: name`, then hunks, each of an `@@` line (may quote a line that stands before, such as
        a function's head) and lines that begin with a space (context), `-` or `+`; or `*** Add File: name` and `+`
        lines; or `*** Delete File: name`. A unified diff works too.

        Args:
            patch: The whole patch
        """
        roots = Roots.of(context)
        states = await asyncio.to_thread(_apply, roots, parse_patch(patch), journals)
        diffs = _diffs(states)
        lines = [_told(state, diff) for state, diff in diffs]
        whole = joined([diff for _, diff in diffs])
        display: JsonObject = {
            "path": states[0].place.shown if len(states) == 1 else f"{len(diffs)} files",
            "diff": diff_text(whole),
            "added": whole.added,
            "removed": whole.removed,
        }
        return ToolOutput.text("\n".join(lines) or "The files are like that already; nothing changed.", display=display)

    return apply_patch


def parse_patch(text: str) -> tuple[FilePatch, ...]:
    """The sections of a patch in either form. Raises `ToolFailure`."""
    if len(text) > MAX_EDITED:
        raise ToolFailure(f"The patch is longer than {MAX_EDITED:,} characters. Nothing was changed.")
    lines = scrub(text).split("\n")
    if all(line.endswith("\r") for line in lines[:-1]):
        lines = [line.removesuffix("\r") for line in lines]
    sections = parse_marked(lines) if is_marked(lines) else parse_unified(lines)
    if not sections:
        raise ToolFailure("The patch names no file. Nothing was changed.")
    if len(sections) > MAX_FILES:
        raise ToolFailure(f"The patch changes more than {MAX_FILES} files; send it in parts. Nothing was changed.")
    return sections


def _apply(roots: Roots, sections: tuple[FilePatch, ...], journals: Path | None) -> tuple[FileState, ...]:
    states = plan(roots, sections)
    apply_changes(changes_of(states), journals)
    return states


def _diffs(states: tuple[FileState, ...]) -> list[tuple[FileState, Diff]]:
    """The difference that each file shows; a file that was moved away shows with the one that it became."""
    moved = {state.came_from.path for state in states if state.came_from is not None}
    origins = {state.place.path: state.before for state in states}
    diffs: list[tuple[FileState, Diff]] = []
    for state in states:
        former = state.came_from
        if former is None and (state.before == state.after or (state.after is None and state.place.path in moved)):
            continue
        before = origins[former.path] if former is not None else state.before
        diffs.append((state, _diff(state.place.shown, before, state.after, former.shown if former else None)))
    return diffs


def _diff(shown: str, before: bytes | None, after: bytes | None, former: str | None) -> Diff:
    old = before.decode("utf-8", "replace") if before is not None else None
    new = after.decode("utf-8", "replace") if after is not None else None
    if before is not None and b"\0" in before:
        what = f"deleted binary file {shown}" if after is None else f"binary file {former or shown} becomes {shown}"
        return Diff(f"{what}\n", 0, 0, digest=digest([what, digest_bytes(before), digest_bytes(after or b"")]))
    return unified(shown, old, new, former=former)


def _told(state: FileState, diff: Diff) -> str:
    counts = f"(+{diff.added} -{diff.removed} lines)"
    if state.after is None:
        return f"Deleted {state.place.shown} {counts}."
    if state.came_from is not None:
        return f"Moved {state.came_from.shown} to {state.place.shown} {counts}."
    return f"{'Added' if state.before is None else 'Changed'} {state.place.shown} {counts}."

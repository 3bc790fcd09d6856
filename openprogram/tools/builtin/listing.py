"""`list`: what is in a folder."""

import asyncio
import os
import stat
from itertools import islice
from typing import Final

from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.tools.builtin.files import explained, open_directory
from openprogram.tools.builtin.paths import Place, Roots, printable
from openprogram.tools.decorator import tool

_SHOWN: Final = 500
_READ: Final = 20_000


@tool(
    name="list",
    readonly=True,
    parallel_safe=True,
    residency="resident",
    presets=("coding", "research", "safe"),
)
async def list_folder(context: ToolContext, path: str = ".") -> ToolOutput:
    """Show what a folder holds: folders first, then files with their sizes in bytes.

    Args:
        path: Folder, relative to the workspace
    """
    place = Roots.of(context).locate(path)
    folders, files = await asyncio.to_thread(_entries, place)
    entries = folders + files
    display: JsonObject = {"path": place.shown, "entries": len(entries)}
    if not entries:
        return ToolOutput.text(f"{place.shown} is empty.", display=display)
    text = "\n".join(entries[:_SHOWN])
    if len(entries) > _SHOWN:
        text += f"\n[{_SHOWN} of {len(entries)}{' or more' if len(entries) == _READ else ''} entries]"
    return ToolOutput.text(text, display=display)


def _entries(place: Place) -> tuple[list[str], list[str]]:
    folders: list[str] = []
    files: list[str] = []
    with explained(place), open_directory(place) as descriptor, os.scandir(descriptor) as scan:
        for entry in sorted(islice(scan, _READ), key=lambda entry: entry.name):
            name = printable(entry.name)
            if entry.is_dir(follow_symlinks=False):
                folders.append(f"{name}/")
            elif entry.is_symlink():
                files.append(f"{name} -> {printable(os.readlink(entry.name, dir_fd=descriptor))}")
            else:
                files.append(f"{name} {_size(entry)}")
    return folders, files


def _size(entry: os.DirEntry[str]) -> str:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return "(gone)"
    return str(status.st_size) if stat.S_ISREG(status.st_mode) else "(not a regular file)"

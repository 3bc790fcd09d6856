"""`glob`: files by name."""

from pathlib import Path
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolContext, ToolOutput, ToolSpec
from openprogram.tools.builtin.paths import Roots
from openprogram.tools.builtin.ripgrep import (
    Target,
    checked_glob,
    named,
    not_ignored,
    ripgrep,
    target_of,
)
from openprogram.tools.decorator import tool

_SHOWN: Final = 300
_IN_DISPLAY: Final = 100


def glob_tool(binary: Path) -> ToolSpec:
    """The tool, with the ripgrep at `binary`."""

    @tool(readonly=True, parallel_safe=True, residency="resident", presets=("coding", "research", "safe"))
    async def glob(context: ToolContext, pattern: str, path: str = ".") -> ToolOutput:
        """Find files by name pattern such as *.py or *.{js,ts}, sorted by path. Ignored files are left out.

        Args:
            pattern: Name pattern
            path: Folder to look in
        """
        roots = Roots.of(context)
        place = roots.locate(path)
        target = target_of(roots, place)
        names, more = await _find(binary, target, checked_glob(pattern, place))
        files = [named(target, roots, name) for name in names]
        display: JsonObject = {"matches": len(files), "files": [*files[:_IN_DISPLAY]], "more": more}
        if not files:
            return ToolOutput.text("No files match.", display=display)
        note = f"\n[the first {len(files)}; there are more: narrow the pattern]" if more else ""
        return ToolOutput.text("\n".join(files) + note, display=display)

    return glob


async def _find(binary: Path, target: Target, pattern: str) -> tuple[list[bytes], bool]:
    """Names in order, and whether there are more."""
    found: list[bytes] = []
    async with ripgrep(binary, target, ("--files", f"--glob={pattern}", "--glob=!.git")) as search:
        async for line in search.lines:
            found.append(line.rstrip(b"\n"))
            if len(found) == 4 * _SHOWN:
                break
    if search.problem:
        raise ToolFailure(f"The pattern cannot be used: {search.problem}")
    left = await not_ignored(binary, target, set(found))
    kept = [name for name in found if name in left]
    return kept[:_SHOWN], len(kept) > _SHOWN or len(found) == 4 * _SHOWN

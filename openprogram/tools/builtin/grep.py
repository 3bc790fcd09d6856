"""`grep`: lines by regular expression."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolContext, ToolOutput, ToolSpec
from openprogram.tools.builtin.paths import Roots
from openprogram.tools.builtin.ripgrep import Target, checked_glob, named, not_ignored, ripgrep, target_of
from openprogram.tools.decorator import tool

_MATCHES: Final = 200
_BUDGET: Final = 28_000
_MAX_AROUND: Final = 20
_IN_DISPLAY: Final = 100
_FLAGS: Final = (
    "--null",
    "--with-filename",
    "--line-number",
    "--no-heading",
    "--max-columns=400",
    "--max-columns-preview",
)


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a result; `name` is empty for the break between two stretches."""

    name: bytes
    text: str
    matches: bool


def grep_tool(binary: Path) -> ToolSpec:
    """The tool, with the ripgrep at `binary`."""

    @tool(readonly=True, parallel_safe=True, residency="resident", presets=("coding", "research", "safe"))
    async def grep(
        context: ToolContext,
        pattern: str,
        path: str = ".",
        include: str = "",
        ignore_case: bool = False,
        around: int = 0,
    ) -> ToolOutput:
        """Search file contents with a regular expression (Rust syntax), sorted by path. Ignored files are left out.

        Args:
            pattern: Regular expression
            path: Folder or file to search
            include: Only files whose name matches this pattern, such as *.py
            ignore_case: Upper and lower case are the same
            around: Lines to show before and after each match
        """
        if not pattern or "\0" in pattern:
            raise ToolFailure("The pattern is empty or has a NUL character in it.")
        roots = Roots.of(context)
        place = roots.locate(path)
        target = target_of(roots, place)
        arguments = [*_FLAGS, "--glob=!.git", f"--context={max(0, min(around, _MAX_AROUND))}", f"--regexp={pattern}"]
        if include:
            arguments.insert(0, f"--glob={checked_glob(include, place)}")
        if ignore_case:
            arguments.append("--ignore-case")
        lines, more = await _search(binary, target, tuple(arguments))
        if include:
            left = await not_ignored(binary, target, {line.name for line in lines if line.name})
            lines = [line for line in lines if not line.name or line.name in left]
        return _show(lines, more, target, roots)

    return grep


async def _search(binary: Path, target: Target, arguments: tuple[str, ...]) -> tuple[list[_Line], bool]:
    lines: list[_Line] = []
    matches = used = 0
    async with ripgrep(binary, target, arguments) as search:
        async for raw in search.lines:
            line = _parse(raw.rstrip(b"\n"))
            if line is None:
                continue
            matches += line.matches
            used += len(line.text) + 4
            if matches > _MATCHES or used > _BUDGET:
                return lines, True
            lines.append(line)
    if search.problem and not lines:
        raise ToolFailure(f"The search cannot be run: {search.problem}")
    return lines, False


def _parse(raw: bytes) -> _Line | None:
    """A line of ripgrep's output: `NAME NUL NUMBER : or - TEXT`, or `--`; None for a remark about a binary file."""
    name, found, rest = raw.partition(b"\0")
    if not found:
        return _Line(b"", "--", matches=False) if raw == b"--" else None
    digits = len(rest) - len(rest.lstrip(b"0123456789"))
    if digits == 0:
        return None
    text = rest.decode("utf-8", "replace").removesuffix("\r")
    return _Line(name, text, matches=rest[digits : digits + 1] == b":")


def _show(lines: Sequence[_Line], more: bool, target: Target, roots: Roots) -> ToolOutput:
    names = list(dict.fromkeys(line.name for line in lines if line.name))
    files = {name: named(target, roots, name) for name in names}
    matches = sum(line.matches for line in lines)
    display: JsonObject = {"matches": matches, "files": [*list(files.values())[:_IN_DISPLAY]], "more": more}
    if not matches:
        return ToolOutput.text("No matches.", display=display)
    out: list[str] = []
    current = b""
    for line in lines:
        if line.name and line.name != current:
            current = line.name
            out.append(files[current])
        elif not line.name:
            if out:
                out.append("--")
            continue
        out.append(line.text)
    if more:
        out.append(f"[the first {matches} matches; there are more: narrow the search]")
    return ToolOutput.text("\n".join(out), display=display)

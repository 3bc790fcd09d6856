"""A generated patch gives the target, or fails and touches no file: never anything between."""

import difflib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.apply_patch import apply_patch_tool, parse_patch
from openprogram.tools.builtin.diff import unified
from openprogram.tools.builtin.patch import UpdateFile
from openprogram.tools.builtin.patching import patched
from tests.support.tools import context

apply_patch = apply_patch_tool(None)

LINES = (
    "a",
    "b",
    "c",
    "",
    " ",
    " a",
    "a ",
    "-x",
    "+x",
    "-- a",
    "++ b",
    "@@ -1 +1 @@",
    "*** End Patch",
    "é\u2019",
    "d\re",
)
lines = st.lists(st.sampled_from(LINES), max_size=25)
ends = st.sampled_from(("\n", "\r\n"))


def text_of(found: Iterable[str], end: str, ended: bool = True) -> str:
    """A last line that is empty is one by its end only."""
    found = list(found)
    return end.join(found) + (end if found and (ended or not found[-1]) else "")


def marked(before: list[str], after: list[str], around: int) -> Iterator[str]:
    """The hunks of the first form, with so many lines of context."""
    for group in difflib.SequenceMatcher(None, before, after, autojunk=False).get_grouped_opcodes(around):
        yield "@@"
        for tag, i, j, k, m in group:
            if tag == "equal":
                yield from (f" {line}" for line in before[i:j])
                continue
            yield from (f"-{line}" for line in before[i:j])
            yield from (f"+{line}" for line in after[k:m])


def updated(text: str, patch: str) -> str:
    (section,) = parse_patch(patch)
    assert isinstance(section, UpdateFile)
    return patched("f", text, section.hunks)


@given(lines, lines, ends, st.booleans(), st.integers(0, 3))
def test_a_patch_of_the_first_form_gives_the_target_or_fails(before, after, end, ended, around):
    hunks = list(marked(before, after, around))
    if not hunks:
        return
    patch = "\n".join(["*** Begin Patch", "*** Update File: f", *hunks, "*** End Patch"])
    text = text_of(before, end, ended)
    try:
        result = updated(text, patch)
    except ToolFailure as failure:
        refusal = failure.message
    else:
        style = "\r\n" if "\r\n" in text else "\n"  # a file without a line end has none
        assert result == text_of(after, style, text.endswith("\n") or not text)
        return
    assert "fits" in refusal or "only adds" in refusal


@given(lines, lines)
def test_with_all_of_the_file_as_context_the_first_form_never_fails(before, after):
    hunks = list(marked(before, after, len(before)))
    if not hunks or not before:
        return
    patch = "\n".join(["*** Begin Patch", "*** Update File: f", *hunks, "*** End of File", "*** End Patch"])
    assert updated(text_of(before, "\n"), patch) == text_of(after, "\n")


@given(lines, lines, st.booleans(), st.booleans())
def test_a_unified_diff_always_gives_the_target(before, after, ended, ended_after):
    old, new = text_of(before, "\n", ended), text_of(after, "\n", ended_after)
    diff = unified("f", old, new).text
    if diff:
        assert updated(old, diff) == new


paths = st.sampled_from(("a", "b", "d/c", "d/e/f", "a/x", "../out", "link"))
contents = st.lists(st.sampled_from(("one", "two", "")), min_size=1, max_size=3)


@st.composite
def sections(draw: st.DrawFn) -> list[str]:
    path, texts = draw(paths), draw(contents)
    match draw(st.sampled_from(("add", "delete", "move", "update"))):
        case "add":
            return [f"*** Add File: {path}", *(f"+{text}" for text in texts)]
        case "delete":
            return [f"*** Delete File: {path}"]
        case "move":
            return [f"*** Update File: {path}", f"*** Move to: {draw(paths)}"]
        case _:
            old = [f"-{text}" for text in texts]
            return [f"*** Update File: {path}", *old, "+new"]


def everything(root: Path) -> dict[str, bytes | str | None]:
    found: dict[str, bytes | str | None] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        found[name] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


@given(st.lists(sections(), min_size=1, max_size=5), st.dictionaries(st.sampled_from(("a", "b", "d/c")), contents))
async def test_a_patch_that_fails_touches_nothing_and_none_leaves_anything_beside_its_files(patch, there):
    with TemporaryDirectory() as directory:
        root = Path(directory, "workspace")
        (root / "d").mkdir(parents=True)
        (root / "link").symlink_to("b")
        for name, content in there.items():
            (root / name).write_text(text_of(content, "\n"))
        before = everything(Path(directory))
        text = "\n".join(["*** Begin Patch", *(line for section in patch for line in section), "*** End Patch"])
        try:
            await apply_patch.execute({"patch": text}, context(root))
        except ToolFailure:
            assert everything(Path(directory)) == before
            return
        names = {name.removeprefix("workspace/") for name in everything(Path(directory))}
        assert names <= {"workspace", "a", "b", "d", "d/c", "d/e", "d/e/f", "a/x", "link"}

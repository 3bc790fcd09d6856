"""An edit changes what was named and nothing else; its difference says exactly that."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from openprogram.core.errors import ToolFailure
from openprogram.tools.builtin.diff import unified
from openprogram.tools.builtin.editing import replaced

texts = st.text(st.sampled_from("ab \t\n\r\n-+@\\é中"), max_size=60)
lines = st.lists(st.sampled_from(["a", "b", "", " a", "-x", "+x", "@@ -1 +1 @@", "\\ No newline", "a\r"]), max_size=30)
files = st.builds(lambda found, end: "\n".join(found) + end, lines, st.sampled_from(["", "\n"]))


def occurrences(text: str, part: str) -> int:
    """How often it is there, also where it overlaps itself."""
    return sum(text.startswith(part, at) for at in range(len(text)))


@given(texts, texts, texts, texts)
def test_a_unique_text_is_replaced_and_all_around_it_stays(before, old, after, new):
    text = before + old + after
    assume(old and old != new and occurrences(text, old) == 1)
    assert replaced(text, old, new, every=False) == before + new + after


@given(texts, texts, texts, texts)
def test_an_edit_and_its_inverse_give_the_text_back(before, old, after, new):
    text, edited = before + old + after, before + new + after
    assume(old and new and old != new and occurrences(text, old) == occurrences(edited, new) == 1)
    assert replaced(replaced(text, old, new, every=False), new, old, every=False) == text


@given(st.lists(texts, min_size=2, max_size=2) | st.lists(texts, min_size=3, max_size=5), texts)
def test_what_is_not_unique_is_not_replaced(pieces, old):
    text = old.join(pieces[1:]) if len(pieces) == 2 else old.join(pieces)
    assume(old and occurrences(text, old) != 1 and "\r\n" not in text)
    with pytest.raises(ToolFailure):
        replaced(text, old, "Z", every=False)


@given(st.lists(texts, min_size=2, max_size=5), st.text("XY", min_size=1, max_size=5), texts)
def test_replacing_all_replaces_each(pieces, old, new):
    assert replaced(old.join(pieces), old, new, every=True) == new.join(pieces)


def patched(text: str, diff: str) -> str:
    """Apply a unified diff the way `patch` does, refusing where it does not fit."""
    source = text.splitlines(keepends=True) if "\r" not in text else re.findall(r"[^\n]*\n|[^\n]+", text)
    out: list[str] = []
    at = 0
    rows = re.findall(r"[^\n]*\n", diff)[2:]
    for index, row in enumerate(rows):
        bare = index + 1 < len(rows) and rows[index + 1] == "\\ No newline at end of file\n"
        line = row[1:-1] if bare else row[1:]
        if head := re.fullmatch(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@\n", row):
            start = int(head[1]) - (head[2] != "0")
            out += source[at:start]
            at = start
        elif row[0] in " -":
            assert source[at] == line
            at += 1
            out += [line] if row[0] == " " else []
        elif row[0] == "+":
            out.append(line)
        else:
            assert row == "\\ No newline at end of file\n"
    return "".join(out + source[at:])


@given(files, files)
def test_a_difference_turns_the_old_text_into_the_new(before, after):
    diff = unified("f", before, after)
    assert patched(before, diff.text) == after
    rows = [row for row in re.findall(r"[^\n]*\n", diff.text)[2:] if not row.startswith("@@")]
    assert diff.added == sum(row.startswith("+") for row in rows)
    assert diff.removed == sum(row.startswith("-") for row in rows)


@given(files, files, files)
def test_a_difference_with_much_in_common_does_so_too(common, before, after):
    frame = common + "\n" * (not common.endswith("\n")) + "".join(f"{n}\n" for n in range(9))
    assert patched(frame + before, unified("f", frame + before, frame + after).text) == frame + after
    assert (
        patched(before + "\n" + frame, unified("f", before + "\n" + frame, after + "\n" + frame).text)
        == after + "\n" + frame
    )

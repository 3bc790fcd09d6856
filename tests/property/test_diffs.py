"""The diff that a person approves is the whole change."""

from hypothesis import given
from hypothesis import strategies as st

from openprogram.tools.builtin.diff import unified

lines = st.lists(st.sampled_from(("a\n", "b\n", "c\r\n", "d\x0c\n", "\n", "e")), max_size=12).map("".join)


@given(lines, lines)
def test_a_diff_shows_all_of_a_change(old: str, new: str) -> None:
    assert patched(old, unified("f", old, new).text) == new


def patched(old: str, diff: str) -> str:
    """`old` after a unified diff: what `patch` would make of it."""
    source = [f"{line}\n" for line in old.split("\n")]
    source[-1] = source[-1][:-1]
    out: list[str] = []
    taken = 0
    for line in diff.replace("\n\\ No newline at end of file\n", "\0\n").split("\n")[2:-1]:
        text = line[1:-1] if line.endswith("\0") else f"{line[1:]}\n"
        if line.startswith("@"):
            start, _, count = line.split()[1].removeprefix("-").partition(",")
            begin = int(start) - (count != "0")
            out.extend(source[taken:begin])
            taken = begin
        if line.startswith(("+", " ")):
            out.append(text)
        if line.startswith(("-", " ")):
            taken += 1
    return "".join([*out, *source[taken:]])

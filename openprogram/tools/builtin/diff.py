"""Unified differences for people, in time and size that do not explode."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from openprogram.core.jsonio import digest

_CONTEXT: Final = 3
_MATCHED: Final = 2_000
"""Differing lines per side up to which single lines are matched; beyond it the stretch is shown as replaced whole."""

_SHOWN: Final = 100_000
"""Characters of a difference that are shown."""


@dataclass(frozen=True, slots=True)
class Diff:
    """`text` is a unified diff without its last `left_out` lines; `added` and `removed` count all its lines.

    `digest` tells two differences apart by all that they are, shown or not.
    """

    text: str
    added: int
    removed: int
    left_out: int = 0
    digest: str = ""


def unified(path: str, before: str | None, after: str | None, *, former: str | None = None) -> Diff:
    """What turns `before` into `after` (None: no such file), empty text where nothing differs.

    `former` is the path that the file had before, if it is another one.
    """
    old, new = _lines(before or ""), _lines(after or "")
    added = removed = 0
    body: list[str] = []
    for hunk in _hunks(old, new):
        for line in hunk:
            added += line.startswith("+")
            removed += line.startswith("-")
        body.extend(hunk)
    if not body and before is not None and after is not None and former is None:
        return Diff("", 0, 0)
    head = [
        f"--- {'/dev/null' if before is None else f'a/{former or path}'}\n",
        f"+++ {'/dev/null' if after is None else f'b/{path}'}\n",
    ]
    text = "".join([*head, *body])
    if len(text) <= _SHOWN:
        return Diff(text, added, removed, digest=digest(text))
    kept = text[: text.rindex("\n", 0, _SHOWN) + 1]
    return Diff(kept, added, removed, text.count("\n", len(kept)), digest(text))


def joined(diffs: Sequence[Diff]) -> Diff:
    """The differences of several files as one."""
    text = "".join(diff.text for diff in diffs)
    kept = text if len(text) <= _SHOWN else text[: text.rindex("\n", 0, _SHOWN) + 1]
    return Diff(
        kept,
        sum(diff.added for diff in diffs),
        sum(diff.removed for diff in diffs),
        sum(diff.left_out for diff in diffs) + text.count("\n", len(kept)),
        digest([diff.digest for diff in diffs]),
    )


def _lines(text: str) -> list[str]:
    """Lines with their ends, split at LF only, so that the other line ends are part of what is compared."""
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [tail for tail in [text.rsplit("\n", 1)[-1]] if tail]


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[list[str]]:
    """Hunks of the middle in which the two differ, with their lines numbered from the start."""
    shorter = min(len(old), len(new))
    start = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    if start == len(old) == len(new):
        return
    rest = shorter - start
    end = next((i for i in range(rest) if old[-1 - i] != new[-1 - i]), rest)
    first = max(0, start - _CONTEXT)
    keep = max(0, end - _CONTEXT)
    left, right = old[first : len(old) - keep], new[first : len(new) - keep]
    if max(len(left), len(right)) > _MATCHED:
        lead, trail = start - first, end - keep
        yield _hunk(first, left, right, [(0, lead, 0, lead, True), *_replaced(left, right, lead, trail)])
        return
    matcher = difflib.SequenceMatcher(None, left, right)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        yield _hunk(first, left, right, [(i, j, k, m, tag == "equal") for tag, i, j, k, m in group])


_Code = tuple[int, int, int, int, bool]


def _replaced(left: Sequence[str], right: Sequence[str], lead: int, trail: int) -> list[_Code]:
    i, k = len(left) - trail, len(right) - trail
    return [(lead, i, lead, k, False), (i, len(left), k, len(right), True)]


def _hunk(offset: int, left: Sequence[str], right: Sequence[str], codes: Sequence[_Code]) -> list[str]:
    old_from, old_to = codes[0][0], codes[-1][1]
    new_from, new_to = codes[0][2], codes[-1][3]
    lines = [f"@@ -{_range(offset + old_from, old_to - old_from)} +{_range(offset + new_from, new_to - new_from)} @@\n"]
    for i, j, k, m, equal in codes:
        if equal:
            lines.extend(_ended(" ", line) for line in left[i:j])
        else:
            lines.extend(_ended("-", line) for line in left[i:j])
            lines.extend(_ended("+", line) for line in right[k:m])
    return lines


def _range(start: int, length: int) -> str:
    """A position in the form of `diff -u`: counted from 1, and one less where the range is empty."""
    if length == 1:
        return str(start + 1)
    return f"{start + 1 if length else start},{length}"


def _ended(sign: str, line: str) -> str:
    return f"{sign}{line}" if line.endswith("\n") else f"{sign}{line}\n\\ No newline at end of file\n"

"""CHANGELOG.md: one line per change, the user's outcome in at most 25 words."""

import pytest

from tests.support.tree import ROOT

WORDS = 25


def violations(text: str) -> list[str]:
    """Lines that are neither a heading, the introduction nor an entry, and entries that are too long."""
    _, _, entries = text.partition("\n## ")
    lines = [line for line in entries.splitlines()[1:] if line and not line.startswith("## ")]
    return [line for line in lines if not line.startswith("- ") or len(line.split()) - 1 > WORDS]


def test_every_change_is_one_short_line() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "\n- " in text
    assert violations(text) == []


@pytest.mark.parametrize(("line", "found"), [("- " + "word " * 25, 0), ("- " + "word " * 26, 1), ("  second line", 1)])
def test_a_long_entry_is_found(line: str, found: int) -> None:
    assert len(violations(f"# Changelog\n\nIntro.\n\n## Unreleased\n\n{line}\n")) == found

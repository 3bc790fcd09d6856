"""Sessions for the benchmark's replays: a made-up one, and a recorded one where the recordings are at hand."""

from pathlib import Path
from typing import Final

import pytest
from _traces import Recorded, Session, Step, read

from tests.support.tree import ROOT

TRACES: Final = Path("shared", "data", "traces", "swebench_mini_a.jsonl.gz")
"""Beside the project, or beside what it lies in."""
_STEPS: Final = 48


def made_up() -> Session:
    """As long as a script needs to have everything happen, and long enough to be cached from its first request on."""
    steps = tuple(Step(f"Step {n}.", f"look {n}", f"line {n}\n" * (5 + n * 7 % 40)) for n in range(_STEPS))
    return Session("made-up", "Mend the tests. " + "word " * 4_500, steps, (Recorded(0, 0),) * _STEPS)


def recorded() -> Session:
    """The shortest of the recorded sessions. Skips the test where they are not at hand."""
    found = next((path for parent in ROOT.parents if (path := parent / TRACES).exists()), None)
    if found is None:
        pytest.skip(f"there is no {TRACES} beside the project")
    return min(read(found), key=lambda session: len(session.steps))

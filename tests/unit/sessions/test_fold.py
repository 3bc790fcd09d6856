"""What a snapshot tells of a turn that summarises the conversation (spec protocol.md P3)."""

from openprogram.core.compaction import Compacted, CompactionStarted
from openprogram.core.events import TurnStarted
from openprogram.core.usage import Usage
from openprogram.sessions.fold import Timed, since_last_message

STARTED: Timed = ("t0", TurnStarted("t_1", "f", (), {}, 1, 1))
ASKED: Timed = ("t1", CompactionStarted("t_1", "t_2", "full", 100))
ENDED: Timed = ("t2", Compacted("t_1", "t_2", "done", "m_9", "e/m", Usage(output=1), 0.1))


def test_a_summary_that_is_being_written_is_told() -> None:
    assert since_last_message((STARTED, ASKED)) == (STARTED, ASKED)


def test_one_that_is_over_is_told_no_more_and_its_cost_is_not_counted_twice() -> None:
    assert since_last_message((STARTED, ASKED, ENDED)) == (STARTED,)

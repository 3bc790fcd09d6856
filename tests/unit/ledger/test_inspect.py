"""A chat's requests in the order of sending, where one of them asked for a summary (spec cache.md C16, C18)."""

from openprogram.core.sent import CallKind, Conditions, SentRecord
from openprogram.core.storage import Node, UsageRow
from openprogram.core.usage import CacheRules, Usage
from openprogram.ledger.inspect import inspect


def _record(
    turn_id: str, step: int, message_id: str, parent_id: str, *digests: str, cut: str | None = None
) -> SentRecord:
    return SentRecord(
        turn_id,
        step,
        message_id,
        parent_id,
        model="e/m",
        api="openai-chat",
        sent_at=float(step),
        tools=0,
        system=0,
        kept=0,
        digests=digests,
        settings="s",
        marks=(),
        conditions=Conditions("keep", "unchanged", 1, cut=cut),
        rules=CacheRules(),
    )


def _counted(turn_id: str, step: int, prompt: int, read: int, kind: CallKind = "step") -> UsageRow:
    return UsageRow(turn_id, step, "e/m", Usage(uncached=prompt - read, cache_read=read, output=1), None, kind)


NODES = (
    Node("m_1", None, "user"),
    Node("m_2", "m_1", "assistant"),
    Node("m_3", "m_2", "notice"),
    Node("m_4", "m_3", "assistant"),
)


def test_the_step_behind_a_summary_is_compared_with_the_step_before_it() -> None:
    records = (
        _record("t_1", 1, "m_2", "m_1", "a", "b"),
        _record("t_2", 1, "m_3", "m_2", "a", "b", "c"),
        _record("t_1", 2, "m_4", "m_3", "x", cut="m_3"),
    )
    counted = (
        _counted("t_1", 1, 1_000, 0),
        _counted("t_2", 1, 1_200, 1_000, "summary"),
        _counted("t_1", 2, 300, 0),
    )
    first, summary, behind = inspect(records, counted, NODES)
    for request in (summary, behind):
        assert request.previous is not None
        assert request.previous.record == first.record
    assert (summary.verdict.missed, summary.cause) == (0, None)
    assert (behind.verdict.missed, behind.cause) == (300, "compaction")


def test_a_summary_that_came_to_nothing_is_no_edit_of_what_follows() -> None:
    records = (
        _record("t_1", 1, "m_2", "m_1", "a", "b"),
        _record("t_2", 1, "m_none", "m_2", "a", "b", "c"),
        _record("t_1", 2, "m_4", "m_3", "a", "b", "d"),
    )
    counted = (
        _counted("t_1", 1, 1_000, 0),
        _counted("t_2", 1, 1_200, 1_000, "summary"),
        _counted("t_1", 2, 1_500, 1_000),
    )
    *_, behind = inspect(records, counted, NODES)
    assert (behind.verdict.missed, behind.cause, behind.place) == (0, None, None)

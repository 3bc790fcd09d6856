"""Fingerprints of requests (C18)."""

from dataclasses import replace

from openprogram.core.messages import Message, ReasoningBlock, TextBlock, ToolResultBlock
from openprogram.core.prompt import ProviderRequest, Segment
from openprogram.providers.segments import segments
from tests.support.histories import TOOL, call, chain, message, result

HISTORY = chain(
    message("user", "x"),
    message("assistant", ReasoningBlock("hm", "sig"), "I read.", call("c_1"), model="e/m"),
    message("tool", result("c_1")),
    message("user", ""),
    message("user", "y"),
)


def segments_of(messages: tuple[Message, ...] = HISTORY, model: str = "m") -> tuple[Segment, ...]:
    return segments(ProviderRequest(model, ("You help.", "Be brief."), (TOOL,), messages))


def changed(messages: tuple[Message, ...]) -> list[str]:
    """Keys of the segments whose digest differs."""
    pairs = zip(segments_of(), segments_of(messages), strict=True)
    return [before.key for before, after in pairs if before.digest != after.digest]


def test_tools_system_and_messages_each_have_one_in_order_of_sending() -> None:
    assert [(segment.kind, segment.key) for segment in segments_of()] == [
        ("tool", "read"),
        ("system", "0"),
        ("system", "1"),
        ("message", "m_0"),
        ("message", "m_1"),
        ("message", "m_2"),
        ("message", "m_4"),  # m_3 has nothing to send
    ]


def test_a_change_of_one_message_changes_that_segment_only() -> None:
    edited = (*HISTORY[:2], replace(HISTORY[2], blocks=(result("c_1", "other"),)), *HISTORY[3:])
    assert changed(edited) == ["m_2"]


def test_what_only_the_interface_sees_changes_nothing() -> None:
    shown = ToolResultBlock("c_1", "ok", (TextBlock("content"),), display={"diff": "+1"})
    assert changed((*HISTORY[:2], replace(HISTORY[2], blocks=(shown,)), *HISTORY[3:])) == []


def test_success_and_failure_differ() -> None:
    failed = ToolResultBlock("c_1", "error", (TextBlock("content"),))
    assert changed((*HISTORY[:2], replace(HISTORY[2], blocks=(failed,)), *HISTORY[3:])) == ["m_2"]


def test_another_model_is_sent_other_bytes_of_an_answer_with_reasoning() -> None:
    pairs = zip(segments_of(), segments_of(model="other"), strict=True)
    assert [before.key for before, after in pairs if before.digest != after.digest] == ["m_1"]


def test_a_tool_that_lists_its_parameters_in_another_order_is_the_same_tool() -> None:  # C5
    turned = dict(reversed(TOOL.items()))
    one, other = (ProviderRequest("m", (), (tool,), ()) for tool in (TOOL, turned))
    assert segments(one) == segments(other)

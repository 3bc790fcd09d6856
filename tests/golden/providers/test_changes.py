"""Requests with changes of the tools in mid-history, as they were once sent (cache.md C7, C10, C13, C15)."""

from dataclasses import replace
from pathlib import Path

import pytest

from openprogram.core.messages import Message, ToolUseBlock
from openprogram.core.prompt import ProviderRequest
from openprogram.core.surface import Delta, Strategy, Surface
from openprogram.providers import anthropic_prompt, responses_prompt
from openprogram.providers.catalog import facts_of
from openprogram.providers.segments import segments
from openprogram.surface.reserved import PLACEHOLDER
from openprogram.surface.words import words
from tests.golden.providers.test_requests import MODEL, SEARCH, SYSTEM, THINK, assistant
from tests.support.golden import check
from tests.support.histories import TOOL, call, chain, message, result

WEATHER = {**TOOL, "name": "weather"}
SELECT = ToolUseBlock("toolu_02", "tool_search", {"query": "select:weather"})

TALK = chain(
    message("user", "Hello"),
    assistant("Hi"),
    message("user", "Look it up"),
    message("notice", "Switched off, calls will be refused: read.\nNow available: web_search."),
    assistant(THINK, call("toolu_01A")),
    message("tool", result("toolu_01A")),
    assistant("Done."),
    message("user", "Thanks"),
)
IDS = [each.id for each in TALK]
EMPTY_ANSWER = chain(message("user", "Hello"), assistant(), message("user", "Are you there?"))
CUT = chain(message("user", "Write"), assistant("It was a dark"))
FOUND = chain(message("user", "Weather?"), assistant(SELECT), message("tool", result("toolu_02")), assistant("Sunny."))

CASES: dict[str, tuple[Strategy, tuple[Message, ...], tuple[Delta, ...]]] = {
    "by_value": (
        "inline_changes",
        TALK,
        (Delta(IDS[3], (SEARCH,), withdrawn=("read",)), Delta(IDS[7], referenced=("read",), withdrawn=("web_search",))),
    ),
    "by_reference": (
        "reference_changes",
        TALK,
        (Delta(IDS[3], referenced=("weather",), withdrawn=("read",)), Delta(IDS[5], referenced=("read",))),
    ),
    "in_the_result_of_a_search": (
        "tool_reference",
        FOUND,
        (Delta(FOUND[2].id, referenced=("weather",), call_id="toolu_02"),),
    ),
    "behind_it_an_empty_answer": (
        "inline_changes",
        EMPTY_ANSWER,
        (Delta(EMPTY_ANSWER[0].id, (SEARCH,)), Delta(EMPTY_ANSWER[2].id, withdrawn=("read",))),
    ),
    "behind_an_answer_that_goes_on": ("inline_changes", CUT, (Delta(CUT[1].id, (SEARCH,)),)),
    "two_at_one_place": ("inline_changes", TALK[:1], (Delta(IDS[0], (SEARCH,)), Delta(IDS[0], withdrawn=("read",)))),
    "on_another_branch": ("inline_changes", TALK[:3], (Delta("m_elsewhere", (SEARCH,)),)),
}


@pytest.fixture
def regenerate(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--regenerate-goldens"))


def sent(case: str) -> ProviderRequest:
    strategy, messages, deltas = CASES[case]
    request = ProviderRequest("claude-opus-5", SYSTEM, (TOOL,), messages, strategy=strategy, deltas=deltas)
    by_value = strategy == "inline_changes"
    return replace(request, deferred=(PLACEHOLDER,) if by_value else (PLACEHOLDER, WEATHER))


@pytest.mark.parametrize("case", CASES)
def test_request(case: str, regenerate: bool) -> None:
    body = anthropic_prompt.request_body(sent(case), MODEL, facts_of("claude-opus-5"))
    check(Path(__file__).parent / "changes" / f"{case}.json", body, regenerate=regenerate)


@pytest.mark.parametrize("case", CASES)
def test_segments(case: str, regenerate: bool) -> None:
    found = [[segment.kind, segment.key, segment.digest] for segment in segments(sent(case))]
    check(Path(__file__).parent / "changes" / f"{case}.segments.json", found, regenerate=regenerate)


@pytest.mark.parametrize("strategy", ["additional_tools", "client_tool_search"])
def test_request_to_the_responses_api(strategy: Strategy, regenerate: bool) -> None:
    request = replace(sent("by_value"), strategy=strategy, deferred=(), deltas=())
    surface = Surface("e/m", 1, request.tools, (), "d", 0.0, strategy=strategy)
    added = Delta(IDS[3], (SEARCH,), withdrawn=("read",) if strategy == "additional_tools" else ())
    deltas = (replace(added, text=words(surface, added)),)
    body = responses_prompt.request_body(replace(request, deltas=deltas), MODEL, facts_of("gpt-6-sol"))
    check(Path(__file__).parent / "changes" / f"{strategy}.json", body, regenerate=regenerate)


def test_reasoning_that_was_bound_to_another_prefix_stays_behind() -> None:
    request, facts = replace(sent("by_value"), deltas=()), facts_of("claude-opus-5")
    before = anthropic_prompt.request_body(replace(request, thinking_after=IDS[3]), MODEL, facts)
    after = anthropic_prompt.request_body(replace(request, thinking_after=IDS[6]), MODEL, facts)
    assert str(THINK.signature) in str(before)
    assert str(THINK.signature) not in str(after)

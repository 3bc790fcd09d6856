"""The bodies of requests as they were once sent (C13): a history renders to the same bytes after every upgrade.

Each case is one history, written down for the Messages API, for Chat Completions everywhere and for OpenAI itself, and
for the Responses API.
"""

from pathlib import Path

import pytest

from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import ImageBlock, Message, ReasoningBlock, TextBlock, ToolResultBlock, ToolUseBlock
from openprogram.core.prompt import ModelParams, ProviderRequest
from openprogram.providers import anthropic_prompt, chat_prompt, responses_prompt
from openprogram.providers.catalog import UNKNOWN, ModelFacts, facts_of
from openprogram.providers.hosts import Quirks, quirks_of
from openprogram.providers.segments import segments
from tests.support.golden import check
from tests.support.histories import TOOL, call, chain, message, result

SYSTEM = ("You are openprogram, an assistant with tools.", "Answer in the language of the user.")
SEARCH: JsonObject = {
    "name": "web_search",
    "description": "Search the web.",
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for: «ü» 漢字"},
            "limit": {"type": "integer", "default": 5},
        },
        "required": ["query"],
        "additionalProperties": False,
    },
}
THINK = ReasoningBlock("The user wants a file.\n", "EqQBCgIYAhIM+/=")
MODEL = "e/claude-opus-5"


def assistant(*blocks: TextBlock | ReasoningBlock | ToolUseBlock | str, model: str = MODEL) -> Message:
    return message("assistant", *blocks, model=model)


CASES: dict[str, tuple[Message, ...]] = {
    "first_message": (message("user", "Hello"),),
    "second_turn": (
        message("user", "Hello"),
        assistant("Hi, what can I do?"),
        message("user", "Nothing.\n\n  Thanks!"),
    ),
    "toggle_notice": (
        message("user", "Hello"),
        assistant("Hi"),
        message("notice", "The user switched web search on."),
        message("user", "What is new?"),
    ),
    "parallel_calls": (
        message("user", "Read a.txt and b.txt"),
        assistant(
            "I read both.",
            call("toolu_01A"),
            ToolUseBlock("toolu_01B", "read", {"path": "b.txt", "limit": 3, "all": None}),
        ),
        message(
            "tool", result("toolu_01A", "alpha\n"), ToolResultBlock("toolu_01B", "error", (TextBlock("No such file."),))
        ),
    ),
    "steered_between_steps": (
        message("user", "Read a.txt"),
        assistant(call("toolu_01A")),
        message("tool", result("toolu_01A")),
        message("user", "And be quick"),
    ),
    "thinking": (
        message("user", "Read a.txt"),
        assistant(THINK, call("toolu_01A")),
        message("tool", result("toolu_01A")),
        assistant(ReasoningBlock("", None, "EmwKAhgB=="), "Done."),
        message("user", "Thanks"),
    ),
    "thinking_of_another_model": (
        message("user", "Hello"),
        assistant(THINK, "Hi", model="e/claude-sonnet-5"),
        message("user", "Who are you?"),
    ),
    "stopped_while_thinking": (message("user", "Hello"), assistant(ReasoningBlock("Let me")), message("user", "Again")),
    "interrupted_call": (
        message("user", "Run it"),
        assistant("I run it.", ToolUseBlock("toolu_01A", "bash", {"command": "make"})),
        message("user", "What happened?"),
    ),
    "cut_answer": (message("user", "Write a long text"), assistant("It was a dark")),
    "continued_answer": (
        message("user", "Write a long text"),
        assistant("It was a dark"),
        assistant("and stormy night."),
        message("user", "Good"),
    ),
    "denied_call": (
        message("user", "Delete it"),
        assistant(ToolUseBlock("call_1", "bash", {"command": "rm a.txt"})),
        message(
            "tool",
            ToolResultBlock("call_1", "denied", (TextBlock("Denied: not now"),), {"note": "not now"}),
        ),
    ),
    "pictures": (
        message("user", "Look at both"),
        assistant(call("toolu_01A", "a.png"), call("toolu_01B", "b.jpg")),
        message(
            "tool",
            ToolResultBlock("toolu_01A", "ok", (TextBlock("a.png"), ImageBlock("image/png", "iVBORw0KGgo=", 3, 2))),
            ToolResultBlock("toolu_01B", "ok", (ImageBlock("image/jpeg", "/9j/4AAQSkZJ", 40, 30),)),
        ),
        message("user", "Which is larger?"),
    ),
    "foreign_ids_and_names": (
        message("user", "Hello"),
        assistant(ToolUseBlock("functions.web.search:0", "web.search", {}), model="kimi/kimi-k3"),
        message("tool", ToolResultBlock("functions.web.search:0", "ok", ())),
    ),
}


@pytest.fixture
def regenerate(pytestconfig: pytest.Config) -> bool:
    return bool(pytestconfig.getoption("--regenerate-goldens"))


def sent(history: tuple[Message, ...], previous_length: int = 0) -> ProviderRequest:
    messages = chain(*history)
    params = ModelParams(thinking_budget=4096, effort="high")
    return ProviderRequest("claude-opus-5", SYSTEM, (TOOL, SEARCH), messages, params, "s_01", previous_length)


@pytest.mark.parametrize("case", CASES)
def test_anthropic_request(case: str, regenerate: bool) -> None:
    body = anthropic_prompt.request_body(sent(CASES[case]), MODEL, facts_of("claude-opus-5"))
    check(Path(__file__).parent / "anthropic" / f"{case}.json", body, regenerate=regenerate)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(
    ("folder", "quirks"),
    [
        ("chat", Quirks()),
        ("openai", quirks_of("https://api.openai.com/v1")),
        ("deepseek", quirks_of("https://api.deepseek.com")),
    ],
)
def test_chat_request(case: str, folder: str, quirks: Quirks, regenerate: bool) -> None:
    body = chat_prompt.request_body(sent(CASES[case]), MODEL, UNKNOWN, quirks)
    check(Path(__file__).parent / folder / f"{case}.json", body, regenerate=regenerate)


@pytest.mark.parametrize("case", CASES)
def test_responses_request(case: str, regenerate: bool) -> None:
    body = responses_prompt.request_body(sent(CASES[case]), MODEL, facts_of("gpt-5.5"))
    check(Path(__file__).parent / "responses" / f"{case}.json", body, regenerate=regenerate)


def test_pictures_follow_their_results_where_a_model_takes_them(regenerate: bool) -> None:
    body = chat_prompt.request_body(sent(CASES["pictures"]), MODEL, ModelFacts(images=True), Quirks())
    check(Path(__file__).parent / "chat" / "pictures_taken.json", body, regenerate=regenerate)


def test_a_model_of_the_messages_api_that_takes_no_pictures_is_told_of_them(regenerate: bool) -> None:
    body = anthropic_prompt.request_body(sent(CASES["pictures"]), MODEL, ModelFacts(images=False))
    check(Path(__file__).parent / "anthropic" / "pictures_refused.json", body, regenerate=regenerate)


@pytest.mark.parametrize("case", CASES)
def test_segments_of_a_request(case: str, regenerate: bool) -> None:
    found = [[segment.kind, segment.key, segment.digest] for segment in segments(sent(CASES[case]))]
    check(Path(__file__).parent / "segments" / f"{case}.json", found, regenerate=regenerate)

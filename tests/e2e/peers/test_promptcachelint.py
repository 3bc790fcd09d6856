"""A linter of prompt caches that was not written here finds no break in chats whose tools are switched and found."""

from collections.abc import AsyncIterator, Mapping, Sequence
from copy import deepcopy
from typing import Any, Final

import pytest
import pytest_asyncio
from promptcachelint.findings import TOOLS_CHANGED, VOLATILE_CONTENT

from openprogram.core.events import StepStarted
from openprogram.core.prompt import Api
from openprogram.core.surface import PLACEHOLDER_NAME, Strategy
from tests.support.changes import chat_at, played
from tests.support.fake import FakeApi, fake_api
from tests.support.linter import breaks, findings, linted

pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES: Final[tuple[tuple[Strategy, Api, str], ...]] = (
    ("inline_changes", "anthropic", "claude-opus-5-5"),
    ("reference_changes", "anthropic", "claude-opus-5-5"),
    ("tool_reference", "anthropic", "claude-sonnet-5"),
    ("additional_tools", "openai-responses", "gpt-5.6"),
    ("client_tool_search", "openai-responses", "gpt-5.4"),
    ("append", "openai-chat", "gpt-4.1"),
    ("append", "anthropic", "claude-opus-5-5"),
    ("bridge", "openai-chat", "gpt-4.1"),
    ("bridge", "anthropic", "claude-opus-5-5"),
    ("frozen", "openai-chat", "gpt-4.1"),
)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running() -> AsyncIterator[FakeApi]:
    async with fake_api() as fake:
        yield fake


@pytest_asyncio.fixture(loop_scope="module")
async def fake(running: FakeApi) -> FakeApi:
    await running.reset()
    return running


@pytest.mark.parametrize(("strategy", "api", "model"), CASES, ids=[f"{case[0]}-{case[1]}" for case in CASES])
async def test_the_linter_finds_a_break_at_the_planned_miss_and_nowhere_else(
    fake: FakeApi, strategy: Strategy, api: Api, model: str
) -> None:  # C2, C22
    async with chat_at(fake, strategy, api, model) as chat:
        records = await played(chat, fake, strategy)
    grown = [number for number, step in enumerate(chat.emit.of(StepStarted)) if step.plan.kind == "append"]
    assert len(grown) == (strategy == "append")
    for usage in (False, True):
        report = linted(api, records, usage=usage)
        assert breaks(report) == grown, report.to_text()
        found = {(number, code) for number, code in findings(report) if code != VOLATILE_CONTENT}
        assert found == {(number, TOOLS_CHANGED) for number in grown}, report.to_text()


@pytest.mark.parametrize(("strategy", "model"), [(case[0], case[2]) for case in CASES[1:3]])
async def test_the_linter_sees_another_definition_wherever_it_is_rendered(
    fake: FakeApi, strategy: Strategy, model: str
) -> None:
    """What this proof rests on."""
    async with chat_at(fake, strategy, "anthropic", model) as chat:
        records = await played(chat, fake, strategy)
    declared = [tool["name"] for tool in records[-1]["body"]["tools"]]
    seen = [name for name in declared if breaks(linted("anthropic", with_another(records, name), usage=True))]
    assert {*declared} - {*seen} <= {"notes", PLACEHOLDER_NAME}  # nothing has ever referred to them
    assert seen == ["bash", "read", "tool_search", "weather"]


def with_another(records: Sequence[Mapping[str, Any]], name: str) -> list[dict[str, Any]]:
    """The requests with another definition of that tool in the last one."""
    changed = [dict(record) for record in deepcopy(records)]
    (tool,) = [tool for tool in changed[-1]["body"]["tools"] if tool["name"] == name]
    tool["description"] += " Or not."
    return changed

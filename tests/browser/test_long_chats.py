"""A chat of a thousand messages: it opens at its end, scrolls to its beginning, and stays small in the page."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import expect

from openprogram.core.events import Event, MessageAdded, SessionChanged, SessionInfo
from openprogram.core.messages import Message, TextBlock
from openprogram.server.auth import OWNER
from openprogram.sessions.project import project
from openprogram.store.sqlite.store import SqliteStore
from tests.browser.conftest import OpenTab
from tests.support.browser import Tab
from tests.support.fake import FakeApi
from tests.support.server import Server, running_server

COUNT = 1000
SESSION = "s_long"
NOW = "2026-01-01T00:00:00.000Z"
MOST_NODES = 4000
"""Of elements in the page, however long the chat is."""

ANSWER = "\n\n".join(
    [
        "## Answer {n}",
        "A paragraph with **bold** words and `code`, long enough to wrap once or twice in the column.",
        "- one",
        "```python\nprint({n})\n```",
    ]
)


async def write_chat(database: Path) -> None:
    """A chat of a thousand messages, as if it had been held."""
    store = await SqliteStore.open(database)
    info = SessionInfo(id=SESSION, title="A long chat", created_at=NOW, updated_at=NOW, visible=True)
    messages = [
        Message(
            id=f"m_{number:06}",
            parent_id=f"m_{number - 1:06}" if number else None,
            role="assistant" if number % 2 else "user",
            blocks=(TextBlock(ANSWER.replace("{n}", str(number)) if number % 2 else f"Question {number}"),),
            created_at=NOW,
            turn_id=f"t_{number // 2:06}",
        )
        for number in range(COUNT)
    ]
    events: list[Event] = [SessionChanged(info), *map(MessageAdded, messages)]
    await store.commit(SESSION, events, project(events, OWNER.id))
    await store.aclose()


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def long_server(shared_fake: FakeApi, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Server]:
    """A server with the long chat."""
    directory = tmp_path_factory.mktemp("long")
    async with running_server(directory, shared_fake) as server:
        await server.stop()
        await write_chat(server.database)
        await server.start()
        yield server


async def nodes(tab: Tab) -> int:
    """How many elements the page has."""
    count: int = await tab.page.evaluate("document.getElementsByTagName('*').length")
    return count


async def test_it_opens_at_its_end_and_stays_small(long_server: Server, fake: FakeApi, open_page: OpenTab) -> None:
    tab = await open_page(long_server, f"/#/c/{SESSION}")
    await expect(tab.answers.last.get_by_role("heading", name=f"Answer {COUNT - 1}")).to_be_in_viewport()
    assert await nodes(tab) < MOST_NODES

    await tab.box.press_sequentially("typed while it is long")
    await expect(tab.box).to_have_value("typed while it is long")
    await fake.say("One more.")
    async with tab.turn():
        await tab.box.press("Enter")
    await expect(tab.answers.last).to_have_text("One more.")
    await expect(tab.answers.last).to_be_in_viewport()
    assert await nodes(tab) < MOST_NODES
    assert len((await fake.requests())[-1]["body"]["messages"]) == COUNT + 2


async def test_scrolling_reaches_the_first_message(long_server: Server, open_page: OpenTab) -> None:
    tab = await open_page(long_server, f"/#/c/{SESSION}")
    await expect(tab.answers.last).to_be_in_viewport()
    first = tab.sent.get_by_text("Question 0", exact=True)
    for _ in range(COUNT):  # each page that comes moves what is seen, so that Home leads to the next one
        if await first.count():
            break
        await tab.transcript.press("Home")
        await tab.painted()
    await tab.transcript.press("Home")
    await expect(first).to_be_in_viewport()
    assert await nodes(tab) < MOST_NODES

    await tab.transcript.press("End")
    await expect(tab.page.get_by_test_id("jump-to-latest")).to_have_count(0)
    await expect(tab.answers.last).to_be_in_viewport()


async def test_older_messages_come_in_without_moving_what_is_read(long_server: Server, open_page: OpenTab) -> None:
    tab = await open_page(long_server, f"/#/c/{SESSION}")
    await expect(tab.answers.last).to_be_in_viewport()
    await tab.transcript.press("PageUp")  # no longer following
    top = await scroll_near(tab, 700)
    read = tab.sent.nth(1)
    question = await read.get_by_text("Question").text_content()
    before = await read.bounding_box()
    height: int = await tab.transcript.evaluate("(log) => log.scrollHeight")
    await tab.transcript.hover()
    await tab.page.mouse.wheel(0, 500 - top)
    more = "(height) => document.querySelector('[role=log]').scrollHeight > height + 2000"
    await tab.page.wait_for_function(more, arg=height)
    await tab.painted()
    after = await tab.sent.filter(has_text=question).bounding_box()
    assert before is not None
    assert after is not None
    assert abs(after["y"] - before["y"] - (top - 500)) <= 2


async def scroll_near(tab: Tab, wanted: int) -> int:
    """Scroll to about there, which takes several goes: rows above move what is seen when they are measured."""
    for _ in range(COUNT):
        top: int = await tab.transcript.evaluate("(log) => log.scrollTop")
        if abs(top - wanted) < 100:
            return top
        await tab.transcript.evaluate("(log, top) => (log.scrollTop = top)", wanted)
        await tab.painted()
    raise AssertionError(f"the conversation cannot be scrolled to {wanted}")

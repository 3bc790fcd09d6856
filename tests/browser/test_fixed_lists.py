"""A chat whose tools are a copy of a preset: the tools panel offers to follow the preset again (T1, T5)."""

import asyncio
import re
from typing import Any

from playwright.async_api import expect

from tests.browser.conftest import OpenTab
from tests.support.fake import FakeApi
from tests.support.server import Server
from tests.support.ws import WAIT_S, Client


async def copied(client: Client) -> tuple[str, list[str]]:
    """A chat as an older program left it with the chip on: the names that its tools had, and web search."""
    session = (await client.send("create_session"))["session_id"]
    tools = (await client.send("explain_tools", session_id=session))["tools"]
    names = [*(tool["name"] for tool in tools if tool["state"] in ("on", "deferred")), "web_search"]
    return (await client.send("create_session", tools=names))["session_id"], names


async def intends(client: Client, session: str, wanted: dict[str, Any]) -> None:
    """Wait until this, and nothing else, is what the chat intends: one click may be several switches."""
    found: dict[str, Any] = {}
    async with asyncio.timeout(WAIT_S):
        while found != wanted:
            decided = (await client.send("explain_tools", session_id=session))["decided"]
            found = {one["field"]: one["value"] for one in decided if one["layer"] == "session"}


async def test_a_copied_list_is_told_followed_by_one_click_and_put_back_by_another(
    fake: FakeApi, server: Server, open_page: OpenTab
) -> None:
    async with server.client() as client:
        session, names = await copied(client)
        tab = await open_page(server, f"/#/c/{session}")
        await tab.open_tools()
        line = tab.page.get_by_test_id("picked-line")
        await expect(line).to_contain_text(f"This chat follows a fixed list of {len(names)} tools.")
        await tab.audit()

        await tab.keep_offers()
        await line.get_by_role("button", name="Follow Default again").click()
        await expect(line).to_have_count(0)
        await expect(tab.page.get_by_test_id("preset-default")).to_be_checked()
        await expect(tab.chip).to_have_attribute("data-state", "on")
        await intends(client, session, {"toolset": "default", "web_search": True})

        await tab.page.get_by_role("button", name="Undo").click()
        await tab.open_tools()
        await expect(line).to_contain_text("fixed list")
        await expect(line.get_by_role("button", name=re.compile("^Follow"))).to_be_visible()
        await intends(client, session, {"picked": names})


async def test_a_short_list_of_ones_own_is_no_copy(fake: FakeApi, server: Server, open_page: OpenTab) -> None:
    async with server.client() as client:
        session = (await client.send("create_session", tools=["bash", "read"]))["session_id"]
    tab = await open_page(server, f"/#/c/{session}")
    await tab.open_tools()
    await expect(tab.page.get_by_test_id("picked-line")).to_contain_text("hand-picked")


async def test_the_line_of_a_copied_list_is_in_the_readers_language(
    fake: FakeApi, server: Server, open_page: OpenTab
) -> None:
    async with server.client() as client:
        session, names = await copied(client)
    tab = await open_page(server, f"/#/c/{session}", locale="zh-CN")
    await tab.page.get_by_test_id("tools-button").click()
    line = tab.page.get_by_test_id("picked-line")
    await expect(line).to_contain_text(f"固定的 {len(names)} 个工具")
    await expect(line.get_by_role("button")).to_contain_text("重新跟随")

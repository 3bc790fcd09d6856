"""Acts on web pages ask (spec trust.md R17): each shows what it is about; an allowance for a chat is for one site."""

import json
from pathlib import Path

import pytest

from openprogram.core.asking import Answer
from openprogram.core.errors import ToolFailure
from openprogram.core.events import PermissionMode
from openprogram.core.jsonio import JsonValue
from openprogram.core.storage import Grant
from openprogram.core.tooling import ToolOutput, ToolSpec
from openprogram.tools.builtin.browser_consent import described
from openprogram.tools.leaving import LeftBehind
from openprogram.tools.wrap import wrap
from tests.support.sites import Site, page, ref_of
from tests.support.tool_calls import text_of
from tests.support.tools import Person, Switches, context

pytestmark = pytest.mark.browser

ONCE, SESSION, DENY = Answer("once"), Answer("session"), Answer("deny")


class Chat:
    """A chat's calls as a turn makes them, with who is asked."""

    def __init__(self, browser: ToolSpec, workspace: Path) -> None:
        self.browser = browser
        self.workspace = workspace
        self.switches = Switches()
        self.person = Person()

    def will(self, *answers: Answer) -> None:
        self.person = Person(*answers)

    async def __call__(self, **arguments: JsonValue) -> ToolOutput:
        return await wrap(self.browser, self.switches, self.person, LeftBehind()).execute(
            arguments, context(self.workspace)
        )

    async def opened(self, url: str) -> str:
        return text_of(await self(action="open", url=url))


@pytest.fixture
def chat(browser: ToolSpec, tmp_path: Path) -> Chat:
    return Chat(browser, tmp_path)


async def test_looking_asks_nobody(chat: Chat, site: Site) -> None:
    await chat.opened(site.url("/form"))
    await chat.opened(site.url("/second"))
    for action in ("snapshot", "screenshot", "back", "close"):
        assert (await chat(action=action)).status == "ok"
    assert chat.person.asked == []


@pytest.mark.parametrize("mode", ["ask", "accept_edits"])
async def test_a_denied_act_does_nothing_at_the_site(chat: Chat, site: Site, mode: PermissionMode) -> None:
    chat.switches.mode = mode
    text = await chat.opened(site.url("/form"))
    asked = len(site.server.requests)
    chat.will(DENY, DENY)
    sent = await chat(action="click", ref=ref_of(text, 'button "Send"'))
    typed = await chat(action="type", ref=ref_of(text, "textbox"), text="Ada", submit=True)
    assert [sent.status, typed.status] == ["denied", "denied"]
    assert len(chat.person.asked) == 2
    assert len(site.server.requests) == asked
    assert "Ada" not in text_of(await chat(action="snapshot"))


async def test_where_the_chat_allows_everything_nobody_is_asked(chat: Chat, site: Site) -> None:
    chat.switches.mode = "auto"
    text = await chat.opened(site.url("/form"))
    assert "Hello" in text_of(await chat(action="click", ref=ref_of(text, 'button "Send"')))


async def test_the_card_shows_the_page_and_what_is_clicked_or_typed(chat: Chat, site: Site) -> None:
    url = site.url("/form")
    text = await chat.opened(url)
    chat.will(ONCE, DENY, DENY)
    field = ref_of(text, "textbox")
    typed = text_of(await chat(action="type", ref=field, text="Ada"))
    await chat(action="click", ref=ref_of(typed, "Second page"))
    await chat(action="type", ref=field, text="Eve", submit=True)
    shown = [json.loads(asked.preview) for asked in chat.person.asked]
    assert shown[0] == {"page": url, "type": "Ada", "into": 'textbox "Name"'}
    assert shown[1] == {"page": url, "click": 'link "Second page"', "link": "/second"}
    assert shown[2] == {"page": url, "type": "Eve", "into": 'textbox "Name": Ada', "then": "press Enter"}
    assert {asked.reason for asked in chat.person.asked} == {f"acts on {site.origin}"}


async def test_an_allowance_for_the_chat_is_for_one_site(chat: Chat, site: Site) -> None:
    other = site.url("/framed", host="other.test")
    site.pages["/framed"] = lambda _: page(f"<button>Outer</button><iframe src='{site.url('/form')}'></iframe>")
    text = await chat.opened(site.url("/form"))
    chat.will(SESSION)
    await chat(action="type", ref=ref_of(text, "textbox"), text="Ada")
    (asked,) = chat.person.asked
    assert asked.pattern == site.origin
    chat.switches.grants = (Grant("playwright_browser", asked.pattern, asked.directory),)

    await chat(action="click", ref=ref_of(text, 'button "Send"'))
    framed = await chat.opened(other)
    chat.will(DENY)
    await chat(action="type", ref=ref_of(framed, "textbox"), text="Ada")  # in a frame of the site that is allowed
    assert chat.person.asked == []
    await chat(action="click", ref=ref_of(framed, 'button "Outer"'))
    assert [asked.pattern for asked in chat.person.asked] == [site.url("", host="other.test")]


async def test_what_a_frame_without_a_site_does_is_asked_each_time(chat: Chat, site: Site) -> None:
    site.pages["/framed"] = lambda _: page("<iframe srcdoc='<button>Inner</button>'></iframe>")
    text = await chat.opened(site.url("/framed"))
    chat.will(DENY)
    await chat(action="click", ref=ref_of(text, "Inner"))
    (asked,) = chat.person.asked
    assert asked.pattern == ""
    assert json.loads(asked.preview)["frame"] == "about:srcdoc"


async def test_what_changed_while_the_person_thought_is_not_done(chat: Chat, site: Site) -> None:
    class Thinking(Person):
        async def __call__(self, request):
            await chat.opened(f"{site.url('/second')}")
            return await super().__call__(request)

    text = await chat.opened(site.url("/form"))
    chat.person = Thinking(ONCE)
    with pytest.raises(ToolFailure, match="Take a new tree"):
        await chat(action="click", ref=ref_of(text, 'button "Send"'))
    assert [request.path for request in site.server.requests if request.path == "/done"] == []


async def test_what_is_not_there_asks_nobody(chat: Chat, site: Site) -> None:
    with pytest.raises(ToolFailure, match="No page is open"):
        await chat(action="click", ref="e1")
    await chat.opened(site.url("/form"))
    with pytest.raises(ToolFailure, match="Take a new tree"):
        await chat(action="click", ref="e999")
    assert chat.person.asked == []


def test_what_a_page_says_is_never_taken_for_its_structure() -> None:  # R13
    tree = """- generic [active] [ref=e1]: text [ref=e9]
  - button "Cancel [ref=e9]" [ref=e2] [cursor=pointer]
  - 'button "Cancel: \\" [ref=e9]" [ref=e3]'
  - text: "- button \\"Cancel\\" [ref=e9]"
  - 'button "Pay: it''s all" [ref=e9]':
    - /url: /pay"""
    assert described(tree, "e9") == ('button "Pay: it\'s all"', "/pay")
    assert described(tree, "e1") == ("generic: text [ref=e9]", "")
    assert described(tree, "e4") is None

"""What an act sets off is seen in its own result, however late it comes."""

import asyncio
from pathlib import Path

import pytest

from openprogram.core.tooling import ToolSpec
from openprogram.tools.builtin import browser_seat
from tests.support.sites import Site, page, ref_of
from tests.support.tool_calls import Caller, text_of

pytestmark = pytest.mark.browser


@pytest.fixture
def call(tmp_path: Path) -> Caller:
    return Caller(tmp_path)


@pytest.mark.parametrize(
    ("what", "on_the_way"),
    [
        ("<a href=/second target=_blank>Go</a>", []),
        ("<button onclick='setTimeout(() => window.open(\"/second\"))'>Go</button>", []),
        ('<button onclick=\'fetch("/form").then(() => location = "/second")\'>Go</button>', ["/form"]),
        ('<button onclick=\'fetch("/form").then(() => window.open("/second"))\'>Go</button>', ["/form"]),
    ],
)
async def test_what_a_click_sets_off_is_waited_for_however_late_it_comes(
    call: Caller, browser: ToolSpec, site: Site, what: str, on_the_way: list[str]
) -> None:
    site.pages["/go"] = lambda _: page(what)
    text = text_of(await call(browser, action="open", url=site.url("/go")))
    held = [site.hold(path) for path in (*on_the_way, "/second")]
    click = asyncio.create_task(call(browser, action="click", ref=ref_of(text, "Go")))
    for one in held:
        await one.asked.wait()
        one.answer.set()
    assert "The second page" in text_of(await click)


async def test_what_does_not_come_is_told_and_waited_for_once(
    call: Caller, browser: ToolSpec, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(browser_seat, "_ARRIVAL_S", 0.2)
    site.pages["/go"] = lambda _: page("<a href=/second target=_blank>Go</a><button>Stay</button>")
    text = text_of(await call(browser, action="open", url=site.url("/go")))
    held = site.hold("/second")
    click = text_of(await call(browser, action="click", ref=ref_of(text, "Go")))
    assert "is not there yet" in click
    assert 'button "Stay"' in click
    monkeypatch.undo()
    assert "is not there yet" not in text_of(await call(browser, action="click", ref=ref_of(click, "Stay")))
    held.answer.set()


async def test_when_a_window_closes_itself_the_one_before_is_seen(call: Caller, browser: ToolSpec, site: Site) -> None:
    site.pages["/go"] = lambda _: page("<button onclick='window.open(\"/popup\")'>Go</button>")
    site.pages["/popup"] = lambda _: page("<button onclick='setTimeout(() => window.close())'>Done</button>")
    text = text_of(await call(browser, action="open", url=site.url("/go")))
    text = text_of(await call(browser, action="click", ref=ref_of(text, "Go")))
    assert 'button "Go"' in text_of(await call(browser, action="click", ref=ref_of(text, "Done")))

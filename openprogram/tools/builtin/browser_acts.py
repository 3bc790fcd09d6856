"""What can be done with a web page, and how it is told to a model. Imports Playwright, so it is imported when used."""

import re
from base64 import b64encode
from typing import Final

from playwright.async_api import Error, Locator
from playwright.async_api import TimeoutError as Slow

from openprogram.core.errors import BadArguments, ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import ImageBlock, TextBlock
from openprogram.core.tooling import ToolOutput
from openprogram.net.errors import NetFailure
from openprogram.tools.builtin.browser_config import BrowserCall
from openprogram.tools.builtin.browser_seat import HEIGHT, WIDTH, Seat, first_line

SNAPSHOT_CHARS: Final = 16_000
_STILL_COMING: Final = "\nA page or window has been asked for and is not there yet; this is what was there before."
_REF: Final = re.compile(r"(f\d+)?e\d+")


async def act(call: BrowserCall, seat: Seat) -> ToolOutput:
    """Do it, and tell what the page is like then. Raises `ToolFailure`."""
    seat.begin()
    try:
        match call.action:
            case "open":
                await _open(call, seat)
            case "click":
                await element(call, seat).click()
            case "type":
                await _type(call, seat)
            case "back":
                await seat.page.go_back(wait_until="domcontentloaded")
            case "screenshot":
                return await _screenshot(seat)
            case _:
                pass
        rested = call.action == "snapshot" or await seat.rest()
        return await _tree(seat, "" if rested else _STILL_COMING)
    except Slow as error:
        hint = " Take a new tree: the page may have changed." if call.ref else ""
        raise ToolFailure(f"{call.action} did not work in time.{hint}") from error
    except Error as error:
        raise ToolFailure(_explained(call, seat, first_line(error))) from error


async def _open(call: BrowserCall, seat: Seat) -> None:
    if not call.url:
        raise BadArguments("open needs a url", field="url")
    try:
        target = await seat.proxy.check(call.url)
    except NetFailure as failure:
        raise ToolFailure(f"{failure.message}.") from failure
    await seat.page.goto(str(target), wait_until="domcontentloaded")


def element(call: BrowserCall, seat: Seat) -> Locator:
    """What the call's ref names. Raises `BadArguments`."""
    if not _REF.fullmatch(call.ref):
        raise BadArguments(f"{call.action} needs a ref as the tree shows them, such as e12", field="ref")
    return seat.page.locator(f"aria-ref={call.ref}")


async def _type(call: BrowserCall, seat: Seat) -> None:
    field = element(call, seat)
    await field.fill(call.text)
    if call.submit:
        await field.press("Enter")


async def _tree(seat: Seat, note: str) -> ToolOutput:
    page = seat.page
    tree = await page.aria_snapshot(mode="ai")
    shown = tree[:SNAPSHOT_CHARS]
    if len(shown) < len(tree):
        cut = len(tree) - len(shown)
        shown += f"\n[{cut:,} more characters of the tree are left out; click or open something narrower]"
    title = await page.title()
    head = f"URL: {page.url}\nTitle: {title}{note}"
    display: JsonObject = {"url": page.url, "title": title}
    return ToolOutput.text(f"{head}\n\n{shown or '(an empty page)'}", display=display)


async def _screenshot(seat: Seat) -> ToolOutput:
    page = seat.page
    await page.set_viewport_size({"width": WIDTH, "height": HEIGHT})  # a window may have asked for any size
    data = b64encode(await page.screenshot(type="jpeg", quality=85, scale="css", animations="disabled")).decode()
    text = f"What can be seen of {page.url}, {WIDTH} x {HEIGHT} pixels"
    image = ImageBlock("image/jpeg", data, WIDTH, HEIGHT)
    return ToolOutput((TextBlock(text), image), display={"url": page.url})


def _explained(call: BrowserCall, seat: Seat, problem: str) -> str:
    """Why it failed: where the guard refused an address, its own words."""
    if call.action in ("open", "back", "click", "type"):
        found = re.search(r"https?://([^/:\s]+)", problem)
        reason = seat.proxy.refusal(found.group(1)) if found else None
        if reason is not None:
            return f"{reason}."
    return f"{call.action} did not work: {problem}."

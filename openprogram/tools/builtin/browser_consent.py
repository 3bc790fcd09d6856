"""What a person allows of the acts on web pages: each by what is clicked or typed, or all on one site for a chat.

Imports Playwright, so it is imported when used.
"""

import json
import re
from dataclasses import dataclass
from typing import Final

from playwright.async_api import Error
from yarl import URL

from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import CallPreview, Effect
from openprogram.tools.builtin.browser_acts import element
from openprogram.tools.builtin.browser_config import BrowserCall
from openprogram.tools.builtin.browser_seat import Seat, first_line

_LOOK_MS: Final = 3_000
_SHOWN: Final = 300
_LINE: Final = re.compile(r"""\s*- '?(\w+(?: "(?:[^"\\]|\\.)*")?)((?: \[[^\]]*\])*)'?(:.*)?""")
"""A line of a tree: role and name, attributes such as the ref, text. What a page says is in the name and the text."""


@dataclass(frozen=True, slots=True)
class _Target:
    """The element of a call: the addresses of the page and of the frame that has it, its role with its name, and where
    it leads to if it is a link."""

    page: str
    frame: str
    element: str
    link: str


async def effect(call: BrowserCall, seat: Seat) -> Effect:
    """What the act is about: the site whose frame has the element. Raises `ToolFailure`."""
    site = _site((await _target(call, seat)).frame)
    return Effect(f"acts on {site or 'a page without a site'}", site)


async def preview(call: BrowserCall, seat: Seat) -> CallPreview:
    """What would be clicked or typed, as the page is now. Raises `ToolFailure`."""
    target = await _target(call, seat)
    shown: JsonObject = {"page": target.page}
    if target.frame != target.page:
        shown["frame"] = target.frame
    if call.action == "type":
        shown |= {"type": call.text, "into": target.element}
        if call.submit:
            shown["then"] = "press Enter"
    else:
        shown["click"] = target.element
    if target.link:
        shown["link"] = target.link
    return CallPreview("call", json.dumps(shown, indent=2, ensure_ascii=False))


async def _target(call: BrowserCall, seat: Seat) -> _Target:
    named = element(call, seat)
    try:
        handle = await named.element_handle(timeout=_LOOK_MS)
        frame = await handle.owner_frame()
        await handle.dispose()
        page = seat.page
        shown = described(await page.aria_snapshot(mode="ai"), call.ref)
    except Error as error:
        raise ToolFailure(f"{_gone(call)} ({first_line(error)}).") from error
    if shown is None:
        raise ToolFailure(f"{_gone(call)}.")
    return _Target(page.url, "" if frame is None else frame.url, *shown)


def described(tree: str, ref: str) -> tuple[str, str] | None:
    """The element of this ref: role, name and text, and where it leads to if it is a link. An element whose role or
    name has changed has another ref in a new tree."""
    lines = tree.split("\n")
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        found = _LINE.fullmatch(line)
        if found is not None and f"[ref={ref}]" in found[2]:
            link = below.strip().removeprefix("- /url:").strip() if below.strip().startswith("- /url:") else ""
            name = found[1].replace("''", "'") if line.lstrip().startswith("- '") else found[1]
            return f"{name}{found[3] or ''}".removesuffix(":")[:_SHOWN], link[:_SHOWN]
    return None


def _gone(call: BrowserCall) -> str:
    return f"There is nothing with the ref {call.ref} any more. Take a new tree"


def _site(address: str) -> str:
    """The origin of an address; empty where it has none of its own."""
    url = URL(address)
    return str(url.origin()) if url.scheme in ("http", "https") and url.host else ""

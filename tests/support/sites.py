"""A site for browsers under test, and what is to be seen of the browser."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web

from tests.support.loopback import Loopback

FORM = """<title>Form</title><form action=/done><label>Name <input name=who></label><button>Send</button></form>
<a href=/second>Second page</a>"""


def page(body: str, **headers: str) -> web.Response:
    """A page with this body."""
    return web.Response(text=f"<!doctype html><html lang=en>{body}</html>", content_type="text/html", headers=headers)


Answer = web.StreamResponse | Awaitable[web.StreamResponse]


class Site:
    """A site of the test's own: `pages` by path."""

    def __init__(self) -> None:
        self.pages: dict[str, Callable[[web.Request], Answer]] = {
            "/form": lambda _: page(FORM),
            "/second": lambda _: page("<title>Two</title><h1>The second page</h1>"),
            "/done": lambda request: page(f"<h1>Hello {request.query['who']}</h1>"),
            "/cookie": lambda request: page(f"<h1>cookies: {len(request.cookies)}</h1>", **{"Set-Cookie": "seen=1"}),
        }
        self.server = Loopback()

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        found = self.pages.get(request.path)
        answer = found(request) if found is not None else web.Response(status=404)
        return await answer if inspect.isawaitable(answer) else answer

    def hold(self, path: str) -> "Held":
        """From now on this page is not answered before the test says so."""
        held = self.pages[path] = Held(self.pages[path])
        return held

    @property
    def origin(self) -> str:
        return self.url("")

    def url(self, path: str, host: str = "site.test") -> str:
        """The address of a page."""
        return f"http://{host}:{self.server.port}{path}"


class Held:
    """A page whose request the test sees arrive, and answers when it likes."""

    def __init__(self, held: Callable[[web.Request], Answer]) -> None:
        self._held = held
        self.asked = asyncio.Event()
        self.answer = asyncio.Event()

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        self.asked.set()
        await self.answer.wait()
        answer = self._held(request)
        return await answer if inspect.isawaitable(answer) else answer


def ref_of(text: str, what: str) -> str:
    """The ref in the tree's line that has `what` in it."""
    line = next(line for line in text.split("\n") if what in line and "[ref=" in line)
    return line.partition("[ref=")[2].partition("]")[0]


def chromiums(proxy: str, *, main: bool = False) -> list[int]:
    """The processes of the browser behind this proxy: all, or the one that has started the others."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue  # it has ended meanwhile
            if f"--proxy-server={proxy}".encode() in line and not (main and b"--type=" in line):
                found.append(int(entry.name))
    return found

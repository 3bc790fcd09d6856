"""`web_fetch`: one page as text."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from ipaddress import ip_network
from typing import Final

from openprogram import __version__
from openprogram.core.errors import ToolFailure
from openprogram.core.jsonio import JsonObject
from openprogram.core.tooling import ToolContext, ToolLimits, ToolOutput, ToolSpec
from openprogram.net.addresses import AddressPolicy
from openprogram.net.errors import NetFailure
from openprogram.net.guarded import Fetched, FetchLimits, GuardedClient, Resolve, system_resolve
from openprogram.tools.builtin.extract import Extract, decoded, extract_page, is_html, pretty_json
from openprogram.tools.decorator import tool

_SHOWN: Final = 24_000
_WORKERS: Final = 2
_TEXT: Final = frozenset(
    {
        "",
        "application/ecmascript",
        "application/graphql",
        "application/javascript",
        "application/json",
        "application/ld+json",
        "application/sql",
        "application/toml",
        "application/x-javascript",
        "application/x-ndjson",
        "application/x-sh",
        "application/x-yaml",
        "application/xhtml+xml",
        "application/xml",
        "application/yaml",
    }
)
_ACCEPT: Final = "text/html,application/xhtml+xml,application/json;q=0.9,text/*;q=0.9,*/*;q=0.1"


@dataclass(frozen=True, slots=True)
class FetchConfig:
    """`allow` names networks (`192.168.1.0/24`) that may be fetched although they are not public."""

    allow: tuple[str, ...] = ()
    limits: FetchLimits = FetchLimits()  # noqa: RUF009 - a frozen value
    resolve: Resolve = system_resolve


def web_fetch_tool(config: FetchConfig) -> ToolSpec:
    """The tool."""
    client = GuardedClient(
        user_agent=f"Mozilla/5.0 (compatible; openprogram/{__version__})",
        policy=AddressPolicy(tuple(ip_network(text) for text in config.allow)),
        resolve=config.resolve,
        limits=config.limits,
    )
    # A pool of its own: extraction cannot be interrupted, so a slow page must not take the threads of others.
    workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="extract")

    @tool(
        permission="network",
        readonly=True,
        parallel_safe=True,
        residency="resident",
        presets=("coding", "research"),
        limits=ToolLimits(timeout_s=90.0),
    )
    async def web_fetch(context: ToolContext, url: str, start: int = 0) -> ToolOutput:
        """Get a web page, or a text or JSON file, as readable text.

        Args:
            url: Address, http or https
            start: Character to go on from when a former result was cut
        """
        try:
            fetched = await client.get(url, accept=is_text, accept_header=_ACCEPT)
        except NetFailure as failure:
            raise ToolFailure(_explained(failure)) from failure
        loop = asyncio.get_running_loop()
        extract = await loop.run_in_executor(workers, _extract, fetched)
        return _show(fetched, extract, max(0, start))

    return web_fetch


def is_text(content_type: str) -> bool:
    """Whether an answer of this type can be shown as text."""
    return (
        content_type.startswith("text/") or content_type in _TEXT or content_type.endswith(("+json", "+xml", "+yaml"))
    )


def _explained(failure: NetFailure) -> str:
    if failure.kind == "content_type" and "application/pdf" in failure.message:
        return f"{failure.message}: PDF files cannot be shown as text here."
    if failure.kind == "content_type":
        return f"{failure.message}: only pages and text can be fetched."
    return f"{failure.message}."


def _extract(fetched: Fetched) -> Extract:
    page = is_html(fetched.content_type, fetched.body)
    if b"\0" in fetched.body[:1024] and not fetched.body.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ToolFailure(f"{fetched.url} is a binary file: only pages and text can be fetched.")
    if fetched.body.startswith(b"%PDF-"):
        raise ToolFailure(f"{fetched.url} is a PDF file: those cannot be shown as text here.")
    source = decoded(fetched.body, fetched.charset, page=page)
    if page:
        return extract_page(source, fetched.url)
    is_json = fetched.content_type.endswith("json")
    return Extract(None, pretty_json(source) if is_json and not fetched.truncated else source)


def _show(fetched: Fetched, extract: Extract, start: int) -> ToolOutput:
    display: JsonObject = {"url": fetched.url, "title": extract.title, "status": fetched.status}
    text = extract.text
    part = text[start : start + _SHOWN]
    if not part and start:
        raise ToolFailure(f"The text of {fetched.url} has {len(text)} characters; nothing starts at {start}.")
    head = [f"URL: {fetched.url}"]
    if extract.title:
        head.append(f"Title: {extract.title}")
    if fetched.status != 200:
        head.append(f"Status: HTTP {fetched.status}")
    end = start + len(part)
    if end < len(text):
        head.append(f"Truncated: characters {start} to {end} of {len(text)}; go on with start {end}")
    elif fetched.truncated or not extract.whole:
        head.append("Truncated: the page is larger than is fetched; this is the end of what there is")
    else:
        head.append("Truncated: no")
    body = "\n".join(head) + "\n\n" + (part or "(no readable text)")
    if fetched.status >= 400:
        return ToolOutput.error(body, display=display)
    return ToolOutput.text(body, display=display)

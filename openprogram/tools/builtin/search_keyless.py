"""Search engines that need no key, through the ddgs library: last in the order, since they answer with captchas."""

import asyncio

from openprogram.tools.builtin.search_results import Hit, SearchFailure, distinct, hit

TITLE = "keyless"


async def search_keyless(query: str, count: int, timeout_s: float) -> tuple[Hit, ...] | SearchFailure:
    """Ask public engines, in a thread: the library blocks."""
    try:
        async with asyncio.timeout(2 * timeout_s):
            return await asyncio.to_thread(_search, query, count, timeout_s)
    except TimeoutError:
        return SearchFailure(TITLE, "timeout", "the public engines did not answer in time")


def _search(query: str, count: int, timeout_s: float) -> tuple[Hit, ...] | SearchFailure:
    from ddgs import DDGS  # noqa: PLC0415 - 50 ms that only those pay who use it
    from ddgs.exceptions import (  # noqa: PLC0415
        DDGSException,
        RatelimitException,
        TimeoutException,
    )

    try:
        found = DDGS(timeout=max(1, int(timeout_s))).text(query, max_results=count)
    except RatelimitException:
        return SearchFailure(TITLE, "rate_limited", "the public engines refuse more queries for now")
    except TimeoutException:
        return SearchFailure(TITLE, "timeout", "the public engines did not answer in time")
    except DDGSException as error:
        if "No results" in str(error):
            return ()
        return SearchFailure(TITLE, "unreachable", "no public engine could be asked")
    return distinct([hit(item.get("title"), item.get("href"), item.get("body"), None) for item in found], count)

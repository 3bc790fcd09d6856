"""`openprogram rebase`: have a chat's tools declared anew, through the server that runs (spec cache.md C4)."""

import argparse
import asyncio
import os
from dataclasses import dataclass
from typing import Final

from openprogram import __version__
from openprogram.app.settings import Flags, Settings, load_settings
from openprogram.cli.report import dollars, tokens
from openprogram.cli.serve import complain
from openprogram.core.errors import BadField, OpenProgramError
from openprogram.core.jsonio import JsonObject, encode
from openprogram.net.trusted import JsonRequest, request_json

_ANYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Where a server listens on all addresses, it is found on this one."""


@dataclass(frozen=True, slots=True)
class _Price:
    """The server's word on a rebase; None is not known."""

    tokens: int | None
    cost: float | None
    reason: str
    saved_tokens: int | None
    saved_cost: float | None


def run(options: argparse.Namespace) -> int:
    """Do the command; returns the exit status."""
    try:
        settings = load_settings(
            Flags(home=options.home, host=options.host, port=options.port, token=options.token), os.environ
        )
        ack = asyncio.run(_act(settings, options.session, price_only=options.price))
    except OpenProgramError as error:
        return complain(error)
    if options.json:
        print(encode(ack).decode())
    else:
        print("\n".join(_lines(_price(ack), asked=not options.price)))
    return 0


async def _act(settings: Settings, session_id: str, *, price_only: bool) -> JsonObject:
    """The server's ack. Raises `NetFailure` where none answers, `BadField` with the server's own words."""
    action = "preview_toggle" if price_only else "force_rebase"
    body: JsonObject = {"session_id": session_id, **({"toggle": "force_rebase"} if price_only else {})}
    host = _ANYWHERE.get(settings.host, settings.host)
    address = f"[{host}]" if ":" in host else host
    request = JsonRequest(
        "POST",
        f"http://{address}:{settings.port}/api/actions/{action}",
        {"Authorization": f"Bearer {settings.token}"},
        body=body,
    )
    reply = await request_json(request, user_agent=f"openprogram/{__version__}")
    value = reply.value if isinstance(reply.value, dict) else {}
    if value.get("type") != "ack":
        hint = value.get("hint")
        message = str(value.get("message") or f"the server at {address}:{settings.port} answered {reply.status}")
        raise BadField(message, hint=hint if isinstance(hint, str) else None)
    return value


def _price(ack: JsonObject) -> _Price:
    def number(name: str) -> float | None:
        value = ack.get(name)
        return value if isinstance(value, int | float) else None

    def count(name: str) -> int | None:
        value = number(name)
        return None if value is None else int(value)

    return _Price(count("tokens"), number("cost"), str(ack.get("reason")), count("saved_tokens"), number("saved_cost"))


def _lines(price: _Price, *, asked: bool) -> list[str]:
    if price.reason == "first_request":
        return ["Nothing was sent in this chat yet: its first request declares its tools."]
    head = "The next request declares the tools anew." if asked else "Declaring the tools anew with the next request:"
    return [
        head,
        f"costs about {tokens(price.tokens)} tokens now ({dollars(price.cost)})",
        f"saves about {tokens(price.saved_tokens)} a turn ({dollars(price.saved_cost)})",
    ]

"""What OpenAI refuses alike on both of its wire formats before it looks at any parameter (O1 and R1, O91 and R91)."""

from __future__ import annotations

from typing import Final

from openprogram.fakeapi.rules.base import Facts, Violation

KEY: Final = "a bearer key is sent, and it is not a refused one"
KEY_SOURCE: Final = "API errors: invalid authentication"
BODY: Final = "the body is a JSON object"
BODY_SOURCE: Final = "API errors: invalid_request_error"


def key(facts: Facts, missing: str) -> Violation | None:
    """A key is sent; `missing` is what the API says where there is none. One that begins with `bad` is refused."""
    sent = facts.headers.get("authorization", "").removeprefix("Bearer ").strip()
    if not sent:
        return Violation(missing, 401)
    if sent.startswith("bad"):
        return Violation(
            f"Incorrect API key provided: {sent[:3]}***. You can find your API key in your account's settings.",
            401,
            code="invalid_api_key",
        )
    return None


def readable(facts: Facts) -> Violation | None:
    """The body could be parsed."""
    if facts.unreadable is None:
        return None
    return Violation(
        f"We could not parse the JSON body of your request: {facts.unreadable}. (HINT: This likely means "
        "you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload.)"
    )

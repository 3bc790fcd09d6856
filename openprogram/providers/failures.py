"""From a fault to a failure that a person can act on (spec protocol.md P13). Pure."""

import re
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import Final

import orjson

from openprogram.core.jsonio import JsonObject, JsonValue
from openprogram.core.prompt import FailureAction, FailureCode, ProviderFailure
from openprogram.providers.failure_rules import ACTIONS, SENTENCES, code_of
from openprogram.providers.faults import (
    Cut,
    Declined,
    Fault,
    Garbled,
    Rejected,
    Reported,
    Stalled,
    Unreachable,
)

_SECRET: Final = re.compile(r"\b(?:sk|rk|pk|gsk|xai)-[\w*…-]{6,}|(?<=Bearer )\S{6,}", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^>]*>")
_MAX_TEXT: Final = 300
_SHORTEST_SECRET: Final = 6  # local servers are given "x" or "none", which would be found in every other word
_INVALID: Final = "invalid_request"
"""In an error's type: it stands for the status 400 where the error comes inside a stream."""
_BAD_REQUEST: Final = 400
_OWN_FAULT: Final = "{name} failed by a fault of its own."


@dataclass(frozen=True, slots=True)
class Site:
    """Where it happened: the endpoint's name and URL, and the key that must not be shown."""

    name: str
    base_url: str
    key: str | None


def failure_of(fault: Fault, site: Site, now: float) -> ProviderFailure:
    """The failure for people: what happened, at which endpoint, in the endpoint's own words; never with the key.

    `now` in Unix seconds is for endpoints that say when to come back by a date.
    """
    match fault:
        case Unreachable(reason):
            text = f"{site.name} cannot be reached at {site.base_url}. Is it running, and is the address right?"
            return _failure("endpoint_down", site, reason, text=text)
        case Stalled(seconds, began):
            text = f"{site.name} sent nothing for {seconds:.0f} seconds."
            return _failure("stream_cut" if began else "endpoint_down", site, text=text)
        case Rejected():
            return _rejected(fault, site, now)
        case Reported(error):
            kind, detail = _error_parts(error)
            status = _upstream_status(error) or (_BAD_REQUEST if _INVALID in kind else None)
            code = code_of(status, kind, detail)
            if code == "endpoint_down":
                return _failure(code, site, detail, text=_OWN_FAULT.format(name=site.name), action="retry")
            return replace(_failure(code, site, detail), status=status)
        case Cut(reason):
            return _failure("stream_cut", site, reason)
        case Garbled(detail):
            return _failure("bad_response", site, detail)
        case Declined(explanation):
            return _failure("refused", site, explanation or "")
        case _:
            raise TypeError(f"not a known fault: {type(fault).__name__}")


def redact(text: str, key: str | None) -> str:
    """`text` without the key, and without anything that looks like one: providers quote it in their errors."""
    if key and len(key) >= _SHORTEST_SECRET:
        text = text.replace(key, "…")
    return _SECRET.sub("…", text)


def retry_after(fault: Fault, now: float) -> float | None:
    """Seconds that the endpoint asks to wait, by `retry-after-ms` or `retry-after` (a number or an HTTP date)."""
    if not isinstance(fault, Rejected):
        return None
    for header, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = fault.headers.get(header, "").strip()
        if value.replace(".", "", 1).isdecimal():
            return float(value) * unit
    try:
        moment = parsedate_to_datetime(fault.headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, moment.timestamp() - now)


def _rejected(fault: Rejected, site: Site, now: float) -> ProviderFailure:
    kind, detail = _error_parts(_json(fault.body))
    if not kind and not detail:
        detail = _plain(fault.body)
    code = code_of(fault.status, kind, detail)
    text: str | None = None
    action: FailureAction | None = None
    if code == "endpoint_down" and 300 <= fault.status < 400:
        text = f"{site.name} sends its callers elsewhere (HTTP {fault.status}); check base_url, {site.base_url}."
    elif code == "endpoint_down" and fault.status in (404, 405):
        text = f"There is no such API at {site.base_url} (HTTP {fault.status}). Does base_url lack a /v1 at its end?"
    elif code == "endpoint_down":
        text, action = _OWN_FAULT.format(name=site.name), "retry"
    failure = _failure(code, site, detail, text=text, action=action)
    return ProviderFailure(failure.code, failure.message, failure.action, fault.status, retry_after(fault, now))


def _failure(
    code: FailureCode, site: Site, detail: str = "", *, text: str | None = None, action: FailureAction | None = None
) -> ProviderFailure:
    message = text or SENTENCES[code].format(name=site.name)
    told = redact(" ".join(detail.split()), site.key)
    if told:
        told = told if len(told) <= _MAX_TEXT else f"{told[: _MAX_TEXT - 1]}…"
        message = f"{message} ({told})"
    return ProviderFailure(code, message, action or ACTIONS[code])


def _json(body: bytes) -> JsonValue:
    try:
        value: JsonValue = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    return value


def _error_parts(value: JsonValue) -> tuple[str, str]:
    """`(type and code, text)` of an error, in any of the shapes that are about."""
    if isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        return "", value if isinstance(value, str) else ""
    inner = value.get("error")
    if isinstance(inner, str):
        return "", inner
    error = inner if isinstance(inner, dict) else value
    details = error.get("details")
    kinds = [error.get("type"), error.get("code"), error.get("status")]
    if isinstance(details, dict):
        kinds.append(details.get("error_code"))
    text = next((found for name in ("message", "detail", "msg") if (found := error.get(name))), "")
    return (
        " ".join(kind for kind in kinds if isinstance(kind, str)),
        text if isinstance(text, str) else orjson.dumps(text).decode(),
    )


def _upstream_status(error: JsonObject) -> int | None:
    """Gateways put the HTTP status of the server behind them into `code`."""
    inner = error.get("error")
    code = (inner if isinstance(inner, dict) else error).get("code")
    if isinstance(code, str) and code.isdecimal():
        code = int(code)
    return code if isinstance(code, int) and 400 <= code < 600 else None


def _plain(body: bytes) -> str:
    """The text of an error page."""
    return " ".join(_TAG.sub(" ", body[:4000].decode("utf-8", "replace")).split())

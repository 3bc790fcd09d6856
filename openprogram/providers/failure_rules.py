"""How to tell an endpoint's errors apart, as data.

The endpoints agree on little: the same mistake has another status, type, code, or only another sentence at each. A
status that can mean one thing only decides; elsewhere the words do, as far as they are plausible with that status.
"""

import re
from collections.abc import Iterator
from typing import Final

from openprogram.core.prompt import FailureAction, FailureCode

ACTIONS: Final[dict[FailureCode, FailureAction]] = {
    "bad_key": "fix_key",
    "no_credit": "add_credit",
    "rate_limited": "wait",
    "overloaded": "retry",
    "context_too_long": "compact",
    "model_not_found": "choose_model",
    "endpoint_down": "check_endpoint",
    "stream_cut": "retry",
    "bad_request": "none",
    "bad_response": "check_endpoint",
    "refused": "none",
}

SENTENCES: Final[dict[FailureCode, str]] = {
    "bad_key": "{name} refused the key. Check the key of this endpoint.",
    "no_credit": "The account behind {name} has no credit left, or has reached its spending limit.",
    "rate_limited": "{name} allows no further requests for the moment.",
    "overloaded": "{name} is overloaded.",
    "context_too_long": "The conversation is too long for this model.",
    "model_not_found": "{name} does not offer this model, or not to this key.",
    "endpoint_down": "{name} does not answer.",
    "stream_cut": "The answer was cut short before its end.",
    "bad_request": "{name} did not accept the request.",
    "bad_response": "What {name} sent cannot be read.",
    "refused": "{name} stopped this answer under its usage policy.",
}

_SIGNS: Final[tuple[tuple[FailureCode, re.Pattern[str]], ...]] = (
    (
        "no_credit",
        re.compile(
            r"""insufficient[_ ](quota|balance|funds|credit) | billing_error | credit\ balance | payment\ required
            | exceeded\ your\ current\ quota | spend(ing)?[_ ]limit | out\ of\ credits | requires\ more\ credits""",
            re.IGNORECASE | re.VERBOSE,
        ),
    ),
    (
        "bad_key",
        re.compile(
            r"""authentication_error | (invalid|incorrect)[_ ](x-)?api[-_ ]key | invalid\ x-api-key
            | no\ auth\ credentials""",
            re.IGNORECASE | re.VERBOSE,
        ),
    ),
    (
        "refused",
        re.compile(
            r"""content[_ ]policy | content[_ ]filter | content\ management\ policy | usage\ policies
            | flagged\ (as|for|by)""",
            re.IGNORECASE | re.VERBOSE,
        ),
    ),
    (
        "rate_limited",
        re.compile(r"rate[_ ]?limit | too\ many\ requests", re.IGNORECASE | re.VERBOSE),
    ),
    (
        "overloaded",
        re.compile(r"overloaded | server\ is\ busy | loading\ model", re.IGNORECASE | re.VERBOSE),
    ),
    (
        "context_too_long",
        re.compile(
            r"""context[_ ]length[_ ]exceeded | exceed_context_size | request_too_large | prompt\ (is\ )?too\ long
            | exceed\w*.{0,40}\bcontext\ (window|size|length|limit) | context\ window\ exceed
            | (greater|longer)\ than\ the\ (model'?s\ )?context | too\ large\ for\ model
            | maximum\ (context|prompt)\ length | maximum\ allowed\ input\ length | model\ token\ limit
            | (prompt|input)\ token\ count.{0,40}exceed | reduce\ the\ length\ of\ the\ messages
            | range\ of\ input\ length""",
            re.IGNORECASE | re.VERBOSE,
        ),
    ),
    (
        "model_not_found",
        re.compile(
            r"""model[_ ]not[_ ]found | (unknown|invalid|unsupported|no\ such)\ model | not\ a\ valid\ model
            | not_found_error\ model:
            | \bmodels?\b.{0,120}\b(not\ found|does\ not\ exist|not\ have\ access|not\ (supported|available))""",
            re.IGNORECASE | re.VERBOSE,
        ),
    ),
)
"""Looked for in type, code and text; the first that is found and plausible counts."""

_WORDS: Final = frozenset(code for code, _ in _SIGNS)
_CLIENT_ERROR: Final[frozenset[FailureCode]] = _WORDS - {"overloaded"}
_PLAUSIBLE: Final[dict[int, frozenset[FailureCode]]] = {
    400: _CLIENT_ERROR,
    403: frozenset(("no_credit", "refused", "rate_limited", "model_not_found")),
    404: frozenset(("model_not_found",)),
    422: _CLIENT_ERROR,
    429: frozenset(("no_credit", "overloaded")),
    500: frozenset(("overloaded", "context_too_long")),
}
_DECIDED: Final[dict[int, FailureCode]] = {
    401: "bad_key",
    402: "no_credit",
    403: "bad_key",
    404: "endpoint_down",
    405: "endpoint_down",
    408: "endpoint_down",
    413: "context_too_long",
    429: "rate_limited",
    503: "overloaded",
    529: "overloaded",
}


def code_of(status: int | None, kind: str, text: str) -> FailureCode:
    """The code for an error's HTTP status (None: it came inside a stream), its type and code, and its text."""
    found = next(_plausible(status, f"{kind} {text}"), None)
    if found is not None:
        return found
    if status is None or status < 400 or status >= 500:
        return _DECIDED.get(status or 500, "endpoint_down")
    return _DECIDED.get(status, "bad_request")


def _plausible(status: int | None, words: str) -> Iterator[FailureCode]:
    allowed = _WORDS if status is None else _PLAUSIBLE.get(status, frozenset())
    return (code for code, sign in _SIGNS if code in allowed and sign.search(words))

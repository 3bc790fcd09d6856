"""What can go wrong between a request and the end of its answer, whatever library carried it. Internal to this package.

    Fault
    ├── Unreachable      no connection, or it broke before there was an answer
    ├── Stalled          connected, but for too long not a byte came
    ├── Rejected         the endpoint answered with an HTTP error
    ├── Reported         the answer began, and an error came in its place
    ├── Cut              the answer began and ended before its end
    ├── Garbled          the answer is not what the API's format says
    └── Declined         the provider's filter stopped the answer

`failures.failure_of` makes a `ProviderFailure` of each: outside this package a failure is a value, never an exception.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from openprogram.core.jsonio import JsonObject


class Fault(Exception):
    """Base of the tree above."""


@dataclass(eq=False)
class Unreachable(Fault):
    """`reason` is the network's own text."""

    reason: str


@dataclass(eq=False)
class Stalled(Fault):
    """Nothing arrived for `seconds`; `began` says whether the answer had."""

    seconds: float
    began: bool


@dataclass(eq=False)
class Rejected(Fault):
    """Status, headers (names in lower case) and body of the error response."""

    status: int
    headers: Mapping[str, str]
    body: bytes = field(repr=False)


@dataclass(eq=False)
class Reported(Fault):
    """The error object as it stood in the stream."""

    error: JsonObject


@dataclass(eq=False)
class Cut(Fault):
    """The connection broke, or closed without the mark that ends an answer."""

    reason: str


@dataclass(eq=False)
class Garbled(Fault):
    """`detail` says what was found where what was expected."""

    detail: str


@dataclass(eq=False)
class Declined(Fault):
    """`explanation` is the provider's, where it gives one."""

    explanation: str | None = None

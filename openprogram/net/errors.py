"""What can go wrong on the network, as one class with a closed list of kinds."""

from typing import Literal

from openprogram.core.errors import OpenProgramError

NetFailureKind = Literal[
    "bad_url",  # not a URL that may be fetched at all
    "refused",  # the address, or what answers there, is not allowed
    "unreachable",  # no such host, nothing listens, the connection broke
    "timeout",
    "redirects",  # too many
    "content_type",  # an answer of a kind that was not asked for
    "bad_answer",  # not HTTP, not JSON, larger than allowed
]


class NetFailure(OpenProgramError):
    """A request came to nothing. The message is for people and names no credential."""

    code = "network_failed"

    def __init__(self, kind: NetFailureKind, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind

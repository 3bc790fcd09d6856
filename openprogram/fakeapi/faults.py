"""Faults on purpose: what real endpoints do on a bad day.

A fault comes from a script (`{"fault": {"kind": "overloaded"}}`) or from the model's name
(`demo-529`). Those of the first group are an HTTP error instead of an answer, those of the second
spoil an answer that has begun.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

ErrorKind: TypeAlias = Literal[
    "rate_limit",
    "overloaded",
    "server_error",
    "unauthorised",
    "forbidden",
    "no_credit",
    "quota",
    "model_not_found",
    "context_too_long",
]
StreamKind: TypeAlias = Literal["cut", "drop", "stall", "bad_json", "stream_error", "slow"]
FaultKind: TypeAlias = ErrorKind | StreamKind

STREAM_KINDS: Final[frozenset[str]] = frozenset({"cut", "drop", "stall", "bad_json", "stream_error", "slow"})


@dataclass(frozen=True, slots=True)
class Fault:
    """`after` deltas have been sent when a stream fault strikes; `delay` is the wait of `slow`, and
    `retry_after` the header of `rate_limit`, both in seconds."""

    kind: FaultKind
    after: int = 3
    delay: float = 3.0
    retry_after: float = 1.0


_BY_SUFFIX: Final[dict[str, FaultKind]] = {
    "429": "rate_limit",
    "529": "overloaded",
    "503": "overloaded",
    "500": "server_error",
    "401": "unauthorised",
    "403": "forbidden",
    "402": "no_credit",
    "quota": "quota",
    "404": "model_not_found",
    "context": "context_too_long",
    "cut": "cut",
    "drop": "drop",
    "stall": "stall",
    "badjson": "bad_json",
    "error": "stream_error",
    "slow": "slow",
}


def fault_of_model(name: str) -> Fault | None:
    """The fault that a model name such as `demo-429` stands for."""
    prefix, _, suffix = name.partition("-")
    kind = _BY_SUFFIX.get(suffix) if prefix == "demo" else None
    return Fault(kind) if kind is not None else None


def faulty_model_names() -> list[str]:
    """Every model name that stands for a fault."""
    return [f"demo-{suffix}" for suffix in _BY_SUFFIX]

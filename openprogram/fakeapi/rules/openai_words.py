"""Refusals that OpenAI words alike wherever they occur."""

from __future__ import annotations

from collections.abc import Iterable

from openprogram.fakeapi.rules.base import Violation


def missing(param: str) -> Violation:
    """A parameter is not there."""
    return Violation(f"Missing required parameter: '{param}'.", param=param, code="missing_required_parameter")


def wrong_type(param: str, expected: str) -> Violation:
    """A value of another type."""
    return Violation(f"Invalid type for '{param}': expected {expected}.", param=param, code="invalid_type")


def wrong_value(param: str, value: object, supported: Iterable[str]) -> Violation:
    """A value that is none of the few that there are."""
    names = [f"'{name}'" for name in supported]
    listed = ", ".join(names[:-1]) + (", and " if len(names) > 2 else " and " if len(names) == 2 else "") + names[-1]
    return Violation(f"Invalid value: '{value}'. Supported values are: {listed}.", param=param, code="invalid_value")


def too_long(param: str, most: int, length: int) -> Violation:
    """A string with too many characters."""
    return Violation(
        f"Invalid '{param}': string too long. Expected a string with maximum length {most}, but got a string with "
        f"length {length} instead.",
        param=param,
        code="string_above_max_length",
    )


def too_small(param: str, least: int, value: int) -> Violation:
    """A number below its minimum."""
    return Violation(
        f"Invalid '{param}': integer below minimum value. Expected a value >= {least}, but got {value} instead.",
        param=param,
        code="integer_below_min_value",
    )


def unsupported(param: str) -> Violation:
    """A parameter that the model does not know."""
    return Violation(
        f"Unsupported parameter: '{param}' is not supported with this model.",
        param=param,
        code="unsupported_parameter",
    )

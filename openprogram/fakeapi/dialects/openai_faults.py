"""Errors in OpenAI's words, the same on both of its wire formats."""

from __future__ import annotations

from typing import Final

from openprogram.fakeapi.rules.base import Violation
from openprogram.fakeapi.shapes import JsonObject

FAULTS: Final = {
    "rate_limit": Violation(
        "Rate limit reached for requests. Please try again in 1s.",
        429,
        "requests",
        code="rate_limit_exceeded",
    ),
    "overloaded": Violation(
        "The engine is currently overloaded, please try again later.", 503, "server_error", code="overloaded"
    ),
    "server_error": Violation(
        "The server had an error while processing your request. Sorry about that!", 500, "server_error"
    ),
    "unauthorised": Violation("Incorrect API key provided: ***.", 401, code="invalid_api_key"),
    "forbidden": Violation(
        "You have insufficient permissions for this operation.", 403, code="insufficient_permissions"
    ),
    "no_credit": Violation("Insufficient Balance", 402, "unknown_error"),
    "quota": Violation(
        "You exceeded your current quota, please check your plan and billing details.",
        429,
        "insufficient_quota",
        code="insufficient_quota",
    ),
    "context_too_long": Violation(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 "
        "tokens. Please reduce the length of the messages.",
        param="messages",
        code="context_length_exceeded",
    ),
}


def model_not_found(model: str) -> Violation:
    """The error for a model that is not there."""
    text = f"The model `{model}` does not exist or you do not have access to it."
    return Violation(text, 404, code="model_not_found")


def error_object(violation: Violation) -> JsonObject:
    """An error as JSON."""
    return {
        "error": {
            "message": violation.message,
            "type": violation.type,
            "param": violation.param,
            "code": violation.code,
        }
    }

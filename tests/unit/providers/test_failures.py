"""Errors as the endpoints send them, and what a person is told (P13)."""

from typing import Any

import orjson
import pytest

from openprogram.core.prompt import FailureAction, FailureCode, ProviderFailure
from openprogram.providers.failure_rules import ACTIONS, SENTENCES
from openprogram.providers.failures import Site, failure_of, redact, retry_after
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

KEY = "sk-ant-api03-verysecret"
SITE = Site("work", "http://127.0.0.1:8081/v1", KEY)


def told(fault: Fault, now: float = 0.0) -> ProviderFailure:
    return failure_of(fault, SITE, now)


def rejected(status: int, body: Any, **headers: str) -> Rejected:
    raw = body if isinstance(body, bytes) else orjson.dumps(body)
    return Rejected(status, {name.replace("_", "-"): value for name, value in headers.items()}, raw)


def anthropic(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def openai(message: str, kind: str | None = "invalid_request_error", code: Any = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


# What each endpoint really says; texts from the vendors' documents and the servers' sources.
ERRORS: list[tuple[int, Any, FailureCode]] = [
    (401, anthropic("authentication_error", "invalid x-api-key"), "bad_key"),
    (401, openai("Incorrect API key provided: sk-ab***yz.", code="invalid_api_key"), "bad_key"),
    (401, {"error": {"message": "No auth credentials found", "code": 401}}, "bad_key"),
    (403, anthropic("permission_error", "Your API key does not have permission"), "bad_key"),
    (400, openai("API key not valid. Please pass a valid API key.", code="invalid_api_key"), "bad_key"),
    (402, openai("Insufficient Balance", "unknown_error", "invalid_request_error"), "no_credit"),
    (402, {"error": {"message": "This request requires more credits", "code": 402}}, "no_credit"),
    (400, anthropic("invalid_request_error", "Your credit balance is too low to access the API."), "no_credit"),
    (429, openai("You exceeded your current quota", "insufficient_quota", "insufficient_quota"), "no_credit"),
    (
        429,
        openai("Rate limit reached for gpt-x in organization org on tokens per min", "tokens", "rate_limit_exceeded"),
        "rate_limited",
    ),
    (429, anthropic("rate_limit_error", "This request would exceed the rate limit for input tokens"), "rate_limited"),
    (429, b"", "rate_limited"),
    (
        429,
        openai("The engine is currently overloaded, please try again later", "engine_overloaded_error"),
        "overloaded",
    ),
    (529, anthropic("overloaded_error", "Overloaded"), "overloaded"),
    (503, openai("Loading model", "unavailable_error", 503), "overloaded"),
    (503, b"<html><body><h1>503 Service Unavailable</h1></body></html>", "overloaded"),
    (400, anthropic("invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"), "context_too_long"),
    (
        400,
        anthropic(
            "invalid_request_error", "input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000"
        ),
        "context_too_long",
    ),
    (413, anthropic("request_too_large", "Request exceeds the maximum size"), "context_too_long"),
    (
        400,
        openai("Your input exceeds the context window of this model.", code="context_length_exceeded"),
        "context_too_long",
    ),
    (
        400,
        openai(
            "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
            "BadRequestError",
            400,
        ),
        "context_too_long",
    ),
    (
        400,
        openai("the request exceeds the available context size, try increasing it", "exceed_context_size_error", 400),
        "context_too_long",
    ),
    (
        400,
        openai("The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
        "context_too_long",
    ),
    (
        400,
        {"error": "The number of tokens to keep from the initial prompt is greater than the context length."},
        "context_too_long",
    ),
    (400, openai("Please reduce the length of the messages or completion."), "context_too_long"),
    (404, anthropic("not_found_error", "model: claude-nope"), "model_not_found"),
    (
        404,
        openai("The model `gpt-nope` does not exist or you do not have access to it.", code="model_not_found"),
        "model_not_found",
    ),
    (404, openai('model "nope" not found, try pulling it first', "api_error"), "model_not_found"),
    (400, openai("nope is not a valid model ID", None, 400), "model_not_found"),
    (404, {"detail": "Not Found"}, "endpoint_down"),
    (404, b"404 page not found", "endpoint_down"),
    (301, b"", "endpoint_down"),
    (500, anthropic("api_error", "Internal server error"), "endpoint_down"),
    (502, b"<html>bad gateway</html>", "endpoint_down"),
    (
        400,
        openai("Invalid 'messages[2].tool_calls[0].id': string too long. Expected a string with maximum length 40"),
        "bad_request",
    ),
    (
        400,
        anthropic(
            "invalid_request_error",
            "max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens for claude-opus-5",
        ),
        "bad_request",
    ),
    (
        400,
        anthropic("invalid_request_error", "messages.1: `tool_use` ids were found without `tool_result` blocks"),
        "bad_request",
    ),
    (422, {"detail": [{"loc": ["body", "messages"], "msg": "field required"}]}, "bad_request"),
    (
        400,
        openai(
            "The response was filtered due to the prompt triggering content management policy", code="content_filter"
        ),
        "refused",
    ),
    (
        400,
        openai(
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy.", code="invalid_prompt"
        ),
        "refused",
    ),
]


@pytest.mark.parametrize(
    ("status", "body", "code"), ERRORS, ids=[f"{number}-{each[0]}-{each[2]}" for number, each in enumerate(ERRORS)]
)
def test_an_error_response_is_told_by_status_type_code_and_words(status: int, body: Any, code: FailureCode) -> None:
    failure = told(rejected(status, body))
    assert failure.code == code
    assert failure.status == status


@pytest.mark.parametrize(
    ("error", "code", "action"),
    [
        ({"type": "overloaded_error", "message": "Overloaded"}, "overloaded", "retry"),
        ({"type": "api_error", "message": "Internal server error"}, "endpoint_down", "retry"),
        ({"code": 429, "message": "Provider returned error"}, "rate_limited", "wait"),
        ({"code": "502", "message": "Provider returned error"}, "endpoint_down", "retry"),
        ({"message": "context_length_exceeded"}, "context_too_long", "compact"),
    ],
)
def test_an_error_inside_a_stream_is_told_too(error: Any, code: FailureCode, action: FailureAction) -> None:
    failure = told(Reported(error))
    assert (failure.code, failure.action) == (code, action)


@pytest.mark.parametrize(
    ("fault", "code", "action"),
    [
        (Unreachable("Connection refused"), "endpoint_down", "check_endpoint"),
        (Stalled(30, began=False), "endpoint_down", "check_endpoint"),
        (Stalled(30, began=True), "stream_cut", "retry"),
        (Cut("the stream ended without message_stop"), "stream_cut", "retry"),
        (Garbled("not JSON"), "bad_response", "check_endpoint"),
        (Declined("Not this."), "refused", "none"),
    ],
)
def test_faults_without_an_error_response(fault: Fault, code: FailureCode, action: FailureAction) -> None:
    failure = told(fault)
    assert (failure.code, failure.action, failure.status) == (code, action, None)


def test_the_message_says_what_happened_where_and_what_the_endpoint_said() -> None:
    failure = told(rejected(404, anthropic("not_found_error", "model: claude-nope")))
    assert failure.message == "work does not offer this model, or not to this key. (model: claude-nope)"
    assert "http://127.0.0.1:8081/v1" in told(Unreachable("Connection refused")).message
    assert "/v1" in told(rejected(404, b"404 page not found")).message


def test_every_code_has_an_action_and_a_sentence() -> None:
    assert set(ACTIONS) == set(SENTENCES)
    assert {code for _, _, code in ERRORS} | {"stream_cut", "bad_response"} == set(ACTIONS)


def test_a_fault_of_the_endpoint_is_worth_a_retry_and_a_wrong_address_is_not() -> None:
    assert told(rejected(502, b"")).action == "retry"
    assert told(rejected(404, b"")).action == "check_endpoint"


@pytest.mark.parametrize("status", [400, 401, 429, 500])
def test_no_message_holds_the_key(status: int) -> None:
    failure = told(rejected(status, openai(f"Bad key {KEY} in header Authorization: Bearer {KEY}")))
    assert KEY not in failure.message
    assert "verysecret" not in failure.message


def test_what_looks_like_a_key_is_hidden_even_if_it_is_another_one() -> None:
    assert (
        redact("Incorrect API key provided: sk-proj-ab***yz. Find yours", None)
        == "Incorrect API key provided: …. Find yours"
    )
    assert redact("Bearer abcdef123456", None) == "Bearer …"
    assert redact("ask-me-anything about risk-averse tokens", None) == "ask-me-anything about risk-averse tokens"


def test_a_long_error_page_is_shortened_to_its_text() -> None:
    failure = told(rejected(502, b"<html><title>x</title>" + b"<p>words</p> " * 500))
    assert "<" not in failure.message
    assert len(failure.message) < 450


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry_after": "7"}, 7.0),
        ({"retry_after": "0.5"}, 0.5),
        ({"retry_after": "soon"}, None),
        ({"retry_after": "-1"}, None),
        ({"retry_after_ms": "1500", "retry_after": "9"}, 1.5),
        ({"retry_after": "Thu, 01 Jan 2026 00:00:30 GMT"}, 30.0),
        ({"retry_after": "Wed, 31 Dec 2025 23:00:00 GMT"}, 0.0),
    ],
)
def test_the_time_to_come_back_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    fault = rejected(429, b"", **headers)
    assert retry_after(fault, now=1_767_225_600.0) == seconds
    assert failure_of(fault, SITE, 1_767_225_600.0).retry_after_s == seconds

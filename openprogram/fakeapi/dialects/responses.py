"""OpenAI Responses on the wire: the response object, whole answers and errors. The stream is `responses_frames`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import orjson

from openprogram.fakeapi.cache.segments import Rendering, SegmentTable
from openprogram.fakeapi.conversation import Conversation
from openprogram.fakeapi.dialects import responses_frames, responses_prompt
from openprogram.fakeapi.dialects.base import Exchange, Frame, RequestOptions
from openprogram.fakeapi.dialects.openai_faults import FAULTS, error_object, model_not_found
from openprogram.fakeapi.dialects.responses_items import items, response_object
from openprogram.fakeapi.models import Api
from openprogram.fakeapi.response_tools import loadable, search_mode
from openprogram.fakeapi.rules.base import Violation
from openprogram.fakeapi.shapes import JsonObject, child

_ECHOED: Final[dict[str, Any]] = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "prompt_cache_key": None,
    "reasoning": {"effort": None, "summary": None},
    "service_tier": "default",
    "store": True,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
}


class ResponsesDialect:
    """`POST /v1/responses`. Nothing is stored, whatever `store` says."""

    api: Api = "responses"
    call_prefix = "call_"
    message_prefix = "resp_"

    def options(self, body: JsonObject) -> RequestOptions:
        """The common parameters. The answer repeats most of the request's own."""
        echo = {name: body.get(name) if body.get(name) is not None else usual for name, usual in _ECHOED.items()}
        if body.get("prompt_cache_options") is not None:
            options = body["prompt_cache_options"]
            echo["prompt_cache_options"] = {
                **options,
                "mode": options.get("mode") or "implicit",
                "ttl": options.get("ttl") or "30m",
            }
        return RequestOptions(
            stream=body.get("stream") is True,
            max_output=body.get("max_output_tokens"),
            include_usage=True,
            show_thinking=child(body, "reasoning").get("summary") is not None,
            thinks=responses_prompt.thinking_mode(body) != "off",
            echo=echo,
            client_search=search_mode(body.get("tools")) == "client",
            loadable={name: function.definition for name, function in loadable(body).items()},
            search_sources="web_search_call.action.sources" in (body.get("include") or ()),
        )

    def conversation(self, body: JsonObject) -> Conversation:
        """A valid request as the demo model sees it."""
        return responses_prompt.conversation(body)

    def render(self, body: JsonObject, table: SegmentTable) -> Rendering:
        """A valid request as tokenised segments."""
        return Rendering(responses_prompt.prompt(body, table))

    def frames(self, exchange: Exchange) -> Iterator[Frame]:
        """The stream of events."""
        return responses_frames.frames(exchange)

    def whole(self, exchange: Exchange) -> bytes:
        """The response as one body."""
        return orjson.dumps(response_object(exchange, items(exchange), ended=True))

    def error_body(self, violation: Violation, request_id: str) -> bytes:
        """`{"error": {"message", "type", "param", "code"}}`."""
        return orjson.dumps(error_object(violation))

    def error_frame(self, violation: Violation, request_id: str) -> bytes:
        """The `error` event."""
        error = {
            "type": "error",
            "code": violation.code or violation.type,
            "message": violation.message,
            "param": violation.param,
            "sequence_number": 0,
        }
        return b"event: error\ndata: " + orjson.dumps(error) + b"\n\n"

    def broken_frame(self) -> bytes:
        """A delta whose JSON ends too early."""
        return b'event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"brok\n\n'

    def fault(self, kind: str, model: str) -> Violation:
        """The error of that kind in this API's words."""
        if kind == "model_not_found":
            return model_not_found(model)
        if kind == "context_too_long":
            return Violation(
                "Your input exceeds the context window of this model. Please adjust your input and try again.",
                param="input",
                code="context_length_exceeded",
            )
        return FAULTS[kind]

"""The providers' endpoints: messages, completions, token counts and model lists."""

from __future__ import annotations

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from openprogram.fakeapi.dialects.anthropic import AnthropicDialect
from openprogram.fakeapi.dialects.base import Dialect
from openprogram.fakeapi.dialects.chat import ChatDialect
from openprogram.fakeapi.dialects.responses import ResponsesDialect
from openprogram.fakeapi.exchange import Refusal, examine, prepare
from openprogram.fakeapi.models import Model, find_model
from openprogram.fakeapi.play import AnswerResponse
from openprogram.fakeapi.shapes import JsonObject
from openprogram.fakeapi.state import FakeState

ANTHROPIC = AnthropicDialect()
CHAT = ChatDialect()
RESPONSES = ResponsesDialect()

_RELEASED = "2026-01-01T00:00:00Z"
_RELEASED_UNIX = 1_767_225_600


def provider_routes(state: FakeState) -> list[Route]:
    """The routes of every wire format."""
    endpoints = _Endpoints(state)
    return [
        Route("/v1/messages", endpoints.messages, methods=["POST"]),
        Route("/v1/messages/count_tokens", endpoints.count_tokens, methods=["POST"]),
        Route("/v1/chat/completions", endpoints.completions, methods=["POST"]),
        Route("/v1/responses", endpoints.responses, methods=["POST"]),
        Route("/v1/models", endpoints.models, methods=["GET"]),
        Route("/v1/models/{name}", endpoints.model, methods=["GET"]),
    ]


class _Endpoints:
    def __init__(self, state: FakeState) -> None:
        self._state = state

    async def messages(self, request: Request) -> Response:
        """Anthropic Messages."""
        return await self._answer(request, ANTHROPIC)

    async def completions(self, request: Request) -> Response:
        """OpenAI Chat Completions."""
        return await self._answer(request, CHAT)

    async def responses(self, request: Request) -> Response:
        """OpenAI Responses."""
        return await self._answer(request, RESPONSES)

    async def _answer(self, request: Request, dialect: Dialect) -> Response:
        state = self._state
        raw = await request.body()
        record = state.requests.add(dialect.api, request.url.path, dict(request.headers), raw)
        prepared = prepare(state, dialect, record, raw)
        if isinstance(prepared, Refusal):
            record.status = prepared.violation.status
            record.rule = prepared.rule
            record.error = prepared.violation.message
            state.signal.notify()
            return _refused(dialect, prepared, record.number)
        record.status = 200
        return AnswerResponse(state, record, prepared)

    async def count_tokens(self, request: Request) -> Response:
        """Anthropic's token count: the same rendering that a message request is billed by."""
        raw = await request.body()
        headers = dict(request.headers)
        record = self._state.requests.add("count_tokens", request.url.path, headers, raw)
        counted = examine(self._state, ANTHROPIC, headers, raw, counting=True)
        if isinstance(counted, Refusal):
            record.status, record.rule = counted.violation.status, counted.rule
            return _refused(ANTHROPIC, counted, record.number)
        record.status = 200
        return _json({"input_tokens": counted.rendering.size})

    async def models(self, request: Request) -> Response:
        """The model list, in the format that the headers ask for."""
        anthropic = "anthropic-version" in request.headers
        api = ANTHROPIC.api if anthropic else CHAT.api
        found = [find_model(name, api) for name in self._state.listed_models]
        models = [model for model in found if model is not None]
        if not anthropic:
            return _json({"object": "list", "data": [_openai_model(model) for model in models]})
        return _json(
            {
                "data": [_anthropic_model(model) for model in models],
                "has_more": False,
                "first_id": models[0].id if models else None,
                "last_id": models[-1].id if models else None,
            }
        )

    async def model(self, request: Request) -> Response:
        """One model, in the format that the headers ask for."""
        dialect: Dialect = ANTHROPIC if "anthropic-version" in request.headers else CHAT
        name = request.path_params["name"]
        model = find_model(name, dialect.api)
        if model is None:
            return _refused(dialect, Refusal(dialect.fault("model_not_found", name)), 0)
        return _json(_anthropic_model(model) if dialect.api == "anthropic" else _openai_model(model))


def _refused(dialect: Dialect, refusal: Refusal, number: int) -> Response:
    request_id = f"req_{number:024d}"
    headers = {"request-id": request_id, "x-request-id": request_id}
    if refusal.retry_after is not None:
        headers["retry-after"] = f"{refusal.retry_after:g}"
    return Response(
        dialect.error_body(refusal.violation, request_id),
        refusal.violation.status,
        headers,
        "application/json",
    )


def _json(value: JsonObject) -> Response:
    return Response(orjson.dumps(value), media_type="application/json")


def _anthropic_model(model: Model) -> JsonObject:
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.display_name,
        "created_at": _RELEASED,
        "lifecycle": "active",
        "max_input_tokens": model.context_window,
        "max_tokens": model.max_output,
    }


def _openai_model(model: Model) -> JsonObject:
    # `context_length` is what several compatible servers add; OpenAI itself does not say.
    return {
        "id": model.id,
        "object": "model",
        "created": _RELEASED_UNIX,
        "owned_by": "openprogram",
        "context_length": model.context_window,
    }

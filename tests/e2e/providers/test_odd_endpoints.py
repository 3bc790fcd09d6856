"""Endpoints that answer in ways no API documents, over real HTTP."""

import asyncio

import orjson
import pytest

from openprogram.core.errors import NoEndpoint
from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import TextBlock, ToolUseBlock
from openprogram.core.prompt import Api, FailureCode, ProviderRequest, ResponseStarted
from tests.support.histories import message, result
from tests.support.providers import collect, completed, failed, only, provider_at, request
from tests.support.sse import (
    chat_stream,
    delta,
    message_end,
    message_start,
    messages_stream,
    text_block,
)
from tests.support.stub_endpoint import sends, sends_and_stays, stub_endpoint

HELLO = request(message("user", "Hello"))
STREAMS: dict[Api, bytes] = {
    "anthropic": messages_stream(message_start(input_tokens=1), *text_block(0, "Hi"), *message_end("end_turn")),
    "openai-chat": chat_stream(delta(content="Hi"), delta("stop")),
    "openai-responses": messages_stream(
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message", "content": []}},
        {"type": "response.output_text.delta", "output_index": 0, "item_id": "msg_1", "delta": "Hi"},
        {"type": "response.completed", "response": {"status": "completed", "output": []}},
    ),
}


@pytest.mark.parametrize(
    ("old", "new"), [(b"\n", b"\r\n"), (b"\n", b"\r"), (b"data: ", b"data:")], ids=["crlf", "cr", "tight"]
)
async def test_every_dialect_of_event_streams_is_read(api: Api, old: bytes, new: bytes) -> None:
    async with (
        stub_endpoint(sends(STREAMS[api].replace(old, new))) as stub,
        provider_at(api, stub.base_url) as provider,
    ):
        assert completed(await collect(provider, HELLO)).blocks == (TextBlock("Hi"),)


async def test_connections_are_used_again_after_a_whole_answer(api: Api) -> None:
    async with stub_endpoint(sends(STREAMS[api])) as stub, provider_at(api, stub.base_url) as provider:
        for _ in range(3):
            completed(await collect(provider, HELLO))
        assert (len(stub.requests), len(stub.connections)) == (3, 1)


async def test_an_endpoint_that_holds_a_finished_response_open_does_not_hold_up_the_turn(api: Api) -> None:
    left = asyncio.Event()
    async with (
        stub_endpoint(sends_and_stays(STREAMS[api], left.wait)) as stub,
        provider_at(api, stub.base_url) as provider,
    ):
        assert completed(await collect(provider, HELLO)).blocks == (TextBlock("Hi"),)
        left.set()


@pytest.mark.parametrize(
    ("content_type", "body"),
    [("application/json", b'{"choices":[{"message":{"content":"Hi"}}]}'), ("text/html", b"<html>Sign in</html>")],
)
async def test_a_good_status_without_a_stream_is_told(api: Api, content_type: str, body: bytes) -> None:
    async with (
        stub_endpoint(sends(body, content_type=content_type)) as stub,
        provider_at(api, stub.base_url) as provider,
    ):
        end = failed(await collect(provider, HELLO))
        assert (end.failure.code, end.failure.action) == ("bad_response", "check_endpoint")
        assert content_type in end.failure.message


async def test_an_empty_stream_is_a_cut(api: Api) -> None:
    async with stub_endpoint(sends(b"")) as stub, provider_at(api, stub.base_url) as provider:
        assert failed(await collect(provider, HELLO)).failure.code == "stream_cut"


@pytest.mark.parametrize(("status", "code"), [(404, "endpoint_down"), (500, "endpoint_down"), (401, "bad_key")])
async def test_an_error_page_is_told_in_words_without_tags(api: Api, status: int, code: FailureCode) -> None:
    page = b"<html><h1>Oh no</h1></html>"
    async with (
        stub_endpoint(sends(page, status=status, content_type="text/html")) as stub,
        provider_at(api, stub.base_url) as provider,
    ):
        failure = failed(await collect(provider, HELLO)).failure
        assert (failure.code, failure.status) == (code, status)
        assert "(Oh no)" in failure.message


async def test_the_key_follows_no_redirect(api: Api) -> None:
    async with stub_endpoint(sends(STREAMS[api])) as elsewhere:
        handler = sends(b"", status=307, Location=f"{elsewhere.base_url}/v1/messages")
        async with stub_endpoint(handler) as stub, provider_at(api, stub.base_url) as provider:
            failure = failed(await collect(provider, HELLO)).failure
            assert (failure.code, failure.action) == ("endpoint_down", "check_endpoint")
        assert elsewhere.requests == []


async def test_no_proxy_stands_between_this_machine_and_itself(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    async with stub_endpoint(sends(STREAMS[api])) as stub, provider_at(api, stub.base_url) as provider:
        completed(await collect(provider, HELLO))


async def test_a_refused_key_is_told_when_models_are_listed(api: Api) -> None:
    handler = sends(b'{"error":{"message":"no"}}', status=401, content_type="application/json")
    async with stub_endpoint(handler) as stub, provider_at(api, stub.base_url) as provider:
        with pytest.raises(NoEndpoint, match="e refused the key"):
            await provider.models()


@pytest.mark.parametrize("body", [b"[]", b"<html>", b""])
async def test_a_list_of_models_that_is_none_is_told(api: Api, body: bytes) -> None:
    async with (
        stub_endpoint(sends(body, content_type="application/json")) as stub,
        provider_at(api, stub.base_url) as provider,
    ):
        with pytest.raises(NoEndpoint, match="cannot be read"):
            await provider.models()


async def test_an_event_without_end_is_refused_before_it_fills_the_memory(api: Api) -> None:
    async with stub_endpoint(sends(b"data: " + b"x" * 34_000_000)) as stub, provider_at(api, stub.base_url) as provider:
        assert failed(await collect(provider, HELLO)).failure.code == "bad_response"


async def test_a_fault_of_our_own_is_the_last_event_too(api: Api) -> None:
    unsendable = request(message("user", "Hello"), model="\ud800")
    async with provider_at(api, "http://127.0.0.1:1") as provider:
        end = failed(await collect(provider, unsendable))
    assert (end.failure.code, end.failure.action) == ("bad_response", "none")


async def test_the_same_values_are_the_same_bytes_in_whatever_order_they_are_kept(api: Api) -> None:  # C13
    def sent(arguments: JsonObject) -> ProviderRequest:
        used = message("assistant", ToolUseBlock("c_1", "read", arguments))
        return request(message("user", "Hello ü"), used, message("tool", result("c_1")))

    async with stub_endpoint(sends(STREAMS[api])) as stub, provider_at(api, stub.base_url) as provider:
        await collect(provider, sent({"a": 1, "b": {"x": 1, "y": 0.5}}))
        await collect(provider, sent({"b": {"y": 0.5, "x": 1}, "a": 1}))
        first, second = [await received.read() for received in stub.requests]
    assert first == second
    assert orjson.loads(first)["stream"] is True


REFUSALS = {
    "named": {"type": "invalid_request_error", "message": "messages.1: role 'system' is not supported on this model"},
    "numbered": {"code": 400, "message": "Provider returned error"},
}


@pytest.mark.parametrize("error", REFUSALS.values(), ids=REFUSALS)
@pytest.mark.parametrize(
    "head", [b": PROCESSING\n\n", b'event: ping\ndata: {"type":"ping"}\n\n'], ids=["comment", "ping"]
)
async def test_a_good_status_is_no_answer_yet_where_the_stream_then_tells_of_a_refusal(
    api: Api, head: bytes, error: JsonObject
) -> None:  # C9: gateways keep the connection open while they ask, and the API behind them refuses
    body = head + b"data: %b\n\n" % orjson.dumps({"type": "error", "error": error})
    async with stub_endpoint(sends(body)) as stub, provider_at(api, stub.base_url) as provider:
        events = await collect(provider, HELLO)
    assert only(events, ResponseStarted) == []
    failure = failed(events).failure
    assert (failure.code in ("bad_request", "model_not_found"), failure.status) == (True, 400)


async def test_what_an_endpoint_tells_of_the_prompt_is_known_while_it_still_answers() -> None:  # C17
    usage = {"input_tokens": 7, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 1}
    stream = messages_stream(message_start(**usage), *text_block(0, "Half"))
    async with (
        stub_endpoint(sends(stream)) as stub,
        provider_at("anthropic", stub.base_url) as provider,
    ):
        events = await collect(provider, HELLO)
    [started] = only(events, ResponseStarted)
    assert started.usage == failed(events).usage
    assert (started.usage.prompt, started.usage.cache_read) == (127, 100)
    assert started.usage.output is None  # what it wrote until then nobody has told

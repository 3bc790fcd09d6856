"""No key and no token in any sink: database, events, log, metrics, frames, error texts, page, commands (R18, R22)."""

from pathlib import Path
from typing import Final

import aiohttp
import pytest

from tests.support.conversation import Chat, call_block, sent, text_block
from tests.support.fake import FakeApi
from tests.support.server import Server, running_server
from tests.support.stub_endpoint import StubEndpoint, sends, stub_endpoint
from tests.support.ws import Client

pytestmark = pytest.mark.asyncio(loop_scope="session")

CANARIES: Final = {
    "OPENAI_API_KEY": "sk-canary0openai0000000000",
    "ANTHROPIC_API_KEY": "canary-of-anthropic-0001",
    "TAVILY_API_KEY": "tvly-canary-0002",
    "BRAVE_API_KEY": "canary-of-brave-0003",
    "EXA_API_KEY": "canary-of-exa-0004",
    "SERPER_API_KEY": "canary-of-serper-0005",
    "CANARY_KEY": "canary-by-key-env-0006",
}
WRITTEN: Final = "canary-in-config-0007"
TOKEN: Final = "the-token-of-the-tests"


async def sinks(server: Server, client: Client) -> dict[str, str]:
    """Everything that the server has put anywhere, by the place; `config.toml` is the user's own."""
    headers = {"authorization": f"Bearer {server.token}"}
    async with aiohttp.ClientSession(server.url, headers=headers) as http:
        async with http.get("/metrics") as response:
            metrics = await response.text()
        async with http.get("/") as response:
            page = await response.text() + str(response.headers)
    files = {
        str(path.relative_to(server.home)): path.read_bytes().decode("utf-8", "replace")
        for path in server.home.rglob("*")
        if path.is_file() and path.name != "config.toml"
    }
    return files | {"frames": str(client.frames), "log": server.log, "metrics": metrics, "page": page}


def assert_clean(places: dict[str, str], *secrets: str) -> None:
    for place, text in places.items():
        for secret in secrets:
            assert secret not in text, (secret, place)


async def test_keys_are_in_no_sink(tmp_path: Path, fake: FakeApi) -> None:
    told = f'{{"error": {{"message": "bad key {WRITTEN} in Bearer {WRITTEN}", "type": "invalid_request_error"}}}}'
    refusing = sends(told.encode(), status=401, content_type="application/json")
    async with stub_endpoint(refusing) as quoting:
        config = _config(quoting, fake)
        async with running_server(tmp_path, fake, api="both", config=config, environment=CANARIES) as server:
            async with server.client() as client:
                for wire in ("openai", "anthropic", "by_env"):
                    chat = await Chat.create(client, wire, mode="auto")
                    shell = call_block("bash", command="env; cat /proc/$PPID/environ; cat /proc/self/environ")
                    await fake.script({"blocks": [text_block("I look."), shell]})
                    await fake.say("That is all.")
                    assert (await chat.turn("What is in the environment?"))["reason"] == "done"
                chat = await Chat.create(client, "quoting")
                finished = await chat.turn("hello")
                assert finished["error"]["code"] == "bad_key"
                await server.kill()
            await server.start()
            async with server.client() as again:
                await Chat(again, chat.id).snapshot()
                places = await sinks(server, again) | {"first frames": str(client.frames)}
    assert_clean(places, *CANARIES.values(), WRITTEN, TOKEN)
    keys = {request.record["headers"].get("authorization", "") for request in await sent(fake)}
    assert f"Bearer {CANARIES['OPENAI_API_KEY']}" in keys  # they were really used
    assert f"Bearer {CANARIES['CANARY_KEY']}" in keys
    assert quoting.requests[-1].headers["authorization"] == f"Bearer {WRITTEN}"


def _config(quoting: StubEndpoint, fake: FakeApi) -> str:
    return (
        f'[endpoints.quoting]\napi = "openai-chat"\nbase_url = "{quoting.base_url}"\nkey = "{WRITTEN}"\n'
        'models = ["demo"]\n'
        f'[endpoints.by_env]\napi = "openai-chat"\nbase_url = "{fake.openai_url}"\nkey_env = "CANARY_KEY"\n'
        'models = ["demo"]\n'
    )


async def test_the_token_made_by_the_program_is_readable_by_its_owner_only_and_in_no_sink(
    tmp_path: Path, fake: FakeApi
) -> None:
    async with running_server(tmp_path, fake) as server:
        await server.stop()
        server.token = ""
        await server.start()
        path = server.home / "token"
        server.token = path.read_text().strip()
        assert path.stat().st_mode & 0o777 == 0o600
        assert server.database.stat().st_mode & 0o777 == 0o600
        async with server.client() as client:
            await fake.say("Yes.")
            assert (await (await Chat.create(client, "openai")).turn("hello"))["reason"] == "done"
            places = await sinks(server, client)
    del places["token"]
    assert_clean(places, server.token)


async def test_the_log_tells_no_content(tmp_path: Path, fake: FakeApi) -> None:  # R22
    async with running_server(tmp_path, fake) as server, server.client() as client:
        await fake.script(
            {"blocks": [text_block("The answer is confidential."), call_block("bash", command="echo 4711")]}
        )
        await fake.script({"fault": {"kind": "context_too_long"}})
        chat = await Chat.create(client, "openai", mode="auto")
        await chat.turn("My secret diary")
        await client.send_raw('{"action":"chat","id":"x","text":["My secret diary"]}')
        await client.frame("error")
        log = server.log
    for content in ("diary", "confidential", "4711"):
        assert content not in log

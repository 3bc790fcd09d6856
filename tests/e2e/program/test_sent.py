"""What was sent can be had back as it arrived at the endpoint, in both wire formats (spec cache.md C18, C20)."""

import orjson
import pytest

from openprogram.core.jsonio import canonical
from openprogram.ledger.body import join
from openprogram.ledger.log import outlines, parts_of
from openprogram.store.sqlite import SqliteStore
from tests.support.conversation import Chat, call_block, sent
from tests.support.fake import FakeApi
from tests.support.server import Server
from tests.support.ws import Client

pytestmark = pytest.mark.asyncio(loop_scope="session")


async def test_every_request_comes_back_byte_for_byte_and_each_part_was_stored_once(
    client: Client, fake: FakeApi, server: Server, wire: str
) -> None:  # C20
    chat = await Chat.create(client, wire, mode="auto")
    await fake.script({"blocks": [call_block("list", "call_1")]})
    for answer in ("One.", "Two."):
        await fake.say(answer)
    await chat.turn("first")
    await chat.act("toggle_web_search", value=True)
    await chat.turn("second")
    store = await SqliteStore.open(server.database)
    try:
        records = await store.sent(chat.id)
        wanted = {digest for record in records for digest in (*record.digests, record.settings)}
        segments = await store.segments(chat.id, wanted)
    finally:
        await store.aclose()
    arrived = [orjson.dumps(request.record["body"]) for request in await sent(fake)]
    assert [canonical(join(parts_of(*each, segments))) for each in outlines(records)] == arrived
    assert [record.kept > 0 for record in records] == [False, True, True]
    digests = [digest for record in records for digest in record.digests]
    assert len(digests) == len(set(digests)) == len(segments) - len({record.settings for record in records})


async def test_no_key_and_no_header_is_in_what_was_stored(client: Client, fake: FakeApi, server: Server) -> None:  # C20
    for wire in ("openai", "anthropic"):
        chat = await Chat.create(client, wire)
        await fake.say("Yes.")
        await chat.turn("first")
        store = await SqliteStore.open(server.database)
        try:
            [record] = await store.sent(chat.id)
            segments = await store.segments(chat.id, (*record.digests, record.settings))
        finally:
            await store.aclose()
        everything = b"\n".join((*segments.values(), canonical(record)))
        assert b"first" in everything
        for secret in (b"Bearer", b"x-api-key", b"authorization", b"OPENAI_API_KEY"):
            assert secret not in everything

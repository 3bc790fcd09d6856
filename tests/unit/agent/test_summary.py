"""What of a model's answer is taken for the summary of a chat (spec cache.md C16)."""

from dataclasses import replace

import pytest

from openprogram.core.compaction import Compacted
from openprogram.core.messages import Block, HostedBlock, TextBlock
from openprogram.core.prompt import ResponseStarted
from openprogram.core.usage import Usage
from tests.support.agent import Chat, FakeTool
from tests.support.deferral import say_more
from tests.support.script import MODEL, ScriptedProvider, completed, say, use

_FIRST = TextBlock("Let me look.")


@pytest.mark.parametrize("blocks", [(_FIRST, use("look")), (_FIRST, HostedBlock("pause"))], ids=["call", "search"])
async def test_what_leads_to_a_call_or_a_search_is_no_summary_and_one_is_asked_for_plainly(
    blocks: tuple[Block, ...],
) -> None:
    begun = (ResponseStarted(), completed(*blocks))
    full = say("Long ago. " * 800, usage=Usage(uncached=5_500, cache_read=0, output=10))
    provider = ScriptedProvider(full, begun, say("They spoke of old times."), say("Done."))
    chat = Chat(provider, FakeTool("look"), said="Tell me a story")
    chat.model = replace(MODEL, context_window=8_000)
    await chat.run()
    say_more(chat, "And now?")
    await chat.run()
    plain, final = provider.requests[2:]
    assert plain.tools == ()
    assert "They spoke of old times." in final.messages[0].text
    assert [ended.outcome for ended in chat.emit.of(Compacted)] == ["done"]
    assert chat.reasons == ["done", "done"]

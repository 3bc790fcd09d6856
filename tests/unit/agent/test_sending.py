"""What goes out is kept: once however often it is tried, and as the difference from the request before."""

from openprogram.core.jsonio import JsonObject
from openprogram.core.prompt import ProviderFailure, RequestSent, ResponseStarted, RetryScheduled
from openprogram.core.usage import Usage
from openprogram.ledger.log import outlines
from tests.support.agent import Chat, FakeTool
from tests.support.script import ScriptedProvider, call, completed, say, use


async def test_each_request_is_kept_as_the_difference_from_the_one_before() -> None:  # C20
    chat = Chat(ScriptedProvider(call(use("read")), say("Done.")), FakeTool("read"))
    await chat.run()
    first, second = chat.sent
    assert [(write.record.step, write.record.tools, write.record.system) for write in (first, second)] == [
        (1, 1, 0),
        (2, 1, 0),
    ]
    assert second.record.kept == len(first.record.digests)
    assert {segment.digest for segment in second.segments} == set(second.record.digests)
    assert first.record.settings in {segment.digest for segment in first.segments}
    (_, before), (_, after) = outlines([first.record, second.record])
    assert after.digests[: len(before.digests)] == before.digests
    assert second.record.conditions.reason == "unchanged"


async def test_a_request_that_is_tried_again_is_kept_once() -> None:  # C17
    chat = Chat(ScriptedProvider())
    body: JsonObject = {"model": "model", "messages": [{"role": "user", "content": "hello"}]}
    again = RetryScheduled(ProviderFailure("overloaded", "busy", "retry"), 1, 0.5)
    script = (RequestSent(body), again, RequestSent(body), ResponseStarted(), completed())
    chat.provider.scripts.append(script)
    await chat.run()
    assert len(chat.sent) == 2  # the provider of these tests hands out a body of its own before these two
    [(record, outline)] = outlines([write.record for write in chat.sent])
    assert (record, len(outline.messages)) == (chat.sent[-1].record, 1), "the last body of a step is what counts"


async def test_an_answer_is_compared_with_the_last_one_to_the_same_endpoint() -> None:  # C18
    scripts = [
        call(use("read"), usage=Usage(uncached=100, cache_read=0, output=1)),
        call(use("read"), usage=Usage(uncached=30, cache_read=90, output=1)),
        say("Done.", usage=Usage(uncached=10, cache_read=120, output=1)),
    ]
    chat = Chat(ScriptedProvider(*scripts), FakeTool("read"))
    await chat.run()
    verdicts = [(step.cache.read, step.cache.missed, step.cache.cause) for step in chat.steps]
    assert verdicts == [(0, None, None), (90, 10, "provider"), (120, 0, None)]

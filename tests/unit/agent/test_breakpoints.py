"""A request finds what the last one to its endpoint wrote, however much came between them (spec cache.md C15)."""

from dataclasses import replace

from openprogram.core.jsonio import canonical, decode_object
from openprogram.core.prompt import ProviderRequest
from openprogram.fakeapi.cache.breakpoints import BreakpointCache
from openprogram.fakeapi.cache.segments import SegmentTable, prompt_size
from openprogram.fakeapi.dialects.anthropic_prompt import render
from openprogram.providers import anthropic_prompt
from openprogram.providers.catalog import facts_of
from tests.support.agent import Chat, FakeTool
from tests.support.deferral import say_more
from tests.support.script import MODEL, Script, ScriptedProvider, call, failed, say, use

OTHER = replace(MODEL, id="fake/other", model="other")


def many() -> Script:
    """An answer of more calls than the cache looks back."""
    return call(*(use("read") for _ in range(25)))


class Cache:
    """What the Messages API would keep of these requests: a prompt's size, and what is read of it."""

    def __init__(self) -> None:
        self._entries, self._table = BreakpointCache(), SegmentTable()

    def take(self, request: ProviderRequest, *, accepted: bool = True) -> tuple[int, int]:
        body = anthropic_prompt.request_body(request, MODEL.id, facts_of("claude-opus-5"))
        prompt = render(decode_object(canonical(body)), self._table).prompt
        plan = self._entries.look_up(request.model, prompt, 0, 0.0)
        if accepted:
            self._entries.commit(plan)
        return prompt_size(prompt), plan.verdict.read


async def test_what_was_written_before_a_request_that_failed_is_read_by_the_one_after_it() -> None:  # C15
    chat = Chat(ScriptedProvider(say("Hi."), many(), (failed("overloaded"),), say("Done.")), FakeTool("read"))
    await chat.run()
    for text in ("look", "again"):
        say_more(chat, text)
        await chat.run()
    assert chat.reasons == ["done", "error", "done"]
    cache = Cache()
    _, second, lost, after = chat.provider.requests
    cache.take(chat.provider.requests[0])
    written, _ = cache.take(second)
    cache.take(lost, accepted=False)
    assert cache.take(after)[1] >= written


async def test_what_was_written_for_a_model_is_read_when_the_chat_comes_back_to_it() -> None:  # C15
    chat = Chat(ScriptedProvider(say("Hi."), many(), say("Done."), say("Bye.")), FakeTool("read"))
    for text, model in (("", MODEL), ("look", OTHER), ("and now?", MODEL)):
        if text:
            say_more(chat, text)
        chat.model = model
        await chat.run()
    cache = Cache()
    sizes = [cache.take(request) for request in chat.provider.requests]
    assert sizes[-1][1] >= sizes[0][0]

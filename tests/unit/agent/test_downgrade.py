"""An endpoint that refuses changes of the tools in mid-chat (cache.md C9): the chat goes on within the same send."""

from dataclasses import replace

import pytest

from openprogram.core.events import Notice, StepFinished, StepStarted
from openprogram.core.prompt import Failed, FailureCode, ProviderFailure
from openprogram.core.surface import Capability, Strategy
from tests.support.agent import Chat, FakeTool
from tests.support.deferral import declared, say_more
from tests.support.script import MODEL, Script, ScriptedProvider, failed, say


def chat_on(strategy: Strategy, *scripts: Script) -> Chat:
    """A chat with two tools at an endpoint that is said to do this."""
    chat = Chat(ScriptedProvider(*scripts), FakeTool("bash"), FakeTool("read"))
    chat.model = replace(MODEL, capability=Capability(strategy=strategy))
    return chat


def switch(chat: Chat, *off: str) -> None:
    chat.intent = replace(chat.intent, disabled=off)
    say_more(chat, "And now?")


async def test_a_first_change_that_is_refused_is_rendered_away_and_costs_nothing() -> None:
    chat = chat_on("inline_changes", say("Hi."), (failed("bad_request"),), say("Well."), say("Bye."))
    await chat.run()
    switch(chat, "bash")
    await chat.run()
    refused, again = chat.provider.requests[1:]
    assert [delta.withdrawn for delta in refused.deltas] == [("bash",)]
    assert (again.deltas, again.deferred, again.tools) == ((), (), refused.tools)
    assert [delta for surface in chat.surfaces.all for delta in surface.deltas] == []  # law 5
    assert [notice.code for notice in chat.emit.of(Notice)] == ["downgraded"]
    assert chat.reasons == ["done", "done"]
    assert len(chat.emit.of(StepFinished)) == 2  # a step is counted once
    assert [started.step for started in chat.emit.of(StepStarted)] == [1, 1, 1]


async def test_changes_that_were_taken_and_are_now_refused_are_folded_by_a_rebase() -> None:
    chat = chat_on("inline_changes", say("Hi."), say("Off."), (failed("bad_request"),), say("Well."))
    await chat.run()
    switch(chat, "bash")
    await chat.run()
    switch(chat, "bash")
    await chat.run()
    assert len(chat.provider.requests[2].deltas) == 1
    assert (chat.provider.requests[3].deltas, declared(chat.provider.requests[3])) == ((), ["read"])
    assert [started.plan.reason for started in chat.emit.of(StepStarted)][-1] == "provider"
    assert chat.reasons == ["done"] * 3


async def test_an_endpoint_that_was_downgraded_is_not_asked_again() -> None:
    chat = chat_on("inline_changes", (failed("bad_request"),), say("Hi."), say("Off."))
    await chat.run()
    switch(chat, "bash")
    await chat.run()
    assert [request.strategy for request in chat.provider.requests] == ["inline_changes", "append", "append"]
    assert len(chat.emit.of(Notice)) == 1


async def test_a_request_that_fails_without_the_changes_too_downgrades_nothing() -> None:
    chat = chat_on("inline_changes", (failed("bad_request"),), (failed("bad_request"),), say("Hi."))
    await chat.run()
    say_more(chat, "Again")
    await chat.run()
    assert [request.strategy for request in chat.provider.requests] == ["inline_changes", "append", "inline_changes"]
    assert chat.emit.of(Notice) == []
    assert chat.reasons == ["error", "done"]


@pytest.mark.parametrize(
    ("strategy", "code"),
    [("append", "bad_request"), ("inline_changes", "overloaded"), ("inline_changes", "model_not_found")],
)
async def test_what_has_nothing_to_do_with_changes_is_not_tried_again(strategy: Strategy, code: FailureCode) -> None:
    chat = chat_on(strategy, (failed(code),))
    await chat.run()
    assert len(chat.provider.requests) == 1
    assert chat.reasons == ["error"]


@pytest.mark.parametrize("status", [400, 422])
async def test_a_role_that_the_model_does_not_take_is_a_refused_change_whatever_status_says_so(status: int) -> None:
    refusal = Failed(ProviderFailure("model_not_found", "role 'system' is not supported", "choose_model", status))
    chat = chat_on("inline_changes", (refusal,), say("Hi."))
    await chat.run()
    assert [request.strategy for request in chat.provider.requests] == ["inline_changes", "append"]
    assert chat.reasons == ["done"]


async def test_what_a_configuration_says_since_is_not_what_was_refused() -> None:
    chat = chat_on("inline_changes", say("Hi."), (failed("bad_request"),), say("Well."), say("Bye."))
    await chat.run()
    chat.model = replace(MODEL, capability=Capability(strategy="bridge"))
    switch(chat, "bash")
    await chat.run()
    say_more(chat, "Again")
    await chat.run()
    strategies = [request.strategy for request in chat.provider.requests]
    assert strategies == ["inline_changes", "inline_changes", "bridge", "bridge"]
    assert chat.capabilities.of(chat.model) == chat.model.capability
    assert chat.reasons == ["done"] * 3


async def test_an_endpoint_that_refuses_the_question_what_its_cache_did_gets_the_same_without_and_no_other() -> None:
    chat = chat_on("append", say("Hi."), (failed("bad_request"),), say("Well."), say("Bye."))
    asked = replace(chat.model, capability=replace(chat.model.capability, diagnosis=True))
    await chat.run()
    chat.model = asked
    for text in ("And now?", "And then?"):
        say_more(chat, text)
        await chat.run()
    requests = chat.provider.requests
    assert [request.diagnose for request in requests] == [False, True, False, False]
    assert replace(requests[1], diagnose=False) == requests[2], "nothing else changes"
    assert [notice.code for notice in chat.emit.of(Notice)] == ["downgraded"]
    assert chat.reasons == ["done"] * 3


async def test_an_endpoint_that_takes_neither_the_question_nor_the_changes_gets_neither() -> None:
    chat = chat_on("inline_changes", (failed("bad_request"),), (failed("bad_request"),), say("Hi."))
    chat.model = replace(chat.model, capability=replace(chat.model.capability, diagnosis=True))
    await chat.run()
    sent = [(request.diagnose, request.strategy) for request in chat.provider.requests]
    assert sent == [(True, "inline_changes"), (False, "inline_changes"), (False, "append")]
    assert chat.reasons == ["done"]

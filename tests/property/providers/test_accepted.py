"""The fake API's numbered rules, one for each documented 400, as the judge of what the adapters make of any history."""

from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.jsonio import canonical
from openprogram.core.messages import Message
from openprogram.core.prompt import ModelParams, ProviderRequest
from openprogram.fakeapi.dialects.anthropic import AnthropicDialect
from openprogram.fakeapi.dialects.base import Dialect
from openprogram.fakeapi.dialects.chat import ChatDialect
from openprogram.fakeapi.dialects.responses import ResponsesDialect
from openprogram.fakeapi.exchange import Accepted, examine
from openprogram.fakeapi.state import FakeState
from openprogram.providers import anthropic_prompt, chat_prompt, responses_prompt
from openprogram.providers.catalog import facts_of
from openprogram.providers.hosts import Quirks, quirks_of
from tests.support.fake import ANTHROPIC_HEADERS, OPENAI_HEADERS
from tests.support.histories import TOOL, histories

# Reasoning of these histories has no signature that the fake gave out, so they are sent to a model that made none.
_anthropic_models = st.sampled_from(
    ["claude-opus-5-5", "claude-sonnet-5", "claude-haiku-4-5", "claude-opus-4-6", "demo"]
)
_chat_models = st.sampled_from(["demo", "demo-local", "gpt-4.1", "gpt-6.2"])
_params = st.builds(
    ModelParams,
    max_output_tokens=st.none() | st.just(2000),
    temperature=st.none() | st.just(0.5),
    effort=st.none() | st.just("high"),
    thinking_budget=st.sampled_from([0, 100, 1500, 20_000]),
)
_systems = st.sampled_from([(), ("You help.",), ("You help.", "", "Be brief.")])
_STATE = FakeState()


def refusal(dialect: Dialect, headers: dict[str, str], body: object) -> object:
    """What the fake API objects to, or None."""
    judged = examine(_STATE, dialect, headers, canonical(body))
    return None if isinstance(judged, Accepted) else (judged.rule, judged.violation.message)


@given(histories, _anthropic_models, _params, _systems, st.integers(0, 2), st.integers(0, 9))
def test_the_messages_api_accepts_any_history(
    messages: tuple[Message, ...], model: str, params: ModelParams, system: tuple[str, ...], tools: int, previous: int
) -> None:
    declared = ({**TOOL, "name": "write"}, TOOL)[:tools]
    request = ProviderRequest(model, system, declared, messages, params, "s_1", previous)
    body = anthropic_prompt.request_body(request, f"other/{model}", facts_of(model))
    assert refusal(AnthropicDialect(), ANTHROPIC_HEADERS, body) is None


@given(
    histories,
    _chat_models,
    _params,
    _systems,
    st.integers(0, 2),
    st.sampled_from([Quirks(), quirks_of("https://api.openai.com/v1")]),
)
def test_chat_completions_accepts_any_history(
    messages: tuple[Message, ...], model: str, params: ModelParams, system: tuple[str, ...], tools: int, quirks: Quirks
) -> None:
    declared = ({**TOOL, "name": "write"}, TOOL)[:tools]
    request = ProviderRequest(model, system, declared, messages, params, "s_1")
    body = chat_prompt.request_body(request, f"other/{model}", facts_of(model), quirks)
    assert refusal(ChatDialect(), OPENAI_HEADERS, body) is None


@given(histories, st.sampled_from(["demo", "gpt-6.2", "gpt-5.5", "gpt-4.1"]), _params, _systems, st.integers(0, 2))
def test_responses_accepts_any_history(
    messages: tuple[Message, ...], model: str, params: ModelParams, system: tuple[str, ...], tools: int
) -> None:
    declared = ({**TOOL, "name": "write"}, TOOL)[:tools]
    request = ProviderRequest(model, system, declared, messages, params, "s_1")
    body = responses_prompt.request_body(request, f"other/{model}", facts_of(model))
    assert refusal(ResponsesDialect(), OPENAI_HEADERS, body) is None

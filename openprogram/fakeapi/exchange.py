"""From a request's bytes to an answer that is ready to be sent, the same for every wire format."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import orjson

from openprogram.fakeapi.answer import Answer, ThinkingBlock, ToolUseBlock, joined, truncated, with_ids
from openprogram.fakeapi.bench import bench_answer
from openprogram.fakeapi.bill import charge, sent_tokens
from openprogram.fakeapi.cache.segments import Rendering
from openprogram.fakeapi.cache.verdict import CacheVerdict
from openprogram.fakeapi.conversation import Conversation
from openprogram.fakeapi.demo.model import demo_answer
from openprogram.fakeapi.diagnosis import asked, diagnose
from openprogram.fakeapi.dialects.base import Dialect, Exchange, RequestOptions
from openprogram.fakeapi.faults import STREAM_KINDS, Fault, fault_of_model
from openprogram.fakeapi.log import RequestRecord
from openprogram.fakeapi.models import Model, bench_parameters, find_model
from openprogram.fakeapi.play import Delivery
from openprogram.fakeapi.rules.base import Facts, Violation, first_violation
from openprogram.fakeapi.rules.tables import TABLES
from openprogram.fakeapi.shapes import JsonObject
from openprogram.fakeapi.state import FakeState
from openprogram.fakeapi.web_search import offered, without_searches
from openprogram.tokens import count_tokens


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error instead of an answer."""

    violation: Violation
    rule: str | None = None
    retry_after: float | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """A request that every rule accepted."""

    body: JsonObject
    model: Model
    rendering: Rendering


def examine(
    state: FakeState,
    dialect: Dialect,
    headers: Mapping[str, str],
    raw: bytes,
    *,
    counting: bool = False,
) -> Accepted | Refusal:
    """Apply the rules of the wire format and render the prompt. A request that only counts tokens
    (`counting`) has no `max_tokens`; it is judged as if it asked for all that the model can say."""
    body, complaint = _parse(raw)
    name = body.get("model")
    model = find_model(name, dialect.api) if isinstance(name, str) else None
    if counting and model is not None:
        body = {"max_tokens": model.max_output, **body}

    @cache
    def rendering() -> Rendering:
        return dialect.render(body, state.segments)

    facts = Facts(body, headers, model, state.thoughts.__contains__, rendering, complaint, len(raw))
    broken = first_violation(TABLES[dialect.api], facts)
    if broken is not None:
        rule, violation = broken
        return Refusal(violation, rule.number)
    if model is None:
        raise AssertionError("a rule refuses unknown models")
    return Accepted(body, model, rendering())


def _parse(raw: bytes) -> tuple[JsonObject, str | None]:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        return {}, str(error)
    return (value, None) if isinstance(value, dict) else ({}, "expected an object")


def prepare(state: FakeState, dialect: Dialect, record: RequestRecord, raw: bytes) -> Delivery | Refusal:
    """The answer to a request, or why there is none. Changes the caches only once it is sent."""
    accepted = examine(state, dialect, record.headers, raw)
    if isinstance(accepted, Refusal):
        return accepted
    name, body = accepted.model.id, accepted.body
    refused = state.refusing.refuse(dialect.api, name, body, record.headers)
    if refused is not None:
        feature, violation = refused
        return Refusal(violation, f"refused: {feature}")
    conversation = dialect.conversation(body)
    standing = state.faults.take(conversation.task, name, dialect.api)
    if standing is not None and standing.kind not in STREAM_KINDS:
        return _refused_by(standing, dialect, accepted.model)
    answer = _bound(_answer(state, dialect, accepted, conversation), accepted)
    if not offered(dialect.api, body):
        answer = replace(answer, blocks=without_searches(answer))
    fault = standing or answer.fault
    if fault is not None and fault.kind not in STREAM_KINDS:
        return _refused_by(fault, dialect, accepted.model)
    verdict, commit = _look_up(state, dialect, accepted)
    record.cache = verdict
    now = asked(dialect.api, body, accepted.rendering.prompt)
    exchange = _exchange(state, dialect, accepted, replace(answer, fault=fault), verdict)
    exchange = replace(exchange, diagnosis=diagnose(dialect.api, body, now, state.answers))
    _remember_thoughts(state, exchange.answer)
    cost = charge(exchange.cache, exchange.output, exchange.reasoning)

    def begun() -> None:
        commit()
        state.answers.add(exchange.id, now)
        state.bill.begun(dialect.api, name, cost)

    def broken(deltas: int) -> None:
        sent = charge(exchange.cache, *sent_tokens(exchange.answer, deltas))
        state.bill.broken(dialect.api, name, cost, sent)

    streams = dialect.options(body).stream
    return Delivery(exchange, dialect, f"req_{secrets.token_hex(12)}", streams, begun, broken)


def _exchange(
    state: FakeState, dialect: Dialect, accepted: Accepted, answer: Answer, verdict: CacheVerdict
) -> Exchange:
    """The answer with all that its wire format needs to be written."""
    options = dialect.options(accepted.body)
    answer, output, reasoning = _measured(with_ids(answer, dialect.call_prefix), options)
    return Exchange(
        id=f"{dialect.message_prefix}{secrets.token_hex(12)}",
        model=accepted.model.id,
        created=int(time.time()),
        answer=answer,
        cache=verdict.times(state.token_factor),
        output=output,
        reasoning=reasoning,
        include_usage=options.include_usage,
        show_thinking=options.show_thinking,
        dropped=accepted.rendering.misbound,
        bills_writes=dialect.api in accepted.model.writes_cache,
        echo=options.echo,
        client_search=options.client_search,
        loadable=options.loadable,
        search_sources=options.search_sources,
    )


def _answer(state: FakeState, dialect: Dialect, accepted: Accepted, conversation: Conversation) -> Answer:
    """What a script says, else the benchmark, else the demo model; with the model name's fault."""
    name = accepted.model.id
    scripted = state.scripts.take(conversation.task, name, dialect.api)
    if scripted is not None:
        return scripted
    bench = bench_parameters(name)
    if bench is not None:
        return bench_answer(*bench)
    return replace(demo_answer(conversation, state.pace), fault=fault_of_model(name))


def _bound(answer: Answer, accepted: Accepted) -> Answer:
    """The answer with its thinking bound to the prompt before it, where the model does that."""
    if not accepted.model.binds_thinking:
        return answer
    binding = accepted.rendering.binding
    blocks = (replace(b, binding=binding) if isinstance(b, ThinkingBlock) else b for b in answer.blocks)
    return replace(answer, blocks=tuple(blocks))


def _refused_by(fault: Fault, dialect: Dialect, model: Model) -> Refusal:
    wait = fault.retry_after if fault.kind == "rate_limit" else None
    return Refusal(dialect.fault(fault.kind, model.id), retry_after=wait)


def _measured(answer: Answer, options: RequestOptions) -> tuple[Answer, int, int]:
    """The answer within the request's limits, its tokens, and how many of them are reasoning."""
    if not options.thinks:
        kept = tuple(block for block in answer.blocks if not isinstance(block, ThinkingBlock))
        answer = replace(answer, blocks=kept)
    limit = options.max_output
    length = answer.output_tokens
    if length is None:
        length = sum(len(joined(block.chunks)) for block in answer.blocks)
    if limit is not None and length > limit:
        costs = [
            1 if answer.output_tokens is not None else count_tokens(chunk.text)
            for block in answer.blocks
            for chunk in block.chunks
        ]
        cut = truncated(answer.blocks, limit, costs)
        if cut is not None:
            answer = replace(answer, blocks=cut, stop_reason="max_tokens", output_tokens=limit)
    if answer.output_tokens is not None:
        return answer, answer.output_tokens, 0
    sizes = [(block, count_tokens(joined(block.chunks))) for block in answer.blocks]
    # One token more than the text of each block: its frame is output too.
    total = sum(size + 1 for _, size in sizes)
    return answer, total, sum(size for block, size in sizes if isinstance(block, ThinkingBlock))


def _look_up(state: FakeState, dialect: Dialect, accepted: Accepted) -> tuple[CacheVerdict, Callable[[], None]]:
    """The cache's verdict, and the action that makes it true once the answer begins."""
    now = state.clock.now()
    model, prompt = accepted.model, accepted.rendering.prompt
    scope = model.id
    if dialect.api == "anthropic":
        entries = state.breakpoints
    elif dialect.api in model.writes_cache:
        # A key chooses the machine: under another key nothing is found.
        scope = f"{model.id} {accepted.body.get('prompt_cache_key')}"
        entries = state.openai_breakpoints
    else:
        automatic = state.automatic
        verdict = automatic.look_up(scope, prompt, now)
        return verdict, lambda: automatic.commit(scope, prompt, now)
    plan = entries.look_up(scope, prompt, model.min_cacheable, now)
    return plan.verdict, lambda: entries.commit(plan)


def _remember_thoughts(state: FakeState, answer: Answer) -> None:
    """Note the tool calls that follow a thinking block: they must come back behind it (A46)."""
    thought = False
    for block in answer.blocks:
        thought = thought or isinstance(block, ThinkingBlock)
        if thought and isinstance(block, ToolUseBlock) and block.id is not None:
            state.thoughts.add(block.id)

"""Laws of the simulated caches, for any conversation (C21)."""

from dataclasses import dataclass, replace

from hypothesis import given
from hypothesis import strategies as st

from openprogram.fakeapi.cache.automatic import AutomaticCache
from openprogram.fakeapi.cache.breakpoints import BreakpointCache
from openprogram.fakeapi.cache.segments import TOKEN_BYTES, Prompt, SegmentTable, Ttl
from openprogram.fakeapi.cache.verdict import CacheVerdict

TABLE = SegmentTable()
_WORDS = st.sampled_from(["a", "b", "tool output " * 40, "the quick brown fox " * 90, "你好 " * 60, ""])
_LIFETIMES: list[Ttl | None] = [None, None, "5m", "1h"]
_TTLS = st.sampled_from(_LIFETIMES)


@dataclass(frozen=True)
class Request:
    """A prompt and the seconds that pass before it is sent."""

    prompt: Prompt
    pause: float


_SEGMENTS = st.tuples(_WORDS, _TTLS).map(lambda pair: TABLE.segment(pair[0], "messages", pair[1]))
_PROMPTS = st.lists(_SEGMENTS, min_size=1, max_size=8).map(tuple)
_REQUESTS = st.lists(
    st.builds(Request, _PROMPTS, st.sampled_from([0.0, 1.0, 299.0, 301.0, 3601.0])), min_size=1, max_size=8
)


def flat(prompt: Prompt) -> list[bytes]:
    """The tokens of a prompt, one by one: an oracle that knows nothing of segments."""
    whole = b"".join(segment.tokens for segment in prompt)
    return [whole[i : i + TOKEN_BYTES] for i in range(0, len(whole), TOKEN_BYTES)]


def common(left: Prompt, right: Prompt) -> int:
    count = 0
    for a, b in zip(flat(left), flat(right), strict=False):
        if a != b:
            break
        count += 1
    return count


def replay_breakpoints(requests: list[Request], minimum: int) -> list[CacheVerdict]:
    cache, now, verdicts = BreakpointCache(), 0.0, []
    for request in requests:
        now += request.pause
        plan = cache.look_up("m", request.prompt, minimum, now)
        cache.commit(plan)
        verdicts.append(plan.verdict)
    return verdicts


def replay_automatic(requests: list[Request]) -> list[CacheVerdict]:
    cache, now, verdicts = AutomaticCache(), 0.0, []
    for request in requests:
        now += request.pause
        verdicts.append(cache.look_up("m", request.prompt, now))
        cache.commit("m", request.prompt, now)
    return verdicts


def check_reads(requests: list[Request], verdicts: list[CacheVerdict]) -> None:
    for index, (request, verdict) in enumerate(zip(requests, verdicts, strict=True)):
        best = max((common(request.prompt, earlier.prompt) for earlier in requests[:index]), default=0)
        assert verdict.read <= best
        assert verdict.common_prefix <= best


@given(_REQUESTS, st.sampled_from([0, 100, 1024]))
def test_cached_tokens_never_exceed_a_common_prefix_with_an_earlier_request(
    requests: list[Request], minimum: int
) -> None:
    check_reads(requests, replay_breakpoints(requests, minimum))
    check_reads(requests, replay_automatic(requests))


@given(_REQUESTS.map(lambda requests: [replace(request, pause=0.0) for request in requests]))
def test_the_reported_common_prefix_is_exact_while_nothing_expires(requests: list[Request]) -> None:
    for index, verdict in enumerate(replay_automatic(requests)):
        best = max((common(requests[index].prompt, earlier.prompt) for earlier in requests[:index]), default=0)
        assert verdict.common_prefix == best


@given(_REQUESTS, st.sampled_from([0, 100, 1024]))
def test_the_parts_of_the_bill_add_up_to_the_prompt(requests: list[Request], minimum: int) -> None:
    for request, verdict in zip(requests, replay_breakpoints(requests, minimum), strict=True):
        assert verdict.prompt == len(flat(request.prompt))
        assert min(verdict.read, verdict.write_5m, verdict.write_1h, verdict.uncached) >= 0


@given(_PROMPTS, st.lists(_SEGMENTS, min_size=1, max_size=18).map(tuple))
def test_extending_a_marked_request_reads_the_previous_prefix(prompt: Prompt, more: Prompt) -> None:
    first = (*prompt[:-1], replace(prompt[-1], breakpoint="5m"))
    second = (*first, *more[:-1], replace(more[-1], breakpoint="5m"))
    _, verdict = replay_breakpoints([Request(first, 0.0), Request(second, 0.0)], minimum=0)
    assert verdict.read == len(flat(first))


@given(_PROMPTS, st.lists(_SEGMENTS, min_size=1, max_size=8).map(tuple))
def test_extending_a_request_reads_all_of_it_but_less_than_a_step(prompt: Prompt, more: Prompt) -> None:
    _, verdict = replay_automatic([Request(prompt, 0.0), Request((*prompt, *more), 0.0)])
    size = len(flat(prompt))
    assert verdict.read == (size - size % 128 if size >= 1024 else 0)


@given(_REQUESTS, st.sampled_from([0, 1024]))
def test_looking_up_changes_nothing(requests: list[Request], minimum: int) -> None:
    cache, now = BreakpointCache(), 0.0
    for request in requests:
        now += request.pause
        plan = cache.look_up("m", request.prompt, minimum, now)
        assert cache.look_up("m", request.prompt, minimum, now).verdict == plan.verdict
        cache.commit(plan)

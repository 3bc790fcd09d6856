"""OpenAI's simulated cache (C21)."""

import pytest

from openprogram.fakeapi.cache.automatic import IDLE_SECONDS, MINIMUM, STEP, AutomaticCache
from openprogram.fakeapi.cache.prefix_tree import PrefixTree
from openprogram.fakeapi.cache.segments import Prompt, SegmentTable, common_tokens, prompt_size

TABLE = SegmentTable()


def prompt(*texts: str) -> Prompt:
    return tuple(TABLE.segment(text, "messages") for text in texts)


def words(count: int) -> str:
    """A text of `count` tokens; with its separator one more."""
    return " a" * count


def read(first: Prompt, second: Prompt) -> int:
    cache = AutomaticCache()
    cache.commit("m", first, 0.0)
    return cache.look_up("m", second, 0.0).read


def test_the_common_prefix_is_read_in_steps() -> None:
    before, after = prompt(words(2000), "x"), prompt(words(2000), "y")
    common = 2001
    assert read(before, after) == common - common % STEP


@pytest.mark.parametrize(("tokens", "expected"), [(MINIMUM - 2, 0), (MINIMUM - 1, MINIMUM)])
def test_below_the_minimum_nothing_is_read(tokens: int, expected: int) -> None:
    assert read(prompt(words(tokens), "x"), prompt(words(tokens), "y")) == expected


def test_the_prefix_is_compared_by_token_inside_a_message() -> None:
    assert read(prompt(words(3000)), prompt(words(1500) + " b")) == 1500 - 1500 % STEP


def test_the_same_prompt_is_never_read_whole() -> None:
    whole = prompt(words(STEP * 10 - 1))
    assert prompt_size(whole) == STEP * 10
    assert read(whole, whole) == STEP * 9


def test_an_idle_entry_is_forgotten_and_use_keeps_it() -> None:
    cache = AutomaticCache()
    whole = prompt(words(2000), "x")
    cache.commit("m", whole, 0.0)
    assert cache.look_up("m", whole, IDLE_SECONDS - 1).read > 0
    assert cache.look_up("m", whole, IDLE_SECONDS).read == 0
    cache.commit("m", whole, IDLE_SECONDS - 1)
    assert cache.look_up("m", whole, IDLE_SECONDS * 2 - 2).read > 0


def test_an_entry_serves_no_other_model() -> None:
    cache = AutomaticCache()
    cache.commit("a", prompt(words(2000)), 0.0)
    assert cache.look_up("b", prompt(words(2000)), 0.0).read == 0


def test_an_expired_branch_does_not_come_back_with_its_parent() -> None:
    tree = PrefixTree(idle_seconds=100)
    tree.add("m", prompt("a", "b", "c"), 0.0)
    tree.add("m", prompt("a"), 200.0)
    shared = prompt_size(prompt("a"))
    assert tree.longest("m", prompt("a", "b", "c"), 200.0) == shared


def test_a_full_tree_drops_the_expired_first() -> None:
    tree = PrefixTree(idle_seconds=100, max_nodes=8)
    for number in range(20):
        tree.add("m", prompt("a", f"old {number}"), 0.0)
    kept = prompt("a", "new")
    tree.add("m", kept, 150.0)
    tree.add("m", prompt("b"), 150.0)
    assert tree.longest("m", kept, 150.0) == prompt_size(kept)


@pytest.mark.parametrize(
    ("left", "right", "common"),
    [
        ("", "", 0),
        ("aaaabbbb", "aaaabbbb", 2),
        ("aaaabbbb", "aaaacccc", 1),
        ("aaaa", "bbbb", 0),
        ("aaaabbbb", "aaaa", 1),
    ],
)
def test_common_tokens(left: str, right: str, common: int) -> None:
    assert common_tokens(left.encode(), right.encode()) == common

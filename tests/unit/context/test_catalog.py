"""The catalog: bare names in a bounded text, and what can be read back from it (spec tools.md section 3)."""

from collections.abc import Iterable
from itertools import chain
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openprogram.context.assembler import PromptContext, assemble
from openprogram.context.catalog import BOUND, HEADER, catalog, catalog_entries, counted_texts, entries_of, uncovered
from openprogram.core.tooling import ToolSpec
from openprogram.tokens import count_tokens
from openprogram.tools.registry import Registry
from tests.support.tools import spec


def of_server(server: str, *names: str) -> list[ToolSpec]:
    return [spec(name, source=f"mcp:{server}") for name in names]


def builtin(*names: str) -> list[ToolSpec]:
    return [spec(name) for name in names]


def bytes_of(text: str) -> int:
    """What a count is where the tokens are not known."""
    return len(text.encode())


def test_nothing_deferred_is_empty_text() -> None:
    assert catalog([], count_tokens) == ""


def test_names_stand_alone_on_their_lines_built_in_ones_first() -> None:
    tools = [*of_server("sky", "weather", "sunset"), *builtin("worktree_list", "apply_patch")]
    assert catalog(tools, count_tokens).splitlines() == [HEADER, "apply_patch", "worktree_list", "sunset", "weather"]


def test_the_largest_server_collapses_first_and_only_as_many_as_must() -> None:
    large = of_server("large", *(f"do_number_{n}_thing" for n in range(60)))
    small = of_server("small", "one_small_tool", "another_small_tool")
    entries = catalog_entries([*small, *large], count_tokens)
    assert entries == ("large (60)", "another_small_tool", "one_small_tool")


def test_servers_that_do_not_fit_even_as_a_line_are_counted_the_smallest_ones_first() -> None:
    servers = [of_server(f"server-number-{n:03}", *(f"s{n}_{i}" for i in range(n + 2))) for n in range(120)]
    entries = catalog_entries(chain.from_iterable(servers), count_tokens)
    assert entries[-1] == f"and {120 - len(entries) + 1} more servers"
    assert "server-number-119 (121)" in entries
    assert not any(entry.startswith("server-number-000") for entry in entries)


def test_even_built_in_names_never_break_the_bound() -> None:
    entries = catalog_entries(builtin(*(f"tool_number_{n:03}" for n in range(200))), count_tokens)
    assert entries[-1] == f"and {200 - len(entries) + 1} more tools"


@pytest.mark.parametrize("servers", [1, 14, 200])
@pytest.mark.parametrize("builtins", [0, 20, 300])
def test_the_whole_text_is_within_the_bound_whatever_there_is(servers: int, builtins: int) -> None:
    tools = builtin(*(f"builtin_tool_{n}" for n in range(builtins)))
    for server in range(servers):
        tools += of_server(f"server-{server}", *(f"server_{server}_does_{n}" for n in range(40)))
    text = catalog(tools, count_tokens)
    assert count_tokens(text) <= BOUND
    if servers == 200 or builtins == 300:
        assert count_tokens(text) > BOUND - 40  # and what fits is told
    assert uncovered(tools, entries_of(text)) == ()


def test_plugins_are_servers_and_an_odd_name_of_one_is_made_plain() -> None:
    tools = [spec(f"x_{n}", source="plugin:my odd, (server)\nname") for n in range(100)]
    assert catalog_entries(tools, count_tokens) == ("my_odd_server_name (100)",)


names = st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", min_size=1, max_size=64)
sources = st.sampled_from(["builtin", *(f"mcp:{name}" for name in ("git", "Sky-2", "a b", "qzxvkj_9f8e"))]) | st.builds(
    "mcp:{}".format, names
)


@st.composite
def registered(draw: st.DrawFn) -> tuple[ToolSpec, ...]:
    """The tools of any registry: unique names, many or few, of many or few servers."""
    size = draw(st.sampled_from((3, 40, 400)))
    kinds = draw(st.lists(sources, min_size=1, max_size=80))
    given = draw(st.lists(names, max_size=size, unique=True))
    registry = Registry()
    for source in dict.fromkeys(kinds):
        registry.put(source, [spec(name) for name in given[kinds.index(source) :: len(kinds)]])
    return registry.snapshot.tools


@settings(max_examples=60, deadline=None)
@given(registered(), st.booleans())
def test_it_never_costs_more_than_its_bound_and_tells_of_every_tool(tools: tuple[ToolSpec, ...], known: bool) -> None:
    text = catalog(tools, count_tokens if known else bytes_of)
    assert count_tokens(text) <= BOUND
    assert uncovered(tools, entries_of(text)) == ()
    assert (text == "") == (not tools)


@settings(max_examples=40, deadline=None)
@given(registered())
def test_what_it_is_taken_to_cost_is_what_it_costs(tools: tuple[ToolSpec, ...]) -> None:  # the price is of what is sent
    entries = catalog_entries(tools, count_tokens)
    room = count_tokens("".join(f"{entry}\n" for entry in entries))
    assert catalog_entries(tools, count_tokens, room) == entries


@settings(max_examples=40, deadline=None)
@given(registered(), st.randoms())
def test_the_order_of_tools_changes_no_byte(tools: tuple[ToolSpec, ...], random: Random) -> None:  # T11
    shuffled = random.sample(tools, len(tools))
    assert catalog(shuffled, count_tokens) == catalog(tools, count_tokens)


@settings(max_examples=40, deadline=None)
@given(registered())
def test_only_announced_texts_are_counted(tools: tuple[ToolSpec, ...]) -> None:
    """What `learn` is told beforehand is all that a catalog asks for, but for the lines of what does not fit."""
    announced = set(counted_texts(tools))
    asked: list[str] = []

    def count(text: str) -> int:
        asked.append(text)
        return count_tokens(text)

    catalog(tools, count)
    assert [text for text in asked if text not in announced and not text.startswith("and ")] == []


@pytest.mark.parametrize(
    ("tool", "told"),
    [
        (spec("weather"), True),
        (spec("weather", source="mcp:other"), True),
        (spec("star", source="mcp:sky"), True),
        (spec("star", source="mcp:sky2"), False),
        (spec("notes"), False),
    ],
)
def test_a_tool_is_told_of_by_its_name_or_through_its_server(tool: ToolSpec, told: bool) -> None:
    assert (uncovered([tool], ["weather", "sky (12)"]) == ()) is told


def _more(tools: Iterable[ToolSpec], entry: str) -> list[str]:
    return [tool.name for tool in uncovered(tools, [entry])]


def test_what_was_only_counted_is_told_of_too() -> None:
    tools = [spec("notes"), spec("star", source="mcp:sky")]
    assert _more(tools, "and 3 more servers") == ["notes"]
    assert _more(tools, "and 3 more tools") == ["star"]


def test_the_catalog_is_the_last_section_of_the_session_tier_or_none() -> None:  # C11, T16
    bare = assemble(PromptContext("linux", "Be brief."))
    full = assemble(PromptContext("linux", "Be brief.", catalog="Tools:\nweather"))
    assert full.stable == bare.stable
    assert full.session == (*bare.session, "Tools:\nweather")

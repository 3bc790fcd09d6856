"""The set of built-in tools: what they cost, what they say, what they may do."""

import re

import pytest

from openprogram.core.jsonio import encode
from openprogram.tokens import count_tokens
from openprogram.tools.builtin.compose import BuiltinConfig, builtin_tools, unavailable_tools
from openprogram.tools.builtin.jobs import Jobs
from openprogram.tools.builtin.search_config import SearchConfig
from openprogram.tools.search.index import Index

BUDGET = 1_350
"""o200k tokens of the residents here; all thirteen together may cost 2,600 (T19)."""

DEAREST = 250
"""o200k tokens of any deferred one: it is paid for by every request of a chat that loaded it."""

ALL_RESIDENTS = "bash read write edit glob grep list web_fetch web_search todo ask_user agent tool_search".split()  # noqa: SIM905


@pytest.fixture
def config(tmp_path):
    return BuiltinConfig(tmp_path / "out", Jobs())


def test_the_declarations_stay_within_their_budget(config):  # T19
    costs = {spec.name: count_tokens(encode(spec.declaration).decode()) for spec in builtin_tools(config)}
    resident = {spec.name for spec in builtin_tools(config) if spec.residency == "resident"}
    assert sum(costs[name] for name in resident) <= BUDGET, costs
    assert max(costs[name] for name in costs.keys() - resident) <= DEAREST, costs


def test_names_permissions_and_presets(config):
    assert [
        (spec.name, spec.permission, spec.readonly, spec.parallel_safe, spec.presets) for spec in builtin_tools(config)
    ] == [
        ("apply_patch", "write", False, False, ("coding",)),
        ("ask_user", "none", True, False, ("coding", "research", "browser", "safe")),
        ("bash", "execute", False, False, ("coding",)),
        ("edit", "write", False, False, ("coding",)),
        ("git_read", "none", True, True, ("coding", "research", "safe")),
        ("glob", "none", True, True, ("coding", "research", "safe")),
        ("grep", "none", True, True, ("coding", "research", "safe")),
        ("image_view", "none", True, True, ("coding", "research", "browser", "safe")),
        ("job_output", "none", True, False, ("coding", "safe")),
        ("job_stop", "none", False, False, ("coding",)),
        ("list", "none", True, True, ("coding", "research", "safe")),
        ("list_sessions", "none", True, True, ("coding", "research", "safe")),
        ("memory_search", "none", True, True, ("coding", "research", "safe")),
        ("memory_write", "write", False, False, ("coding", "research")),
        ("pdf_read", "none", True, True, ("coding", "research", "safe")),
        ("playwright_browser", "network", False, False, ("browser",)),
        ("read", "none", True, True, ("coding", "research", "safe")),
        ("send_message", "execute", False, False, ("coding", "research")),
        ("todo", "none", True, False, ("coding", "research", "browser", "safe")),
        ("web_fetch", "network", True, True, ("coding", "research")),
        ("web_search", "network", True, True, ("research",)),
        ("worktree_create", "write", False, False, ("coding",)),
        ("worktree_list", "none", True, True, ("coding", "safe")),
        ("worktree_remove", "write", False, False, ("coding",)),
        ("write", "write", False, False, ("coding",)),
    ]
    deferred = {spec.name for spec in builtin_tools(config) if spec.residency == "deferred"}
    assert deferred == {
        "apply_patch",
        "git_read",
        "image_view",
        "job_output",
        "job_stop",
        "list_sessions",
        "memory_search",
        "memory_write",
        "pdf_read",
        "playwright_browser",
        "send_message",
        "worktree_create",
        "worktree_list",
        "worktree_remove",
    }
    assert {spec.source for spec in builtin_tools(config)} == {"builtin"}


def test_only_searching_provides_web_search(config):  # T4
    assert [spec.name for spec in builtin_tools(config) if "web_search" in spec.provides] == ["web_search"]


def test_the_safe_preset_holds_what_only_looks_and_stays_here(config):  # T14
    for spec in builtin_tools(config):
        assert ("safe" in spec.presets) is (spec.readonly and not spec.network)


def test_what_changes_anything_can_be_previewed(config):
    changing = {spec.name for spec in builtin_tools(config) if spec.permission in ("write", "execute") or spec.judge}
    assert {spec.name for spec in builtin_tools(config) if spec.preview} == changing


def test_no_description_names_another_tool_a_number_or_a_path(config):  # C11
    for spec in builtin_tools(config):
        properties = spec.parameters["properties"]
        assert isinstance(properties, dict)
        texts = [
            spec.description,
            *(str(item["description"]) for item in properties.values() if isinstance(item, dict)),
        ]
        for text in texts:
            words = set(re.findall(r"[a-z_]+", text.lower()))
            assert not words & set(ALL_RESIDENTS) - {spec.name}, text
            assert not re.search(r"\d", text), text
            assert not re.search(r"(^|\s)[~/]\w|\w/\w", text), text


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("change multiple files at once", "apply_patch"),
        ("history of a file in git", "git_read"),
        ("check out a branch beside this one", "worktree_create"),
        ("remember this for later", "memory_write"),
        ("what did we decide in earlier chats", "memory_search"),
        ("look at a screenshot", "image_view"),
        ("open a pdf document", "pdf_read"),
    ],
)
def test_a_deferred_tool_is_found_by_what_it_does(config, query, name):  # T17
    tools = builtin_tools(config)
    deferred = {spec.name for spec in tools if spec.residency == "deferred"}
    assert Index(tools, {}).rank(query, deferred, 1) == (name,)


def test_declarations_are_the_same_bytes_each_time(config):  # T11
    first, second = (encode([spec.declaration for spec in builtin_tools(config)]) for _ in range(2))
    assert first == second


def test_what_cannot_be_offered_says_why_and_is_registered_all_the_same(config, tmp_path):  # T12
    assert set(unavailable_tools(config)) == {"web_search"}
    bare = BuiltinConfig(tmp_path, Jobs(), search=SearchConfig(exa_key="k"), ripgrep=None, git=None)
    reasons = unavailable_tools(bare)
    of_git = {"git_read", "worktree_create", "worktree_list", "worktree_remove"}
    assert set(reasons) == {"glob", "grep", *of_git}
    assert all(("git is not" if name in of_git else "ripgrep") in reason for name, reason in reasons.items())
    assert {spec.name for spec in builtin_tools(bare)} == {spec.name for spec in builtin_tools(config)}

"""Resolution over every intent, registry, profile and source (spec tools.md section 2)."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from openprogram.core.errors import ConfigError, UnknownPreset
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import encode
from openprogram.core.tooling import AgentProfile, DropReason, Origin, Preset, Resolution, Snapshot, ToolSpec
from openprogram.session_config.patches import SetWebSearch, apply
from openprogram.tools.presets import combine, expand
from openprogram.tools.registry import Registry
from openprogram.tools.resolve import resolve
from tests.support.tools import BRAVE, BUILTIN, NAMES, PRESETS, intents, resolved, snapshot, snapshots, spec

profiles = st.builds(
    AgentProfile, forbidden=st.lists(st.sampled_from((*NAMES, "w*")), max_size=2, unique=True).map(tuple)
)
origins: st.SearchStrategy[Origin] = st.sampled_from(get_args(Origin))


def searching(resolution: Resolution) -> list[str]:
    return [tool.name for tool in resolution.kept if "web_search" in tool.provides]


@given(intents(), snapshots(), profiles, origins)
def test_every_tool_is_kept_or_has_one_reason(
    intent: ToolIntent, now: Snapshot, profile: AgentProfile, origin: Origin
) -> None:  # T12
    resolution = resolve(intent, now, profile, origin)

    assert sorted([*resolution.names, *resolution.dropped]) == [tool.name for tool in now.tools]
    assert all(drop.reason in get_args(DropReason) and drop.detail for drop in resolution.dropped.values())


@given(intents(), snapshots(), profiles, origins)
def test_off_is_off(intent: ToolIntent, now: Snapshot, profile: AgentProfile, origin: Origin) -> None:  # T3
    off = resolve(replace(intent, enabled=False, web_search=None), now, profile, origin)
    chip = resolve(replace(intent, enabled=False, web_search=True), now, profile, origin)

    assert off.names == ()
    assert set(chip.names) <= {"web_search"}
    there = now.get("web_search") is not None and "web_search" not in now.unavailable
    if there and not set(profile.forbidden) & {"web_search", "w*"}:
        assert chip.names == ("web_search",)


@given(intents(), snapshots(), origins)
@example(ToolIntent(toolset="full"), snapshot(("mcp:brave", [BRAVE])), "web")
def test_with_the_chip_off_nothing_that_searches_is_kept(
    intent: ToolIntent, now: Snapshot, origin: Origin
) -> None:  # T4
    resolution = resolve(replace(intent, web_search=False), now, AgentProfile(), origin)

    assert searching(resolution) == []
    assert resolution.web_search.state == "off"


@given(intents(), snapshots(), profiles, origins)
def test_the_chip_shows_what_the_model_can_do(
    intent: ToolIntent, now: Snapshot, profile: AgentProfile, origin: Origin
) -> None:  # T4, report 7
    resolution = resolve(intent, now, profile, origin)

    assert (resolution.web_search.state == "on") == bool(searching(resolution))
    if resolution.web_search.state == "unavailable":
        assert resolution.web_search.reason
    if intent.web_search is True:
        assert resolution.web_search.state != "off"


@given(intents(), snapshots(), st.sampled_from((True, False)))
def test_the_chip_moves_nothing_but_what_searches(intent: ToolIntent, now: Snapshot, value: bool) -> None:
    before = resolved(intent, now)
    after = resolved(apply(intent, SetWebSearch(value)), now)

    moved = set(before.names) ^ set(after.names)
    assert moved <= {tool.name for tool in now.tools if "web_search" in tool.provides}
    assert value or set(after.names) <= set(before.names)


@given(intents(), snapshots(), profiles)
def test_what_the_user_switched_off_is_never_kept(intent: ToolIntent, now: Snapshot, profile: AgentProfile) -> None:
    names = resolve(intent, now, profile, "web").names

    assert not set(names) & set(intent.disabled) - {"web_search"}
    assert all(name not in names for name in profile.forbidden)
    assert all(name not in names for name in now.unavailable)


@given(intents(), snapshots(), st.randoms(use_true_random=False))
def test_the_order_of_registration_changes_no_byte(intent: ToolIntent, now: Snapshot, random) -> None:  # T11
    sources: dict[str, list[ToolSpec]] = {}
    for tool in now.tools:
        sources.setdefault(tool.source, []).append(tool)
    shuffled = Registry()
    for source in random.sample(sorted(sources), len(sources)):
        tools = random.sample(sources[source], len(sources[source]))
        shuffled.put(source, tools, {name: now.unavailable[name] for name in now.unavailable})
    again = resolved(intent, shuffled.snapshot)
    first = resolved(intent, now)

    assert encode([tool.declaration for tool in again.kept]) == encode([tool.declaration for tool in first.kept])
    assert list(again.dropped.items()) == list(first.dropped.items())
    assert (again.unknown, again.web_search) == (first.unknown, first.web_search)


@given(intents(), snapshots())
def test_names_are_sorted_and_unique(intent: ToolIntent, now: Snapshot) -> None:  # T11
    resolution = resolved(intent, now)

    assert list(resolution.names) == sorted(set(resolution.names))
    assert list(resolution.unknown) == sorted(set(resolution.unknown))


@given(intents(), snapshots())
def test_unknown_names_are_told_and_change_nothing_else(intent: ToolIntent, now: Snapshot) -> None:  # T13
    resolution = resolved(intent, now)
    registered = {tool.name for tool in now.tools}
    asked = {*intent.disabled, *(intent.picked or ())} if intent.enabled is not False else set(intent.disabled)

    assert set(resolution.unknown) == asked - registered
    known = None if intent.picked is None else tuple(name for name in intent.picked if name in registered)
    assert resolved(replace(intent, picked=known), now).names == resolution.names


@given(intents(), snapshots(), st.text(max_size=20).filter(lambda name: name not in PRESETS))
def test_an_unknown_preset_in_force_is_never_no_tools_and_never_all(
    intent: ToolIntent, now: Snapshot, name: str
) -> None:  # T13, report 47
    misspelt = replace(intent, toolset=name)
    if intent.enabled is False or intent.picked is not None:  # no preset is in force
        assert resolved(misspelt, now).names == resolved(intent, now).names
        return
    with pytest.raises(UnknownPreset) as caught:
        resolved(misspelt, now)
    assert all(preset in str(caught.value.hint) for preset in PRESETS)


@given(intents(), snapshots(), st.sampled_from(("default", "full", "coding", "research", "safe")))
def test_a_new_tool_arrives_where_its_preset_includes_it(intent: ToolIntent, now: Snapshot, preset: str) -> None:  # T5
    assume(intent.enabled is not False and intent.picked is None)
    live = Registry()
    live.put("builtin", [tool for tool in now.tools if tool.source == "builtin"])
    before = resolved(replace(intent, toolset=preset), live.snapshot)
    new = spec("brand_new", readonly=True, residency="resident", presets=("coding", "research"))
    live.put("plugin:new", [new])
    after = resolved(replace(intent, toolset=preset), live.snapshot)

    assert set(after.names) - set(before.names) == {"brand_new"}
    assert set(before.names) <= set(after.names)


@given(intents(), intents(), snapshots())
def test_a_child_has_nothing_that_its_parent_was_denied(
    mine: ToolIntent, childs: ToolIntent, now: Snapshot
) -> None:  # T15
    parent = resolved(mine, now)
    child = resolve(childs, now, AgentProfile(), "subagent", parent=parent)

    assert set(child.names) <= set(parent.names)


preset_names = st.sampled_from(("a", "b", "c", "d", "e"))
user_presets = st.lists(
    st.builds(
        Preset,
        name=preset_names,
        title=st.just("P"),
        entries=st.lists(
            st.sampled_from(("read", "-read", "*", "-w*", "@readonly", "-@network", "gone")), max_size=3
        ).map(tuple),
        includes=st.lists(st.sampled_from(("a", "b", "c", "d", "e", "safe")), max_size=3).map(tuple),
    ),
    unique_by=lambda preset: preset.name,
)


@given(user_presets, st.randoms(use_true_random=False))
def test_presets_compose_alike_in_any_order_or_not_at_all(presets: list[Preset], random) -> None:  # T14
    def composed(order: list[Preset]) -> dict[str, tuple[str, ...]] | None:
        try:
            found = combine(order)
        except ConfigError:
            return None
        return {preset.name: expand(preset.name, found, BUILTIN).names for preset in presets}

    assert composed(presets) == composed(random.sample(presets, len(presets)))

from typing import get_args

import pytest

from openprogram.core.errors import UnknownPreset
from openprogram.core.intent import ChipEffect, ToolIntent
from openprogram.core.tooling import AgentProfile, Drop, DropReason, Origin, Preset
from openprogram.session_config.layers import Layers, merge
from openprogram.tools.resolve import resolve, turn_view
from tests.support.tools import BRAVE, NAMES, PROFILE, READ, WEATHER, registry, resolved, snapshot, spec

NOW = snapshot(("plugin:weather", [WEATHER]), ("mcp:brave", [BRAVE]))
DEFAULT = ("bash", "read", "weather", "web_fetch", "write")
EVERY = ("bash", "mcp__brave__search", "memory_search", "read", "weather", "web_fetch", "web_search", "write")


@pytest.mark.parametrize(
    ("intent", "names"),
    [
        pytest.param(ToolIntent(), DEFAULT, id="nothing said is the default"),
        pytest.param(ToolIntent(enabled=True), DEFAULT, id="on is the default, never full"),
        pytest.param(ToolIntent(toolset="full"), EVERY, id="full"),
        pytest.param(ToolIntent(toolset="safe"), ("memory_search", "read"), id="preset"),
        pytest.param(ToolIntent(toolset="none"), (), id="none"),
        pytest.param(ToolIntent(picked=("write", "read")), ("read", "write"), id="picked"),
        pytest.param(ToolIntent(toolset="full", picked=("read",)), ("read",), id="picked beats the preset"),
        pytest.param(ToolIntent(picked=()), (), id="nothing picked"),
        pytest.param(ToolIntent(allowed=("w*",)), ("weather", "web_fetch", "write"), id="allowed"),
        pytest.param(ToolIntent(toolset="safe", allowed=("w*",)), ("memory_search", "read"), id="not a preset"),
        pytest.param(ToolIntent(picked=("read",), allowed=("w*",)), ("read",), id="nor a selection"),
        pytest.param(ToolIntent(disabled=("bash", "weather")), ("read", "web_fetch", "write"), id="disabled"),
        pytest.param(ToolIntent(picked=("read", "bash"), disabled=("bash",)), ("read",), id="picked and disabled"),
    ],
)
def test_what_an_intent_means(intent: ToolIntent, names: tuple[str, ...]) -> None:
    assert resolved(intent, NOW).names == names


def test_off_is_off_even_with_preset_and_picks() -> None:  # T3
    assert resolved(ToolIntent(False, "full", None, (), ("read",)), NOW).names == ()


def test_off_stays_off_when_another_tool_takes_the_name() -> None:  # T3
    known = registry(("plugin:zeta", [spec("same")]))
    off = ToolIntent(toolset="full", disabled=("same",))
    assert resolved(off, known.snapshot).dropped["same"].reason == "switched_off"
    known.put("plugin:alpha", [spec("same")])
    [renamed] = [tool.name for tool in known.snapshot.tools if tool.source == "plugin:zeta"]
    assert renamed != "same"
    assert {name: drop.reason for name, drop in resolved(off, known.snapshot).dropped.items()} == {
        "same": "switched_off",
        renamed: "switched_off",
    }


def test_off_with_the_chip_is_exactly_the_search() -> None:  # T3
    assert resolved(ToolIntent(False, "full", True, (), ("read",)), NOW).names == ("web_search",)


def test_off_needs_no_preset() -> None:
    assert resolved(ToolIntent(enabled=False, toolset="deleted"), NOW).names == ()
    assert resolved(ToolIntent(toolset="deleted", picked=("read",)), NOW).names == ("read",)


def test_the_chip_adds_the_search_to_any_base() -> None:
    assert resolved(ToolIntent(web_search=True), NOW).names == tuple(sorted((*DEFAULT, "web_search")))
    assert resolved(ToolIntent(picked=("read",), web_search=True), NOW).names == ("read", "web_search")
    assert resolved(ToolIntent(toolset="none", web_search=True), NOW).names == ("web_search",)


def test_the_chip_is_stronger_than_a_layer_that_lists_its_tool_as_disabled() -> None:
    assert "web_search" in resolved(ToolIntent(disabled=("web_search",), web_search=True), NOW).names


@pytest.mark.parametrize(
    ("origin", "asks"), [("web", True), ("terminal", False), ("channel", False), ("subagent", False)]
)
def test_a_tool_that_asks_a_person_is_there_only_where_one_is(origin: Origin, asks: bool) -> None:  # T12
    asking = registry()
    asking.put("builtin", [spec("ask_user", needs_person=True), READ])
    resolution = resolve(ToolIntent(toolset="full"), asking.snapshot, PROFILE, origin)

    assert ("ask_user" in resolution.names) is asks
    assert "read" in resolution.names
    if not asks:
        reason = Drop("source_forbids", f"nobody can be asked in a turn from a {origin}")
        assert resolution.dropped["ask_user"] == reason


@pytest.mark.parametrize(
    "intent", [ToolIntent(toolset="full"), ToolIntent(toolset="research"), ToolIntent(picked=NAMES)]
)
def test_the_chip_off_takes_away_every_tool_that_searches(intent: ToolIntent) -> None:  # T4, report 6
    chip_off = ToolIntent(intent.enabled, intent.toolset, False, (), intent.picked)
    resolution = resolved(chip_off, NOW)

    assert not any("web_search" in tool.provides for tool in resolution.kept)
    assert resolution.dropped["web_search"].reason == "chip_off"
    assert resolution.web_search == ChipEffect("off")
    assert "web_fetch" in resolution.names  # fetching is not searching


@pytest.mark.parametrize(
    ("intent", "effect"),
    [
        (ToolIntent(), ChipEffect("off")),
        (ToolIntent(web_search=True), ChipEffect("on")),
        (ToolIntent(web_search=False), ChipEffect("off")),
        (ToolIntent(toolset="research"), ChipEffect("on", "the preset research has it")),
        (ToolIntent(picked=("web_search",)), ChipEffect("on")),
        (ToolIntent(picked=("mcp__brave__search",)), ChipEffect("on")),
        (ToolIntent(enabled=False), ChipEffect("off")),
        (ToolIntent(enabled=False, web_search=True), ChipEffect("on")),
    ],
)
def test_the_chip_shows_the_effective_state(intent: ToolIntent, effect: ChipEffect) -> None:  # T4
    assert resolved(intent, NOW).web_search == effect


def test_a_default_of_searching_shows_the_chip_on() -> None:  # report 7
    layers = Layers(session=ToolIntent(toolset="coding"), default=ToolIntent(web_search=True))
    resolution = resolved(merge(layers), NOW)

    assert resolution.web_search == ChipEffect("on")
    assert "web_search" in resolution.names


def test_a_search_without_a_key_is_unavailable_with_the_reason() -> None:  # T4, T12
    keyless = snapshot(unavailable={"web_search": "no search service is configured"})

    for intent in (ToolIntent(web_search=True), ToolIntent(toolset="research")):
        resolution = resolved(intent, keyless)
        assert resolution.web_search == ChipEffect("unavailable", "no search service is configured")
        assert resolution.dropped["web_search"].reason == "not_configured"
    assert resolved(ToolIntent(), keyless).web_search == ChipEffect("off")


def test_a_search_that_is_not_there_or_forbidden_is_unavailable() -> None:
    bare = registry()
    bare.put("builtin", [spec("read")])
    assert resolved(ToolIntent(web_search=True), bare.snapshot).web_search.state == "unavailable"

    strict = AgentProfile("strict", forbidden=("web_*",))
    assert resolved(ToolIntent(web_search=True), NOW, strict).web_search == ChipEffect(
        "unavailable", "the agent profile strict forbids it"
    )


REASONS: tuple[tuple[ToolIntent, str, DropReason], ...] = (
    (ToolIntent(enabled=False), "read", "tools_off"),
    (ToolIntent(), "memory_search", "not_in_preset"),
    (ToolIntent(picked=("read",)), "bash", "not_in_preset"),
    (ToolIntent(allowed=("read",)), "bash", "not_in_preset"),
    (ToolIntent(disabled=("bash",)), "bash", "switched_off"),
    (ToolIntent(toolset="full", web_search=False), "mcp__brave__search", "chip_off"),
    (ToolIntent(), "weather", "profile_forbids"),
    (ToolIntent(), "bash", "source_forbids"),
    (ToolIntent(), "write", "not_configured"),
)


def test_each_reason_of_the_closed_list_has_its_case() -> None:  # T12
    assert {reason for _, _, reason in REASONS} == set(get_args(DropReason))


@pytest.mark.parametrize(("intent", "name", "reason"), REASONS)
def test_each_tool_that_is_left_out_has_its_reason(intent: ToolIntent, name: str, reason: DropReason) -> None:  # T12
    profile = AgentProfile(forbidden=("weath*",))
    broken = snapshot(
        ("plugin:weather", [WEATHER]), ("mcp:brave", [BRAVE]), unavailable={"write": "the disk is read-only"}
    )
    drop = resolve(intent, broken, profile, "channel").dropped[name]

    assert drop.reason == reason
    assert drop.detail


def test_no_shell_from_a_chat_channel() -> None:  # T12
    assert "bash" not in resolve(ToolIntent(toolset="full"), NOW, PROFILE, "channel").names
    assert [
        "bash" in resolve(ToolIntent(toolset="full"), NOW, PROFILE, origin).names for origin in get_args(Origin)
    ] == [origin != "channel" for origin in get_args(Origin)]


def test_a_subagent_has_nothing_that_its_parent_was_denied() -> None:  # T15
    parent = resolved(ToolIntent(toolset="coding", disabled=("bash",), web_search=False), NOW)
    child = resolve(ToolIntent(toolset="full", web_search=True), NOW, PROFILE, "subagent", parent=parent)

    assert child.names == ("read", "write")
    assert child.dropped["bash"].reason == "source_forbids"
    nothing = resolve(
        ToolIntent(toolset="full"), NOW, PROFILE, "subagent", parent=resolved(ToolIntent(enabled=False), NOW)
    )
    assert nothing.names == ()


def test_an_unknown_preset_in_force_is_an_error_with_the_choices() -> None:  # T13, report 47
    with pytest.raises(UnknownPreset, match="'legacy'") as caught:
        resolved(ToolIntent(toolset="legacy"), NOW)

    assert "coding" in str(caught.value.hint)
    assert "follow the profile" in str(caught.value.hint)


def test_unknown_names_are_skipped_and_told() -> None:  # T13
    mine = snapshot(presets=[Preset("mine", "Mine", entries=("read", "lost"))])

    assert resolved(ToolIntent(picked=("read", "gone")), mine).names == ("read",)
    assert resolved(ToolIntent(picked=("read", "gone")), mine).unknown == ("gone",)
    assert resolved(ToolIntent(toolset="mine", disabled=("gone",)), mine).unknown == ("gone", "lost")
    assert resolved(ToolIntent(enabled=False, picked=("gone",)), mine).unknown == ()


@pytest.mark.parametrize(
    "intent",
    [
        ToolIntent(),
        ToolIntent(enabled=True),
        ToolIntent(web_search=True),
        ToolIntent(None, "coding"),
        ToolIntent(None, "full"),
    ],
)
def test_a_tool_added_later_is_in_every_old_chat(intent: ToolIntent) -> None:  # T5, report 2
    live = registry()
    before = resolved(intent, live.snapshot)
    live.put("plugin:new", [spec("brand_new", presets=("coding",))])
    after = resolved(intent, live.snapshot)

    assert set(after.names) - set(before.names) == {"brand_new"}
    live.remove("plugin:new")
    assert resolved(intent, live.snapshot).names == before.names


def test_a_preset_that_is_edited_is_followed() -> None:  # T5
    live = registry(presets=[Preset("mine", "Mine", entries=("read",))])
    assert resolved(ToolIntent(toolset="mine"), live.snapshot).names == ("read",)

    live.set_presets([Preset("mine", "Mine", entries=("read", "bash"))])
    assert resolved(ToolIntent(toolset="mine"), live.snapshot).names == ("bash", "read")


def test_a_running_turn_asks_its_own_tools_and_presets_and_knows_new_ones() -> None:  # T21
    live = registry(presets=[Preset("old", "Old", entries=("read",)), Preset("edited", "E", entries=("bash",))])
    frozen = live.snapshot
    live.set_presets([Preset("new", "New", entries=("read", "brand_new")), Preset("edited", "E", entries=("*",))])
    live.put("plugin:new", [spec("brand_new")])
    view = turn_view(frozen, live.snapshot)

    assert resolved(ToolIntent(toolset="old"), view).names == ("read",)
    assert resolved(ToolIntent(toolset="new"), view).names == ("read",)
    assert resolved(ToolIntent(toolset="edited"), view).names == ("bash",)
    assert resolved(ToolIntent(toolset="full"), view).names == resolved(ToolIntent(toolset="full"), frozen).names


def test_a_resolution_says_what_it_was_made_from() -> None:
    resolution = resolve(ToolIntent(), NOW, PROFILE, "web", revision=7)

    assert (resolution.intent_revision, resolution.registry_version) == (7, NOW.version)
    assert resolution.preset == "default"
    assert resolved(ToolIntent(toolset="safe"), NOW).preset == "safe"
    assert resolved(ToolIntent(picked=()), NOW).preset is None
    assert resolved(ToolIntent(enabled=False), NOW).preset is None

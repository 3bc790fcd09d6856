"""The intent model over everything that can be typed (spec tools.md section 1)."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.intent import IntentField, Layer, StoredIntent, ToolIntent
from openprogram.core.jsonio import decode, encode
from openprogram.session_config.codec import read_intent, write_intent
from openprogram.session_config.layers import Layers, explain, merge
from openprogram.session_config.patches import (
    Patch,
    SetEnabled,
    SetPicked,
    SetToolDisabled,
    SetToolset,
    SetWebSearch,
    apply,
    change_intent,
)
from tests.support.tools import intents, layers, name_lists, optional_flags, registry, snapshot, spec

NOW = snapshot(("mcp:s", [spec("weather"), spec("gone"), spec("mcp__brave__search")]))
ORDER: tuple[Layer, ...] = ("override", "session", "project", "profile", "default")
FALLING: tuple[IntentField, ...] = ("enabled", "toolset", "web_search", "picked", "allowed")

patches: st.SearchStrategy[Patch] = st.one_of(
    st.builds(SetEnabled, optional_flags),
    st.builds(SetToolset, st.sampled_from((None, "research", "safe"))),
    st.builds(SetWebSearch, optional_flags),
    st.builds(SetToolDisabled, st.sampled_from(("bash", "read", "write")), st.booleans()),
    st.builds(SetPicked, st.none() | name_lists),
)


def target(patch: Patch) -> object:
    """What a patch is about: two patches of one target are the same field of one chat."""
    return (patch.type, patch.name) if isinstance(patch, SetToolDisabled) else patch.type


@given(intents())
def test_every_intent_survives_save_and_load(intent: ToolIntent) -> None:  # T2
    assert read_intent(decode(encode(write_intent(intent)))) == intent


@given(intents(), st.sets(st.sampled_from(("enabled", "toolset", "web_search", "disabled", "picked", "allowed"))))
def test_a_row_from_before_a_field_existed_reads_as_null_for_it(intent: ToolIntent, missing: set[str]) -> None:  # T2
    row = {key: value for key, value in write_intent(intent).items() if key not in missing}
    read = read_intent(row)

    for name in ToolIntent.__slots__:
        empty = () if name == "disabled" else None
        assert getattr(read, name) == (empty if name in missing else getattr(intent, name))


@given(intents(), patches)
def test_a_patch_changes_one_field(intent: ToolIntent, patch: Patch) -> None:  # T8
    changed = apply(intent, patch)

    assert sum(getattr(changed, name) != getattr(intent, name) for name in ToolIntent.__slots__) <= 1
    assert apply(changed, patch) == changed


@given(intents(), patches, patches)
def test_patches_of_different_fields_both_win_and_of_one_field_the_later_does(
    intent: ToolIntent, one: Patch, other: Patch
) -> None:  # T8
    if target(one) == target(other):
        assert apply(apply(intent, one), other) == apply(intent, other)
    else:
        assert apply(apply(intent, one), other) == apply(apply(intent, other), one)


@given(intents(), st.lists(patches, max_size=6))
def test_whatever_is_done_only_names_that_the_user_gave_are_stored(
    intent: ToolIntent, done: list[Patch]
) -> None:  # T1, T10
    given_names = {*intent.disabled, *(intent.picked or ()), *(intent.allowed or ())}
    stored = StoredIntent(intent)
    for patch in done:
        if isinstance(patch, SetToolDisabled):
            given_names.add(patch.name)
        if isinstance(patch, SetPicked):
            given_names.update(patch.names or ())
        changed = change_intent(stored, patch, NOW)
        stored = stored if changed is None else StoredIntent(changed, stored.revision + 1)

    result = stored.intent
    assert {*result.disabled, *(result.picked or ()), *(result.allowed or ())} <= given_names


@given(intents(), patches)
def test_a_change_does_not_depend_on_what_tools_mean_today(intent: ToolIntent, patch: Patch) -> None:  # T1
    grown = registry(("mcp:s", NOW.tools))
    grown.put("plugin:new", [spec(f"new_{i}", residency="resident", presets=("research",)) for i in range(20)])

    assert change_intent(StoredIntent(intent), patch, NOW) == change_intent(StoredIntent(intent), patch, grown.snapshot)


@given(intents(), optional_flags)
def test_a_chip_action_changes_no_other_field(intent: ToolIntent, value: bool | None) -> None:
    assert apply(intent, SetWebSearch(value)) == replace(intent, web_search=value)


@given(layers())
def test_each_field_comes_from_the_highest_layer_that_says_anything(found: Layers) -> None:  # T9
    merged = merge(found)
    for field in FALLING:
        said = [(layer, getattr(found.of(layer), field)) for layer in ORDER]
        layer, value = next((pair for pair in said if pair[1] is not None), ("default", None))
        decided = explain(found, field)

        assert getattr(merged, field) == value
        assert (decided.layer, decided.value) == (layer, value)


@given(layers())
def test_no_layer_lifts_what_another_switched_off(found: Layers) -> None:  # T9
    assert set(merge(found).disabled) == {name for layer in ORDER for name in found.of(layer).disabled}


@given(intents(), intents())
def test_one_chats_switches_never_move_to_another(mine: ToolIntent, yours: ToolIntent) -> None:  # T7
    profile = Layers(profile=ToolIntent(toolset="safe"))
    before = merge(replace(profile, session=yours))
    apply(mine, SetWebSearch(True))

    assert merge(replace(profile, session=yours)) == before
    assert merge(replace(profile, session=ToolIntent())) == ToolIntent(toolset="safe")

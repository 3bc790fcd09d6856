import pytest

from openprogram.core.errors import BadField, LimitExceeded, UnknownPreset, UnknownTool
from openprogram.core.intent import StoredIntent, ToolIntent
from openprogram.session_config.patches import (
    MAX_PICKED,
    Patch,
    SetEnabled,
    SetPicked,
    SetToolDisabled,
    SetToolset,
    SetWebSearch,
    apply,
    change_intent,
)
from tests.support.tools import snapshot

FULL = ToolIntent(True, "research", True, ("bash",), ("read",), ("web_*",))


@pytest.mark.parametrize(
    ("patch", "field"),
    [
        (SetEnabled(None), "enabled"),
        (SetToolset("safe"), "toolset"),
        (SetWebSearch(False), "web_search"),
        (SetToolDisabled("read", True), "disabled"),
        (SetToolDisabled("bash", False), "disabled"),
        (SetPicked(("write",)), "picked"),
    ],
)
def test_a_patch_changes_one_field(patch: Patch, field: str) -> None:
    changed = apply(FULL, patch)

    differing = [name for name in ToolIntent.__slots__ if getattr(changed, name) != getattr(FULL, name)]
    assert differing == [field]


def test_the_chip_and_a_preset_leave_an_intent_and_no_list() -> None:  # T1
    stored = StoredIntent()
    for patch in (SetWebSearch(True), SetToolset("research")):
        changed = change_intent(stored, patch, snapshot())
        assert changed is not None
        stored = StoredIntent(changed, stored.revision + 1)

    assert stored.intent == ToolIntent(toolset="research", web_search=True)
    assert (stored.intent.disabled, stored.intent.picked, stored.intent.allowed) == ((), None, None)


def test_a_patch_that_changes_nothing_is_no_change() -> None:
    assert change_intent(StoredIntent(FULL, 3), SetToolset("research"), snapshot()) is None
    assert change_intent(StoredIntent(FULL, 3), SetToolDisabled("bash", True), snapshot()) is None


def test_switched_off_tools_are_stored_sorted_and_once() -> None:
    intent = apply(apply(ToolIntent(disabled=("write",)), SetToolDisabled("bash", True)), SetToolDisabled("bash", True))

    assert intent.disabled == ("bash", "write")


def test_a_selection_keeps_its_order_without_repeats() -> None:
    assert apply(ToolIntent(), SetPicked(("write", "read", "write"))).picked == ("write", "read")


def test_an_unknown_preset_is_refused_with_the_choices() -> None:  # T13, report 47
    with pytest.raises(UnknownPreset, match="'reserch'") as caught:
        change_intent(StoredIntent(), SetToolset("reserch"), snapshot())

    assert caught.value.field == "toolset"
    assert "research" in str(caught.value.hint)
    assert "follow the profile" in str(caught.value.hint)


def test_following_the_profile_again_is_always_possible() -> None:
    stored = StoredIntent(ToolIntent(toolset="deleted"), 2)

    assert change_intent(stored, SetToolset(None), snapshot()) == ToolIntent()


def test_switching_off_an_unknown_tool_is_refused_and_on_again_is_not() -> None:
    with pytest.raises(UnknownTool, match="'gone'"):
        change_intent(StoredIntent(), SetToolDisabled("gone", True), snapshot())

    stored = StoredIntent(ToolIntent(disabled=("gone",)), 1)
    assert change_intent(stored, SetToolDisabled("gone", False), snapshot()) == ToolIntent()


@pytest.mark.parametrize("value", [True, False])
def test_the_chips_tool_is_not_switched_one_by_one(value: bool) -> None:
    with pytest.raises(BadField, match="switch of its own"):
        change_intent(StoredIntent(), SetToolDisabled("web_search", value), snapshot())


def test_a_selection_may_name_a_tool_that_is_away() -> None:
    assert change_intent(StoredIntent(), SetPicked(("gone",)), snapshot()) == ToolIntent(picked=("gone",))


def test_a_selection_is_short() -> None:
    with pytest.raises(LimitExceeded, match=str(MAX_PICKED)):
        change_intent(StoredIntent(), SetPicked(tuple(f"t{i}" for i in range(MAX_PICKED + 1))), snapshot())

import pytest

from openprogram.core.intent import Layer, ToolIntent
from openprogram.session_config.layers import Layers, disabled_by, explain, explain_all, merge

EVERY_LAYER = Layers(
    override=ToolIntent(toolset="override"),
    session=ToolIntent(toolset="session"),
    project=ToolIntent(toolset="project"),
    profile=ToolIntent(toolset="profile"),
    default=ToolIntent(toolset="default"),
)


def without(layers: Layers, *names: Layer) -> Layers:
    kept = {name: layers.of(name) for name in ("override", "session", "project", "profile", "default")}
    return Layers(**{name: intent for name, intent in kept.items() if name not in names})


@pytest.mark.parametrize("place", range(5))
def test_a_field_is_decided_by_the_highest_layer_that_says_anything(place: int) -> None:  # T9
    order: tuple[Layer, ...] = ("override", "session", "project", "profile", "default")
    layers = without(EVERY_LAYER, *order[:place])

    assert merge(layers).toolset == order[place]
    assert explain(layers, "toolset").layer == order[place]


def test_each_field_falls_through_by_itself() -> None:  # T9
    layers = Layers(session=ToolIntent(web_search=True), profile=ToolIntent(enabled=False, toolset="research"))

    assert merge(layers) == ToolIntent(enabled=False, toolset="research", web_search=True)


def test_false_is_a_word_and_does_not_fall_through() -> None:
    layers = Layers(session=ToolIntent(enabled=False, web_search=False), profile=ToolIntent(True, None, True))

    assert merge(layers).enabled is False
    assert merge(layers).web_search is False


def test_an_empty_selection_is_a_selection() -> None:
    layers = Layers(session=ToolIntent(picked=()), profile=ToolIntent(picked=("read",)))

    assert merge(layers).picked == ()
    assert explain(layers, "picked").layer == "session"


def test_disabled_lists_unite_and_no_layer_lifts_anothers() -> None:
    layers = Layers(session=ToolIntent(disabled=("write",)), profile=ToolIntent(disabled=("bash",)))

    assert merge(layers).disabled == ("bash", "write")
    assert explain(layers, "disabled").layer == "session"
    assert explain(layers, "disabled").value == ("bash", "write")


def test_a_tool_that_the_profile_switches_off_is_not_the_chats_to_switch_on() -> None:
    layers = Layers(session=ToolIntent(disabled=("write",)), profile=ToolIntent(disabled=("bash", "write")))

    assert disabled_by(layers, "write") == "session"
    assert disabled_by(layers, "bash") == "profile"
    assert disabled_by(layers, "read") is None


def test_where_no_layer_says_anything_the_default_decided() -> None:
    assert {(decided.layer, decided.value) for decided in explain_all(Layers())} == {("default", None), ("default", ())}

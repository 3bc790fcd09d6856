"""What is remembered of resolutions is what they would come to now, whatever the registry does in between."""

from collections.abc import Callable
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.errors import UnknownPreset
from openprogram.core.intent import ToolIntent
from openprogram.core.tooling import AgentProfile, Preset, Resolution
from openprogram.tools.registry import Registry
from openprogram.tools.resolutions import Resolutions
from openprogram.tools.resolve import resolve
from tests.support.tools import BRAVE, BUILTIN, SEARCH, WEATHER, intents

PROFILES = (AgentProfile(), AgentProfile(forbidden=("w*",)))

changes: st.SearchStrategy[Callable[[Registry], None]] = st.sampled_from(
    (
        lambda registry: registry.put("plugin:weather", [WEATHER]),
        lambda registry: registry.put("mcp:brave", [BRAVE]),
        lambda registry: registry.remove("plugin:weather"),
        lambda registry: registry.remove("mcp:brave"),
        lambda registry: registry.put("builtin", BUILTIN),
        lambda registry: registry.put("builtin", BUILTIN, {"web_search": "no key"}),
        lambda registry: registry.put("builtin", [SEARCH]),
        lambda registry: registry.set_presets([Preset("mine", "Mine", entries=("read",), source="user")]),
        lambda registry: registry.set_presets([]),
    )
)
wishes = intents() | intents().map(lambda intent: replace(intent, toolset="mine"))
"""Some go by a preset that comes and goes."""


def outcome(make: Callable[[], Resolution]) -> Resolution | str:
    try:
        return make()
    except UnknownPreset as error:
        return error.message


@given(st.data(), st.lists(wishes, min_size=1, max_size=3), st.integers(1, 3))
def test_remembered_is_as_resolved_anew_under_any_order_of_registry_changes(
    data: st.DataObject, asked: list[ToolIntent], kept: int
) -> None:
    registry, remembering = Registry(), Resolutions(kept)
    registry.put("builtin", BUILTIN)
    for change in data.draw(st.lists(changes | st.none(), max_size=12)):
        if change is not None:
            change(registry)
        intent, revision = data.draw(st.sampled_from(asked)), data.draw(st.integers(0, 1))
        profile = data.draw(st.sampled_from(PROFILES))
        now = registry.snapshot
        remembered = outcome(lambda: remembering(intent, now, profile, "web", revision))  # noqa: B023 - called at once
        anew = outcome(lambda: resolve(intent, now, profile, "web", revision=revision))  # noqa: B023 - called at once
        assert remembered == anew


def test_no_more_than_a_few_are_remembered_and_those_that_are_asked_for_stay() -> None:
    registry, remembering = Registry(), Resolutions(2)
    registry.put("builtin", BUILTIN)

    def asked(revision: int) -> Resolution:
        return remembering(ToolIntent(), registry.snapshot, PROFILES[0], "web", revision)

    first, _, again, _ = asked(0), asked(1), asked(0), asked(2)
    assert again is first
    assert asked(0) is first
    assert len(remembering) == 2

"""What a turn's override lifts stays lifted until a person switches that very thing off (spec tools.md T9, T21, T4)."""

from dataclasses import replace

from hypothesis import example, given
from hypothesis import strategies as st

from openprogram.core.intent import StoredIntent, ToolIntent
from openprogram.core.tooling import Snapshot
from openprogram.session_config.layers import Layers, merge
from openprogram.sessions.authority import LiveAuthority
from tests.support.tools import intents, resolved, snapshot

ALL = snapshot()
OFF = ToolIntent(enabled=False, web_search=False)
LIFTS = ToolIntent(enabled=True, toolset="full", web_search=True)
histories = st.lists(intents(), max_size=5)


def names_of(session: ToolIntent, override: ToolIntent | None) -> frozenset[str]:
    return frozenset(resolved(merge(Layers(override or ToolIntent(), session)), ALL).names)


def _names_now(
    stored: StoredIntent, among: Snapshot, project: ToolIntent, override: ToolIntent | None
) -> frozenset[str]:
    return names_of(stored.intent, override)


def allowed(began: ToolIntent, override: ToolIntent | None, later: list[ToolIntent]) -> frozenset[str]:
    """What is authorised in a turn that began under `began` and this override, after these changes."""
    authority = LiveAuthority(_names_now, "ask")
    authority.begin_turn(StoredIntent(began, 1), ALL, ToolIntent(), override)
    for revision, intent in enumerate(later, 2):
        authority.intent_changed(StoredIntent(intent, revision))
    return frozenset(tool.name for tool in ALL.tools if authority.authorised_now(tool.name))


@given(intents(), intents(), histories)
@example(OFF, LIFTS, [replace(OFF, toolset="coding")])
def test_an_override_does_not_yield_to_switches_that_nobody_flipped_since_the_turn_began(
    began: ToolIntent, override: ToolIntent, later: list[ToolIntent]
) -> None:  # T9
    later = [replace(intent, enabled=began.enabled, web_search=began.web_search) for intent in later]

    assert allowed(began, override, later) == names_of(later[-1] if later else began, override)


@given(intents(), intents(), histories, intents())
@example(OFF, LIFTS, [replace(OFF, enabled=True)], replace(OFF, web_search=True))
@example(ToolIntent(web_search=True), LIFTS, [], ToolIntent(enabled=False, web_search=True))
def test_what_was_switched_off_since_the_turn_began_is_off_whatever_its_override_says(
    began: ToolIntent, override: ToolIntent, between: list[ToolIntent], last: ToolIntent
) -> None:  # T21, T4
    later = [*between, last]
    over = override
    if last.enabled is False and any(intent.enabled != began.enabled for intent in later):
        over = replace(over, enabled=None)
    if last.web_search is False and any(intent.web_search != began.web_search for intent in later):
        over = replace(over, web_search=None)

    names = allowed(began, override, later)
    assert names == names_of(last, over)
    if over.web_search is None and last.web_search is False:
        assert "web_search" not in names


@given(intents(), intents(), intents())
def test_an_intent_that_is_newer_than_the_one_the_turn_read_counts_as_changed_since(
    read: ToolIntent, override: ToolIntent, newer: ToolIntent
) -> None:  # T21
    authority = LiveAuthority(_names_now, "ask")
    authority.intent_changed(StoredIntent(newer, 2))
    authority.begin_turn(StoredIntent(read, 1), ALL, ToolIntent(), override)

    names = frozenset(tool.name for tool in ALL.tools if authority.authorised_now(tool.name))
    assert names == allowed(read, override, [newer])

"""What the user allows at this moment, by this turn's registry (spec tools.md T21)."""

from openprogram.core.intent import StoredIntent, ToolIntent
from openprogram.core.storage import ANYWHERE, Grant
from openprogram.core.tooling import Snapshot
from openprogram.session_config.layers import Layers, merge
from openprogram.sessions.authority import LiveAuthority
from tests.support.tools import resolved, snapshot

ON = StoredIntent(ToolIntent(toolset="coding"), 1)
OFF = StoredIntent(ToolIntent(enabled=False), 2)


def _names(stored: StoredIntent, among: Snapshot, project: ToolIntent, override: ToolIntent | None) -> frozenset[str]:
    return frozenset(resolved(merge(Layers(override or ToolIntent(), stored.intent, project)), among).names)


def _authority() -> LiveAuthority:
    authority = LiveAuthority(_names, "ask", ())
    authority.begin_turn(ON, snapshot(), ToolIntent(), None)
    return authority


def test_before_a_turn_nothing_is_allowed() -> None:  # law 6
    assert not LiveAuthority(_names, "ask", ()).authorised_now("bash")


def test_the_newest_intent_decides() -> None:
    authority = _authority()
    assert authority.authorised_now("bash")
    authority.intent_changed(OFF)
    assert not authority.authorised_now("bash")
    authority.intent_changed(StoredIntent(ON.intent, 3))
    assert authority.authorised_now("bash")


def test_an_older_intent_that_arrives_late_changes_nothing() -> None:  # T8
    authority = _authority()
    authority.intent_changed(OFF)
    authority.intent_changed(ON)
    assert not authority.authorised_now("bash")


def test_a_new_turn_judges_by_its_own_registry_and_override_even_if_the_intent_is_newer_than_it_read() -> None:
    authority = _authority()
    assert authority.authorised_now("bash")
    authority.intent_changed(StoredIntent(ToolIntent(toolset="coding"), 5))
    assert authority.authorised_now("bash")
    authority.begin_turn(
        ON, snapshot(), ToolIntent(), ToolIntent(picked=("read",))
    )  # read before revision 5 was stored
    assert not authority.authorised_now("bash")
    assert authority.authorised_now("read")


def test_off_is_off_even_under_the_override_of_the_turn() -> None:  # T21, T4
    authority = _authority()
    authority.begin_turn(ON, snapshot(), ToolIntent(), ToolIntent(enabled=True, toolset="coding", web_search=True))
    assert authority.authorised_now("bash")
    assert authority.authorised_now("web_search")
    authority.intent_changed(StoredIntent(ToolIntent(toolset="coding", web_search=False), 2))
    assert authority.authorised_now("bash")
    assert not authority.authorised_now("web_search")
    authority.intent_changed(StoredIntent(ToolIntent(enabled=False), 3))
    assert not authority.authorised_now("bash")
    authority.intent_changed(StoredIntent(ON.intent, 4))
    assert authority.authorised_now("bash")


def test_mode_and_grants_are_as_of_now() -> None:
    authority = _authority()
    authority.granted(Grant("bash", "ls"))
    authority.mode_changed("auto")
    authority.granted(Grant("bash", "pwd"))
    state = authority.permission()
    assert (state.mode, state.grants) == ("auto", (Grant("bash", "ls"), Grant("bash", "pwd")))


def test_a_chat_that_moves_takes_its_grants_from_the_running_turn_at_once() -> None:  # R17
    authority = _authority()
    for directory in ("/here", "/there", ANYWHERE, None):
        authority.granted(Grant("bash", "ls", directory))
    authority.moved("/there")
    assert authority.permission().grants == (Grant("bash", "ls", "/there"), Grant("bash", "ls", ANYWHERE))

"""A subagent's turn, at the seam where its contract is made (spec tools.md T15): a stand-in that resolves so."""

from dataclasses import replace

from openprogram.agent.environment import Setup
from openprogram.agent.freeze import freeze
from openprogram.agent.tool_search import tool_search
from openprogram.core.intent import ToolIntent
from openprogram.core.tooling import Resolution
from openprogram.tools.resolve import resolve
from tests.support.agent import Chat, FakeTool
from tests.support.deferral import declared, deferred, search, select
from tests.support.script import ScriptedProvider, call, say, use
from tests.support.tools import PROFILE, resolved


class Child(Chat):
    """A chat whose turns are bounded by what a parent's turn has."""

    parent: Resolution

    async def prepare(self) -> Setup:
        mine = resolve(self.intent, self.registry.snapshot, PROFILE, "subagent", parent=self.parent)
        setup = await super().prepare()
        return replace(setup, contract=freeze(mine, self.wrap), dropped=frozenset(mine.dropped))


async def test_a_child_neither_calls_nor_finds_nor_is_shown_what_its_parent_was_denied() -> None:  # T15, T17
    bash, notes, weather = FakeTool("bash"), deferred("notes"), deferred("weather")
    calls = call(
        use("bash", "c_1"), select("notes", call_id="c_2"), use("notes", "c_3"), select("weather", call_id="c_4")
    )
    child = Child(ScriptedProvider(calls, call(use("weather", "c_5")), say("Done.")), bash, notes, weather)
    child.registry.put("builtin", [tool_search, bash.spec, notes.spec, weather.spec])
    child.parent = resolved(ToolIntent(toolset="full", disabled=("bash", "notes")), child.registry.snapshot)
    await child.run()

    assert {result.call_id: result.status for result in child.results} == {
        "c_1": "denied",
        "c_2": "error",
        "c_3": "denied",
        "c_4": "ok",
        "c_5": "ok",
    }
    assert (bash.calls, notes.calls, weather.calls) == ([], [], [{}])
    assert child.loaded.names == ("weather",)
    assert [declared(request) for request in child.provider.requests][-1] == ["tool_search", "weather"]
    assert "notes" not in "".join(child.provider.requests[0].system)


async def test_what_a_parent_is_denied_a_childs_free_text_does_not_find() -> None:  # T15, T17
    notes, weather = deferred("notes"), deferred("weather")
    child = Child(ScriptedProvider(call(search("notes and weather")), say("Done.")), notes, weather)
    child.registry.put("builtin", [tool_search, notes.spec, weather.spec])
    child.parent = resolved(ToolIntent(toolset="full", disabled=("notes",)), child.registry.snapshot)
    await child.run()

    (found,) = child.results
    assert "weather" in found.content[0].text
    assert '"notes"' not in found.content[0].text

"""The loaded set in a chat's life: kept over runs, restarts and kills; what the tool panel says of it."""

from pathlib import Path
from typing import cast

from openprogram.agent.tool_search import tool_search
from openprogram.core.events import LoadedChanged, StepStarted, ToolCallFinished, TurnFinished
from openprogram.core.jsonio import encode
from openprogram.core.protocol.frames import ToolsAck
from openprogram.providers.pricing import tool_text
from openprogram.tokens import count_tokens
from openprogram.tools.registry import Registry
from tests.support.agent import FakeTool, held
from tests.support.deferral import declared, deferred, search, select, system
from tests.support.script import Gate, call, say, use
from tests.support.sessions import Chats, crashed, opened


def registry(*tools: FakeTool) -> Registry:
    made = Registry()
    made.put("builtin", [tool_search, *(tool.spec for tool in tools)])
    return made


async def states(chats: Chats, session_id: str) -> dict[str, str]:
    ack = cast(ToolsAck, await chats.do("explain_tools", session_id=session_id))
    return {tool.name: tool.state for tool in ack.tools}


async def test_what_was_loaded_is_kept_over_a_restart(tmp_path: Path) -> None:  # T22, report 17
    weather = deferred("weather")
    tools = registry(weather, deferred("notes"))
    async with opened(tmp_path, call(select("weather")), say("Ready."), registry=tools) as chats:
        session_id = await chats.said("get the weather tool")
        before = chats.provider.requests[-1]
    async with opened(tmp_path, call(use("weather")), say("Sunny."), registry=tools) as chats:
        await chats.said("use it", session_id)
        assert chats.provider.requests[0].tools == before.tools
        assert chats.provider.requests[0].system == before.system
        assert weather.calls == [{}]
        assert (await chats.of(session_id, StepStarted))[-1].loaded == ("weather",)


async def test_what_a_finished_call_asked_for_survives_a_kill_before_its_safe_point(tmp_path: Path) -> None:  # T23
    gate = Gate()
    slow = FakeTool("slow", held(gate), parallel_safe=True)
    tools = registry(slow, deferred("weather"), deferred("notes"))
    script = call(select("notes", call_id="c_1"), use("slow", "c_2"), select("weather", call_id="c_3"))
    async with opened(tmp_path, script, registry=tools) as chats:
        session_id = (await chats.say("look")).session_id
        await gate.reached()
        await chats.until(session_id, ToolCallFinished, 2)
        folder = crashed(tmp_path, tmp_path / "after")
        gate.open()
        chats.provider.scripts.append(say("."))
        await chats.rest(session_id)
    async with opened(folder, say("Go on."), registry=tools) as chats:
        assert (await chats.row(session_id)).loaded == ("notes", "weather")
        await chats.said("and now?", session_id)
        assert declared(chats.provider.requests[0]) == ["slow", "tool_search", "notes", "weather"]  # appended


async def test_a_turn_that_waited_for_a_person_goes_on_with_what_it_had_loaded(tmp_path: Path) -> None:  # T23, P9
    bash = FakeTool("bash", permission="execute", readonly=False)
    weather = deferred("weather")
    tools = registry(bash, weather)
    script = call(select("weather", call_id="c_1"), use("bash", "c_2", command="ls"))
    async with opened(tmp_path, script, registry=tools, mode="ask") as chats:
        session_id = (await chats.say("look")).session_id
        asked = await chats.asked(session_id)
        folder = crashed(tmp_path, tmp_path / "after")
        await chats.do("stop", session_id=session_id)
        await chats.rest(session_id)
    async with opened(folder, call(use("weather")), say("."), registry=tools, mode="ask") as chats:
        await chats.do("answer_approval", session_id=session_id, approval_id=asked.approval_id, decision="once")
        await chats.until(session_id, TurnFinished)
        await chats.rest(session_id)
        assert declared(chats.provider.requests[0]) == ["bash", "tool_search", "weather"]
        assert (len(bash.calls), len(weather.calls)) == (1, 1)
        assert [event.loaded for event in await chats.of(session_id, LoadedChanged)] == [("weather",)]


async def test_a_loaded_tool_is_callable_though_the_history_that_loaded_it_is_gone(tmp_path: Path) -> None:  # report 14
    weather = deferred("weather")
    tools = registry(weather)
    scripts = (call(select("weather")), say("Ready."), call(use("weather")), say("Sunny."))
    async with opened(tmp_path, *scripts, registry=tools) as chats:
        first = await chats.say("get the weather tool")
        await chats.until(first.session_id, TurnFinished)
        await chats.rest(first.session_id)
        await chats.do("edit_message", session_id=first.session_id, message_id=first.message_id, text="weather?")
        await chats.until(first.session_id, TurnFinished, 2)
        await chats.rest(first.session_id)
        assert len(chats.provider.requests[2].messages) == 2  # the new message, and the notice of the date
        assert declared(chats.provider.requests[2]) == ["tool_search", "weather"]
        assert weather.calls == [{}]


async def test_the_panel_tells_deferred_from_loaded_and_prices_each(tmp_path: Path) -> None:  # report 47
    weather, notes = deferred("weather"), deferred("notes")
    tools = registry(FakeTool("read"), weather, notes)
    async with opened(tmp_path, call(select("weather")), say("Ready."), registry=tools) as chats:
        session_id = await chats.draft()
        assert await states(chats, session_id) == {
            "notes": "deferred",
            "read": "on",
            "tool_search": "on",
            "weather": "deferred",
        }
        await chats.said("get the weather tool", session_id)
        await chats.patch("set_tool_disabled", session_id, name="notes", value=True)
        assert await states(chats, session_id) == {
            "notes": "off",
            "read": "on",
            "tool_search": "on",
            "weather": "loaded",
        }
        await chats.service._hub.meter.idle()  # asking had the prices counted
        ack = cast(ToolsAck, await chats.do("explain_tools", session_id=session_id))
        cost = {tool.name: count_tokens(tool_text("openai-chat", tool.declaration)) for tool in tools.snapshot.tools}
        assert {tool.name: tool.tokens for tool in ack.tools} == cost
        assert {tool.name: tool.tokens_now for tool in ack.tools} == {**cost, "notes": 0}
        assert (ack.budget.declared, ack.budget.deferred, ack.budget.catalog) == (3, 0, 0)


async def test_a_tool_that_arrives_later_is_named_in_the_old_chat_and_moves_no_byte(tmp_path: Path) -> None:  # T5, C2
    tools = registry(FakeTool("read"))
    scripts = (say("Hi."), call(search("tides at sea")), call(use("tides")), say("High."))
    async with opened(tmp_path, *scripts, registry=tools) as chats:
        session_id = await chats.said("hello")
        tides = deferred("tides")
        tools.put("plugin:sea", [tides.spec], about="The sea")
        await chats.said("what now?", session_id)
        first, second, *_, last = chats.provider.requests
        assert (second.tools, second.system) == (first.tools, first.system)
        assert second.messages[-1].text == "More tools that can be loaded: tides."
        assert declared(last) == [*declared(first), "tides"]
        assert tides.calls == [{}]


async def test_a_chat_of_a_few_picked_tools_gets_the_rest_without_a_moved_byte(tmp_path: Path) -> None:  # C1, C2
    bash = FakeTool("bash")
    tools = registry(FakeTool("read"), bash, deferred("weather"))
    scripts = (say("Hi."), call(select("bash")), call(use("bash")), say("."))
    async with opened(tmp_path, *scripts, registry=tools) as chats:
        session_id = await chats.draft()
        await chats.patch("pick_tools", session_id, tools=["read"])
        await chats.said("hello", session_id)
        await chats.patch("pick_tools", session_id, tools=None)
        await chats.said("more", session_id)
        first, second, third, *_ = chats.provider.requests
        assert declared(first) == ["read", "tool_search"]  # reserved: what comes later is found through it
        assert (second.tools, second.system) == (first.tools, first.system)
        assert declared(third) == ["read", "tool_search", "bash"]
        assert bash.calls == [{}]


async def test_a_chat_whose_tools_are_off_declares_none_and_finds_all_once_they_are_on(tmp_path: Path) -> None:  # T3
    tools = registry(FakeTool("read"), deferred("weather"))
    scripts = (say("Hi."), call(select("weather")), call(use("weather")), say("."))
    async with opened(tmp_path, *scripts, registry=tools) as chats:
        session_id = await chats.draft()
        await chats.patch("set_tools_enabled", session_id, value=False)
        await chats.said("hello", session_id)
        await chats.patch("set_tools_enabled", session_id, value=True)
        await chats.said("weather?", session_id)
        offered = [declared(request) for request in chats.provider.requests]
        assert offered[:3] == [[], ["tool_search"], ["tool_search", "weather"]]


async def test_the_catalog_stands_still_while_a_server_comes_and_goes(tmp_path: Path) -> None:  # C5, report 12
    tools = registry(FakeTool("read"))
    sky = [deferred("star").spec, deferred("moon").spec]
    tools.put("mcp:sky", sky)
    async with opened(tmp_path, *(say(str(n)) for n in range(3)), registry=tools) as chats:
        session_id = await chats.said("hello")
        tools.remove("mcp:sky")
        await chats.said("gone?", session_id)
        tools.put("mcp:sky", list(reversed(sky)))
        await chats.said("back?", session_id)
        assert len({encode([request.system, request.tools]) for request in chats.provider.requests}) == 1
        assert system(chats.provider.requests[0]).splitlines()[-2:] == ["moon", "star"]
        told = [message.text for message in chats.provider.requests[-1].messages if message.role == "notice"]
        assert len(told) == 1


async def test_a_plugin_that_goes_and_comes_back_in_another_order_moves_no_byte(tmp_path: Path) -> None:  # C5, T5
    tides, waves = deferred("tides"), deferred("waves")
    tools = registry(FakeTool("read"))
    tools.put("plugin:sea", [tides.spec, waves.spec], about="The sea")
    scripts = (call(use("tides")), say("High."), call(use("tides")), say("Gone."), call(use("tides")), say("Low."))
    async with opened(tmp_path, *scripts, registry=tools) as chats:
        session_id = await chats.said("tides?")
        tools.remove("plugin:sea")
        await chats.said("and now?", session_id)
        tools.put("plugin:sea", [waves.spec, tides.spec], about="The sea")
        await chats.said("and now?", session_id)
        declared_first = declared(chats.provider.requests[1])
        assert declared_first == ["read", "tool_search", "tides"]
        sent = chats.provider.requests[1:]
        assert len({encode([request.system, request.tools]) for request in sent}) == 1
        assert len(tides.calls) == 2  # refused while it was away, whatever the request still declares
        branch = await chats.branch(session_id)
        assert [result.status for message in branch for result in message.results] == ["ok", "denied", "ok"]

import pytest

from openprogram.core.errors import BadField
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonValue, encode
from openprogram.core.protocol.actions import Chat, CreateSession
from openprogram.core.protocol.base import Override
from openprogram.core.protocol.codec import decode_action
from openprogram.session_config.codec import (
    intent_from_override,
    read_intent,
    write_intent,
)


@pytest.mark.parametrize(
    ("value", "intent"),
    [
        (None, ToolIntent()),
        ({}, ToolIntent()),
        ([], ToolIntent(enabled=False)),
        (["web_search"], ToolIntent(picked=("web_search",))),
        (["b", "a", "b"], ToolIntent(picked=("b", "a"))),
        ({"enabled": True}, ToolIntent(enabled=True)),
        ({"disabled": ["b", "a"], "toolset": "research"}, ToolIntent(None, "research", None, ("a", "b"))),
        ({"allowed": ["web_*"], "web_search": True}, ToolIntent(web_search=True, allowed=("web_*",))),
        ({"web_search": False, "picked": []}, ToolIntent(web_search=False, picked=())),
        ({"toolset": "safe", "web_search": False}, ToolIntent(toolset="safe", web_search=False)),
        ({"enabled": None, "disabled": None}, ToolIntent()),
    ],
)
def test_each_shape_is_read(value: JsonValue, intent: ToolIntent) -> None:
    assert read_intent(value) == intent


@pytest.mark.parametrize(
    ("value", "field", "words"),
    [
        ({"enabled": True, "tools": ["read"]}, "tools", "no field 'tools'"),
        ({"enabled": 1}, "enabled", "valid boolean"),
        ({"web_search": "yes"}, "web_search", "valid boolean"),
        ({"disabled": ["read", 3]}, "disabled.1", "valid string"),
        ({"picked": "read"}, "picked", "valid array"),
        (["read", None], "1", "valid string"),
        ("full", None, "an object, a list of names or null"),
        ({"disabled": ["web_search"]}, "disabled", "switch of its own"),
    ],
)
def test_what_cannot_be_read_is_an_error_with_the_keys_name(value: JsonValue, field: str | None, words: str) -> None:
    with pytest.raises(BadField, match=words) as caught:
        read_intent(value)

    assert caught.value.field == field


def test_a_chat_actions_override_means_what_it_says() -> None:
    assert intent_from_override(None) == ToolIntent()
    assert intent_from_override(()) == ToolIntent(enabled=False)
    assert intent_from_override(("read",)) == ToolIntent(picked=("read",))
    assert intent_from_override(Override(web_search=False)) == ToolIntent(web_search=False)


SHAPES: list[tuple[JsonValue, ToolIntent]] = [
    ([], ToolIntent(enabled=False)),
    (["web_search"], ToolIntent(picked=("web_search",))),
    (["b", "a", "b"], ToolIntent(picked=("b", "a"))),
    # What older programs wrote: web search was not added, which takes nothing away.
    (
        {"enabled": True, "toolset": "research", "disabled": ["bash"], "web_search": False},
        ToolIntent(True, "research", None, ("bash",)),
    ),
    ({"enabled": None, "web_search": False}, ToolIntent()),
    ({"toolset": "research", "web_search": False}, ToolIntent(toolset="research")),
    ({"disabled": None, "web_search": False}, ToolIntent()),
    ({"allowed": ["read*"], "web_search": False}, ToolIntent(allowed=("read*",))),
    ({"enabled": False, "web_search": True}, ToolIntent(enabled=False, web_search=True)),
    # What only this program says: the chip alone, and an intent with all its fields.
    ({"web_search": False}, ToolIntent(web_search=False)),
    ({"toolset": "research", "web_search": False, "picked": None}, ToolIntent(toolset="research", web_search=False)),
    ({}, ToolIntent()),
]


def _decoded(value: JsonValue, door: str) -> ToolIntent:
    fields = {"action": "chat", "text": "hi", "override": value} if door == "override" else None
    action = decode_action(encode({"id": "c1", **(fields or {"action": "create_session", "tools": value})}))
    match action:
        case Chat():
            return intent_from_override(action.override)
        case CreateSession():
            return intent_from_override(action.tools)
        case _:
            raise AssertionError(action)


@pytest.mark.parametrize("door", ["override", "tools"])
@pytest.mark.parametrize(("value", "intent"), SHAPES)
def test_older_shapes_are_read_where_an_older_program_may_be_the_sender(
    value: JsonValue, intent: ToolIntent, door: str
) -> None:
    assert _decoded(value, door) == intent


@pytest.mark.parametrize("door", ["override", "tools"])
@pytest.mark.parametrize(
    ("value", "field"),
    [
        ({"tools": ["read"]}, ".tools"),
        ({"toolset": "safe", "web_search": False, "tool_names": []}, ".tool_names"),
        ({"picked": None, "web": 1}, ".web"),
        ({"enabled": 1}, ".enabled"),
        ({"enabled": True, "web_search": False, "disabled": ["read", 3]}, ".disabled.1"),
        (["read", None], ".1"),
        ("full", ""),
        (True, ""),
    ],
)
def test_an_unknown_key_is_an_error_with_its_name_at_every_door(value: JsonValue, field: str, door: str) -> None:
    with pytest.raises(BadField) as caught:
        _decoded(value, door)
    assert caught.value.field == f"{door}{field}"


def test_only_what_is_said_is_written() -> None:
    assert write_intent(ToolIntent(web_search=False, disabled=("bash",))) == {"web_search": False, "disabled": ["bash"]}

import pytest

from openprogram.core.errors import BadField
from openprogram.core.intent import ToolIntent
from openprogram.core.jsonio import JsonValue
from openprogram.core.protocol.base import Override
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


def test_only_what_is_said_is_written() -> None:
    assert write_intent(ToolIntent(web_search=False, disabled=("bash",))) == {"web_search": False, "disabled": ["bash"]}

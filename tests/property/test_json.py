"""The one serializer: equal values give equal bytes for ever, and everything that is stored comes back (law 3)."""

import hashlib
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from openprogram.core.errors import BadJson
from openprogram.core.jsonio import JsonObject, JsonValue, canonical, decode, decode_object, digest, encode, scrub

scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
ADAPTER: TypeAdapter[JsonObject] = TypeAdapter(JsonObject)
keys = st.text(st.characters(codec="utf-8"), max_size=5)
values: st.SearchStrategy[JsonValue] = st.recursive(
    scalars | keys, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=3), max_leaves=12
)


@given(values)
def test_what_is_encoded_comes_back(value: JsonValue) -> None:
    assert decode(encode(value)) == value
    assert decode(canonical(value)) == value


@given(st.dictionaries(keys, values, max_size=5))
def test_what_an_adapter_reads_is_what_the_parser_reads(value: JsonObject) -> None:
    """Kinds too: 1 and 1.0, true and 1 are different bytes."""
    read = ADAPTER.validate_json(encode(value))
    assert encode(read) == encode(decode(encode(value)))


@pytest.mark.parametrize("strange", [{"a": object()}, {"a": [{"b": object()}]}, {1: "a"}, ["a"], "a"])
def test_what_is_no_json_is_refused_where_it_comes_as_a_value(strange: object) -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_python(strange)


@pytest.mark.parametrize("text", ["[]", "1", "null", '{"a": }', '{"a": 1'])
def test_what_is_no_json_object_is_refused_where_it_comes_as_text(text: str) -> None:
    with pytest.raises(ValidationError):
        ADAPTER.validate_json(text)


def test_documentation_still_tells_of_every_kind_of_json_value() -> None:
    kinds = ADAPTER.json_schema()["$defs"]["JsonValue"]["anyOf"]
    assert {kind["type"] for kind in kinds} == {"string", "integer", "number", "boolean", "array", "object", "null"}


@given(st.dictionaries(keys, values, max_size=5), st.randoms())
def test_the_order_of_keys_does_not_move_a_byte(value: dict[str, JsonValue], random: object) -> None:  # T11
    items = list(value.items())
    random.shuffle(items)  # type: ignore[attr-defined]
    assert canonical(dict(items)) == canonical(value)
    assert digest(dict(items)) == digest(value)


def test_a_digest_is_the_same_in_every_process() -> None:  # law 3
    """A fingerprint that was stored years ago must be found again."""
    expected = hashlib.sha256('{"a":{},"b":[1,2.5,null,true,"ä"]}'.encode()).hexdigest()[:32]
    assert digest({"b": [1, 2.5, None, True, "ä"], "a": {}}) == expected
    program = "from openprogram.core.jsonio import digest; print(digest({'b': [1, 2.5, None, True, 'ä'], 'a': {}}))"
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}
        )
        assert done.stdout.strip() == expected


@given(st.text())
def test_scrubbed_text_can_be_stored_and_sound_text_is_left_alone(text: str) -> None:
    encode(scrub(text))
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert scrub(text) == text


def test_scrubbing_marks_what_was_broken() -> None:
    assert scrub("a\udcffb\ud83d") == "a\ufffdb\ufffd"
    assert scrub("\ud83d\ude00") == "\U0001f600"


@pytest.mark.parametrize("text", ["", "{", "{]", "nul", '"\\ud800"', b"\xff"])
def test_what_is_no_json_is_said_to_be_none_with_its_place(text: str | bytes) -> None:
    with pytest.raises(BadJson, match="line 1"):
        decode(text)


@pytest.mark.parametrize("text", ["[]", "null", "1", '"x"'])
def test_an_object_is_asked_for(text: str) -> None:
    with pytest.raises(BadJson, match="object"):
        decode_object(text)

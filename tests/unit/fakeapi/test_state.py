"""Scripts, the request log, models and faults."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from pydantic import TypeAdapter, ValidationError

from openprogram.fakeapi.answer import joined
from openprogram.fakeapi.app import is_loopback
from openprogram.fakeapi.faults import FaultKind, fault_of_model, faulty_model_names
from openprogram.fakeapi.log import RequestLog
from openprogram.fakeapi.models import Api, bench_parameters, find_model
from openprogram.fakeapi.scripts import Script, ScriptQueue
from tests.support.tree import ROOT


def script(text: str, **more: Any) -> Script:
    return TypeAdapter(Script).validate_python({"blocks": [{"type": "text", "text": text}], **more})


def take(queue: ScriptQueue, text: str = "", model: str = "demo", api: Any = "chat") -> str | None:
    answer = queue.take(text, model, api)
    return None if answer is None else joined(answer.blocks[0].chunks)


def queue(*scripts: Script) -> ScriptQueue:
    made = ScriptQueue()
    for one in scripts:
        made.add(one)
    return made


def test_scripts_are_taken_in_order_and_once() -> None:
    scripts = queue(script("a"), script("b", times=2))
    assert [take(scripts) for _ in range(4)] == ["a", "b", "b", None]


def test_a_script_waits_for_the_request_that_it_matches() -> None:
    scripts = queue(
        script("model", match={"model": "x"}),
        script("api", match={"api": "anthropic"}),
        script("text", match={"text": "weather"}),
    )
    assert take(scripts, "hello") is None
    assert take(scripts, "what weather?") == "text"
    assert take(scripts, model="x") == "model"
    assert take(scripts, api="anthropic") == "api"
    assert len(scripts) == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {"blocks": [{"type": "video"}]},
        {"blocks": [], "unknown": 1},
        {"blocks": [], "times": 0},
        {"blocks": [], "fault": {"kind": "meteor"}},
        {"blocks": [{"type": "text", "chunks": [{"hold": "h"}]}]},
    ],
)
def test_a_wrong_script_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        TypeAdapter(Script).validate_python(wrong)


def test_old_bodies_are_dropped_and_the_records_stay() -> None:
    log = RequestLog(max_bodies=25)
    for number in range(4):
        log.add("chat", "/", {}, b'{"n": %d}  ' % number)
    assert [record.shown()["body"] for record in log.since(1)] == [None, {"n": 2}, {"n": 3}]


def test_a_body_that_is_no_json_is_shown_as_text() -> None:
    assert RequestLog().add("chat", "/", {}, b"{oops").shown()["body"] == "{oops"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("demo-429", "rate_limit"),
        ("demo-529", "overloaded"),
        ("demo-cut", "cut"),
        ("demo-badjson", "bad_json"),
        ("demo", None),
        ("demo-other", None),
        ("gpt-429", None),
    ],
)
def test_a_models_name_can_stand_for_a_fault(name: str, kind: FaultKind | None) -> None:
    fault = fault_of_model(name)
    assert (fault.kind if fault else None) == kind


def test_every_faulty_model_exists_in_both_apis() -> None:
    for name in faulty_model_names():
        assert find_model(name, "anthropic") is not None
        assert find_model(name, "chat") is not None


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("bench-100-50", (100, 50.0)), ("bench-5-0", (5, 0.0)), ("bench-5", None), ("bench-x-1", None), ("demo", None)],
)
def test_the_benchmark_is_a_models_name(name: str, parameters: tuple[int, float] | None) -> None:
    assert bench_parameters(name) == parameters


@pytest.mark.parametrize(
    ("name", "api", "minimum"),
    [("claude-opus-5-5", "anthropic", 512), ("claude-haiku-4-5", "anthropic", 4096), ("claude-opus-5-5", "chat", None)],
)
def test_a_real_models_limits_are_its_own(name: str, api: Any, minimum: int | None) -> None:
    model = find_model(name, api)
    assert (model.min_cacheable if model else None) == minimum


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1:8000", True),
        ("127.0.0.1", True),
        ("localhost:1", True),
        ("[::1]:8000", True),
        ("::1", False),
        ("evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("192.168.0.1:80", False),
        ("", False),
    ],
)
def test_only_loopback_names_are_this_machine(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("name", "family", "api"),
    [
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5", "anthropic"),
        ("gpt-6.2-sol", "gpt-6.2", "responses"),
        ("gpt-5.6-luna", "gpt-5.6", "chat"),
        ("gpt-4o-mini", "gpt-4o", "chat"),
    ],
)
def test_dated_names_and_sizes_have_the_limits_of_their_family(name: str, family: str, api: Any) -> None:
    found, known = find_model(name, api), find_model(family, api)
    assert found is not None
    assert known is not None
    assert replace(found, display_name="") == replace(known, id=name, display_name="")


@pytest.mark.parametrize("name", ["claude-opus-9", "claude-opus-5-9", "claude-opus-5-sol", "gpt-7-sol", "gpt-6-"])
def test_what_belongs_to_no_family_is_unknown(name: str) -> None:
    assert find_model(name, "anthropic") is None
    assert find_model(name, "responses") is None


@pytest.mark.parametrize("host", ["api.anthropic.com", "api.openai.com"])
def test_every_model_that_the_program_lists_for_a_vendor_is_known_here(host: str) -> None:
    apis: tuple[Api, ...] = ("anthropic",) if "anthropic" in host else ("chat", "responses")
    listed = orjson.loads((ROOT / "openprogram" / "providers" / "models.json").read_bytes())[host]
    unknown = [model["id"] for model in listed for api in apis if find_model(model["id"], api) is None]
    assert listed
    assert unknown == []

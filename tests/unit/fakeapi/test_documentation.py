"""The documentation names every rule, endpoint, fault and option, in the words of the code."""

from typing import get_args

import pytest

from openprogram.fakeapi.control import control_routes
from openprogram.fakeapi.endpoints import provider_routes
from openprogram.fakeapi.faults import ErrorKind, StreamKind, faulty_model_names
from openprogram.fakeapi.main import _parser
from openprogram.fakeapi.refusals import feature_names
from openprogram.fakeapi.rules.base import Rule
from openprogram.fakeapi.rules.tables import every_rule
from openprogram.fakeapi.state import FakeState
from tests.support.tree import ROOT

DOCUMENT = (ROOT / "docs" / "fake-api.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("rule", [pytest.param(rule, id=rule.number) for rule in every_rule()])
def test_every_rule_is_documented_by_its_number(rule: Rule) -> None:
    assert f"| {rule.number} | {rule.title} | {rule.source} |" in DOCUMENT


def test_no_rule_is_documented_that_does_not_exist() -> None:
    rows = [line for line in DOCUMENT.splitlines() if line.startswith(("| A", "| O", "| R")) and line[3].isdigit()]
    assert len(rows) == len(every_rule())


def test_every_endpoint_is_documented() -> None:
    state = FakeState()
    for route in (*provider_routes(state), *control_routes(state)):
        assert route.path.replace("{name}", "NAME") in DOCUMENT


@pytest.mark.parametrize("kind", [*get_args(ErrorKind), *get_args(StreamKind)])
def test_every_fault_is_documented(kind: str) -> None:
    assert f"| `{kind}` |" in DOCUMENT


@pytest.mark.parametrize("name", faulty_model_names())
def test_every_faulty_models_name_is_documented(name: str) -> None:
    assert f"`{name}`" in DOCUMENT


@pytest.mark.parametrize("name", feature_names())
def test_every_feature_that_can_be_refused_is_documented(name: str) -> None:
    assert f"`{name}`" in DOCUMENT


def test_every_option_is_documented() -> None:
    options = [option for action in _parser()._actions for option in action.option_strings if option.startswith("--")]
    for option in set(options) - {"--help"}:
        assert f"| `{option}` |" in DOCUMENT

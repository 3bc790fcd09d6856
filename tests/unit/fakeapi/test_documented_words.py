"""The documentation shows for every rule the words in which it refuses, and they are the words that it uses."""

import re

import orjson
import pytest

from openprogram.fakeapi.exchange import Refusal
from openprogram.fakeapi.rules.tables import every_rule
from tests.support import anthropic_rules, responses_rules
from tests.support.tree import ROOT
from tests.unit.fakeapi.rules import (
    test_anthropic,
    test_anthropic_changes,
    test_bound_thinking,
    test_chat,
    test_responses,
    test_searches,
)

DOCUMENT = (ROOT / "docs" / "fake-api.md").read_text(encoding="utf-8")
WORDS = dict(re.findall(r"^\| ([AOR]\d+) \|.*\| (.*) \|$", DOCUMENT, re.MULTILINE))


def spoken() -> dict[str, str]:
    """What each rule says to the first request that is tested with it."""
    said: dict[str, str] = {}
    for module, judge in (
        (test_anthropic, anthropic_rules.judge),
        (test_anthropic_changes, anthropic_rules.judge),
        (test_searches, anthropic_rules.judge),
        (test_chat, test_chat.judge),
        (test_responses, responses_rules.judge),
    ):
        for case in module.CASES:
            if case.number not in said:
                raw = case.request if isinstance(case.request, bytes) else orjson.dumps(case.request)
                verdict = judge(raw, case.headers)
                assert isinstance(verdict, Refusal)
                said[case.number] = verdict.violation.message
    bound = test_bound_thinking.edited_chat("system").send()
    assert isinstance(bound, Refusal)
    return {**said, "A47": bound.violation.message}


SPOKEN = spoken()


@pytest.mark.parametrize("number", [rule.number for rule in every_rule()])
def test_the_documented_words_are_those_of_the_rule(number: str) -> None:
    assert WORDS[number] == SPOKEN[number]

"""The fake API's rules: the documentation, the code and the tests name the same ones."""

import re

from openprogram.fakeapi.rules.tables import every_rule
from tests.support.tree import ROOT

IN_CODE = {rule.number for rule in every_rule()}
NUMBER = r"[AOR]\d+"


def test_every_rule_is_documented_and_no_other() -> None:
    text = (ROOT / "docs" / "fake-api.md").read_text(encoding="utf-8")
    documented = re.findall(rf"^\| ({NUMBER}) \|", text, re.MULTILINE)
    assert len(documented) == len(set(documented))
    assert set(documented) == IN_CODE


def test_every_rule_has_a_test_by_its_number_and_no_other() -> None:
    tests = ROOT / "tests" / "unit" / "fakeapi" / "rules"
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted(tests.glob("test_*.py")))
    assert set(re.findall(rf'"({NUMBER})"', text)) == IN_CODE

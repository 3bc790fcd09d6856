"""`docs/endpoints.md`: every example is a valid configuration, every setting and every quirk has its row."""

import re
import tomllib
from dataclasses import fields

import pytest

from openprogram.providers.discovery import discover
from openprogram.providers.failure_rules import SENTENCES
from openprogram.providers.hosts import Quirks
from openprogram.providers.tables import EndpointTable, ModelTable, PriceTable
from tests.support.tree import ROOT

TEXT = (ROOT / "docs" / "endpoints.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES, ids=[re.findall(r"\[endpoints\.(\w+)\]", each)[0] for each in EXAMPLES])
def test_the_example_is_a_valid_configuration(example: str) -> None:
    environ = dict.fromkeys(re.findall(r'key_env = "(\w+)"', example), "key")
    [endpoint] = [found for found in discover(environ, tomllib.loads(example)["endpoints"]) if found.source == "config"]
    assert endpoint.base_url in example


def test_every_setting_is_described() -> None:
    for name in (*EndpointTable.model_fields, *(field.name for field in fields(Quirks))):
        assert f"| `{name}` |" in TEXT
    for name in (*ModelTable.model_fields, *PriceTable.model_fields):
        assert f"`{name}`" in TEXT


def test_the_messages_in_the_table_are_those_that_are_given() -> None:
    for part in ("refused the key", "no credit left", "allows no further requests", "does not offer this model"):
        assert part in TEXT
        assert any(part in sentence for sentence in SENTENCES.values())

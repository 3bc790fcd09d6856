"""The tables of each API in the order in which their rules are tried."""

from __future__ import annotations

from typing import Final

from openprogram.fakeapi.models import Api
from openprogram.fakeapi.rules import (
    anthropic_cache,
    anthropic_changes,
    anthropic_images,
    anthropic_messages,
    anthropic_pairs,
    anthropic_request,
    anthropic_search,
    anthropic_tools,
    chat_cache,
    chat_messages,
    chat_request,
    responses_input,
    responses_request,
    responses_tools,
)
from openprogram.fakeapi.rules.base import Rule, RuleTable

TABLES: Final[dict[Api, tuple[RuleTable, ...]]] = {
    "anthropic": (
        anthropic_request.TABLE,
        anthropic_tools.TABLE,
        anthropic_messages.TABLE,
        anthropic_pairs.TABLE,
        anthropic_changes.TABLE,
        anthropic_search.TABLE,
        anthropic_images.TABLE,
        anthropic_cache.TABLE,
    ),
    "chat": (chat_request.TABLE, chat_cache.TABLE, chat_messages.TABLE),
    "responses": (responses_request.TABLE, responses_tools.TABLE, responses_input.TABLE),
}


def every_rule() -> list[Rule]:
    """All rules of all APIs, in the order of the documentation."""
    return [rule for tables in TABLES.values() for table in tables for rule in table]

"""Tools that change in mid-conversation, bound thinking and pictures: every rule of Anthropic's by its number."""

import base64
import io
from typing import Any, get_args

import orjson
import pytest
from anthropic.types import AnthropicBetaParam
from PIL import Image

from openprogram.fakeapi.exchange import Accepted
from openprogram.fakeapi.rules.anthropic_changes import CLEAR_AT, MOST_BYTES, MOST_TOOLS
from openprogram.fakeapi.rules.anthropic_images import MOST_BYTES as MOST_IMAGE_BYTES
from openprogram.fakeapi.rules.betas import BETAS, BINDING_CONTROLS
from openprogram.fakeapi.tool_changes import BY_REFERENCE, BY_VALUE
from tests.support.anthropic_rules import (
    CALL,
    EPHEMERAL,
    HEADERS,
    RESULT,
    USER,
    Case,
    assistant,
    body,
    check,
    judge,
    text,
    tool,
    user,
)

INLINE = {**HEADERS, "anthropic-beta": BY_VALUE}
REFERENCE = {**HEADERS, "anthropic-beta": BY_REFERENCE}
CLEARING = {**HEADERS, "anthropic-beta": f"{CLEAR_AT},{BY_VALUE}"}
BINDING = {**HEADERS, "anthropic-beta": BINDING_CONTROLS}
SEARCH = {"type": "web_search_20260209", "name": "web_search"}


def system(*blocks: Any, **more: Any) -> dict[str, Any]:
    return {"role": "system", "content": list(blocks), **more}


def reference(name: str) -> dict[str, Any]:
    return {"type": "tool_reference", "name": name}


def removal(name: str = "read", **more: Any) -> dict[str, Any]:
    return {"type": "tool_removal", "tool": reference(name), **more}


def addition(name: str = "read", **more: Any) -> dict[str, Any]:
    return {"type": "tool_addition", "tool": reference(name), **more}


def defined(definition: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": definition}, **more}


def asked(*blocks: Any, **more: Any) -> dict[str, Any]:
    """A request whose only system message has these blocks; `read` is declared, `late` deferred."""
    return body(USER, system(*blocks), **{"tools": [tool(), tool("late", defer_loading=True)], **more})


def picture(width: int, height: int, **more: Any) -> dict[str, Any]:
    held = io.BytesIO()
    Image.new("1", (width, height)).save(held, "PNG")
    data = base64.b64encode(held.getvalue()).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data, **more}}


MANY = [tool(f"t{n}", defer_loading=True) for n in range(MOST_TOOLS + 1)]
LARGE = tool("large", description="x" * MOST_BYTES)

CASES = [
    Case(
        "A15",
        body(),
        "Unexpected value(s) `new-2027-01-01` for the",
        400,
        {**HEADERS, "anthropic-beta": "new-2027-01-01"},
    ),
    Case("A16", body(thinking={"type": "adaptive", "block_binding": {}}), BINDING_CONTROLS),
    Case(
        "A16",
        body(thinking={"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "keep"}}),
        "Input should be 'error' or 'drop_block'",
        headers=BINDING,
    ),
    Case("A17", body(diagnostics=[]), "diagnostics: Input should be a valid dictionary"),
    Case("A17", body(diagnostics={"previous_message_id": 1}), "previous_message_id: Input should be a valid string"),
    Case("A55", body(user(picture(1, 1, media_type="image/bmp"))), "base64.media_type: Input should be 'image/jpeg'"),
    Case(
        "A56",
        body(user(picture(1, 1, data="A" * (MOST_IMAGE_BYTES + 4)))),
        f"image exceeds 10 MB maximum: {MOST_IMAGE_BYTES + 4} bytes > {MOST_IMAGE_BYTES} bytes",
    ),
    Case("A57", body(user(picture(1, 1, data="aGk="))), "Could not process image"),
    Case("A58", body(user(picture(8001, 1))), "messages.0.content.0.image.source.base64.data: At least one of the"),
    Case("A58", body(user(*[picture(1, 1)] * 20, picture(1, 2001))), "for many-image requests: 2000 pixels"),
    Case(
        "A58",
        body(USER, assistant(CALL), user({**RESULT, "content": [picture(1, 8001)]})),
        "messages.2.content.0.content.0.image.source.base64.data",
    ),
    Case("A60", body(user(removal()), tools=[tool()]), "`tool_removal` blocks can only be in system", headers=INLINE),
    Case("A61", asked(removal()), "messages.1.content.0: Input tag 'tool_removal' found using 'type'"),
    Case("A61", asked(defined(tool("new"))), "Input tag 'tool_definition' found", headers=REFERENCE),
    Case(
        "A61",
        asked(defined({"type": "mcp_toolset", "mcp_server_name": "s"})),
        "requires the `mcp-client-2026-09-15` beta",
        headers=INLINE,
    ),
    Case("A62", asked({"type": "tool_removal"}), "content.0.tool_removal.tool: Field required", headers=INLINE),
    Case(
        "A62",
        asked({"type": "tool_removal", "tool": {"type": "tool_definition", "definition": tool()}}),
        "Input tag 'tool_definition' found",
        headers=INLINE,
    ),
    Case(
        "A62",
        asked({"type": "tool_addition", "tool": {"type": "tool_reference", "tool_name": "late"}}),
        "tool_addition.tool.tool_reference.name: Field required",
        headers=INLINE,
    ),
    Case("A63", asked(defined({"name": "new"})), "definition.custom.input_schema: Field required", headers=INLINE),
    Case("A63", asked(defined({"type": "computer_20251124", "name": "computer"})), "computer use", headers=INLINE),
    Case(
        "A63",
        asked(defined(tool("new", defer_loading=True, cache_control=EPHEMERAL))),
        "cannot have both defer_loading=true and cache_control",
        headers=INLINE,
    ),
    Case("A64", asked(addition("gone")), "Tool reference 'gone' has no corresponding", headers=REFERENCE),
    Case("A64", asked(removal("new"), defined(tool("new"))), "Tool reference 'new' has no", headers=INLINE),
    Case("A65", asked(defined(SEARCH), tools=[tool("web_search")]), "tool of another type", headers=INLINE),
    Case("A66", asked(tools=[tool(), *MANY]) | {"messages": [USER]}, "Too many deferred tools: 10001 > 10000"),
    Case("A66", asked(defined(LARGE)), "bytes of tool definitions in `messages`", headers=INLINE),
    Case(
        "A67",
        asked(defined(tool("new", cache_control=EPHEMERAL), cache_control=EPHEMERAL)),
        "cannot be set both on a `tool_addition` block and in its definition",
        headers=INLINE,
    ),
    Case("A68", body(USER, system(text("x"), clear_at="never")), "messages.1.clear_at: Extra inputs"),
    Case("A68", body(USER, system(text("x"), clear_at="now")), "Input should be 'next_user_message'", headers=CLEARING),
    Case(
        "A69",
        body(USER, system(removal(), clear_at="next_user_message"), tools=[tool()]),
        "may contain only text blocks",
        headers=CLEARING,
    ),
    Case(
        "A69",
        body(USER, system(text("x", cache_control=EPHEMERAL), clear_at="next_user_message")),
        "cache_control cannot be set",
        headers=CLEARING,
    ),
    # Rules of their own numbers that hold for what is defined later too.
    Case("A12", asked(removal(), tool_choice={"type": "tool", "name": "gone"}), "Tool 'gone' not", headers=INLINE),
    Case("A34", asked(removal(), model="claude-sonnet-5"), "'system' is not supported", headers=INLINE),
    Case(
        "A51",
        body(
            user(*(text(f"{n}", cache_control=EPHEMERAL) for n in range(4))),
            system(defined(tool("new", cache_control=EPHEMERAL))),
            tools=[tool()],
        ),
        "Found 5.",
        headers=INLINE,
    ),
]


@pytest.mark.parametrize("case", [pytest.param(case, id=f"{case.number}-{n}") for n, case in enumerate(CASES)])
def test_what_the_real_api_refuses_is_refused_by_its_rule(case: Case) -> None:
    check(case)


@pytest.mark.parametrize(
    ("number", "request_body", "code"),
    [
        ("A64", asked(addition("gone")), "tool_reference_unresolved"),
        ("A65", asked(defined(SEARCH), tools=[tool("web_search")]), "tool_name_conflict"),
        ("A66", asked(defined(LARGE)), "available_tools_limit_exceeded"),
    ],
)
def test_a_conflict_is_told_by_its_error_code(number: str, request_body: dict[str, Any], code: str) -> None:
    verdict = judge(orjson.dumps(request_body), INLINE)
    assert not isinstance(verdict, Accepted)
    assert (verdict.rule, verdict.violation.code) == (number, code)


def test_every_picture_that_is_too_large_is_named_by_its_place() -> None:
    result = {**RESULT, "content": [picture(1, 1), picture(8001, 1)]}
    verdict = judge(orjson.dumps(body(user(picture(1, 8001)), assistant(CALL), user(result))), HEADERS)
    assert not isinstance(verdict, Accepted)
    assert verdict.violation.details == {
        "max_side_length_pixels": 8000,
        "paths": ["messages.0.content.0", "messages.2.content.0.content.1"],
    }


ACCEPTED = {
    "removal by reference": (asked(removal()), REFERENCE),
    "addition of a deferred tool": (asked(addition("late")), REFERENCE),
    "addition by value, then removal": (asked(defined(tool("new")), removal("new")), INLINE),
    "the same definition twice": (asked(defined(tool("new")), defined(tool("new"))), INLINE),
    "another definition of the same kind": (asked(defined(tool("new")), defined(tool("new", description="d"))), INLINE),
    "a forced tool that was added": (asked(defined(tool("new")), tool_choice={"type": "tool", "name": "new"}), INLINE),
    "after results": (body(USER, assistant(CALL), user(RESULT), system(removal()), tools=[tool()]), REFERENCE),
    "two system messages in a row": (body(USER, system(removal()), system(text("x")), tools=[tool()]), REFERENCE),
    "marked": (asked(removal(cache_control=EPHEMERAL)), REFERENCE),
    "a turn-scoped note": (body(USER, system(text("x"), clear_at="next_user_message")), CLEARING),
    "drop_block": (
        body(thinking={"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}),
        BINDING,
    ),
    "twenty large pictures": (body(user(*[picture(2001, 1)] * 20)), HEADERS),
}


@pytest.mark.parametrize(
    ("request_body", "headers"), [pytest.param(*value, id=name) for name, value in ACCEPTED.items()]
)
def test_what_the_real_api_takes_is_accepted(request_body: dict[str, Any], headers: dict[str, str]) -> None:
    assert isinstance(judge(orjson.dumps(request_body), headers), Accepted)


def test_the_betas_are_those_of_the_sdk() -> None:
    assert {name for part in get_args(AnthropicBetaParam) for name in get_args(part)} == BETAS

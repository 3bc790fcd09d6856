"""A body is stored in parts and comes back byte for byte (spec cache.md C20)."""

from collections.abc import Mapping
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from openprogram.core.jsonio import JsonObject, canonical, decode, digest_bytes
from openprogram.core.sent import PutSent
from openprogram.ledger.body import join, name_of, split
from openprogram.ledger.difference import Outline
from openprogram.ledger.log import outlines, parts_of
from tests.support.sent import bodies, record


@given(bodies)
def test_a_body_comes_back_byte_for_byte(body: JsonObject) -> None:  # C20
    before = canonical(body)
    parts = split(body)
    assert canonical(join(parts)) == before
    assert canonical(body) == before, "the body was changed"
    assert all(segment.digest == digest_bytes(segment.data) for segment in (*parts.prefix, parts.settings))


def without_marks(value: Any) -> Any:
    """The same without breakpoints, wherever they stand."""
    if isinstance(value, dict):
        return {name: without_marks(each) for name, each in value.items() if name != "cache_control"}
    return [without_marks(each) for each in value] if isinstance(value, list) else value


@given(bodies)
def test_a_breakpoint_that_moves_changes_no_segment(body: JsonObject) -> None:  # reference/providers.md section 2
    assume(not {"messages", "input"} <= body.keys())  # no wire format has both
    marked, bare = split(body), split(without_marks(body))
    assert (marked.prefix, marked.settings) == (bare.prefix, bare.settings)
    assert bare.marks == ()


@given(bodies)
def test_every_segment_has_a_name_for_people(body: JsonObject) -> None:
    parts = split(body)
    assert all(name_of("tools", place, each.data) for place, each in enumerate(parts.tools) if decode(each.data))
    assert all(name_of("messages", place, each.data) for place, each in enumerate(parts.messages))


@given(st.lists(bodies, min_size=1, max_size=6), st.data())
def test_every_body_of_a_chat_is_recovered_from_differences(sent: list[JsonObject], data: st.DataObject) -> None:  # C20
    known: Outline | None = None
    writes: list[PutSent] = []
    for number, body in enumerate(sent, 1):
        parts = split(body)
        tools, system, messages = (
            tuple(each.digest for each in part) for part in (parts.tools, parts.system, parts.messages)
        )
        shape = Outline(tools, system, messages)
        common = 0 if known is None else _common(known.digests, shape.digests)
        kept = data.draw(st.integers(0, common))
        made = record(
            number,
            tools=len(parts.tools),
            system=len(parts.system),
            kept=kept,
            digests=shape.digests[kept:],
            settings=parts.settings.digest,
            marks=parts.marks,
        )
        writes.append(PutSent(made, (*parts.prefix[kept:], parts.settings)))
        known = shape
    stored: Mapping[str, bytes] = {each.digest: each.data for write in writes for each in write.segments}
    for body, (made, shape) in zip(sent, outlines([write.record for write in writes]), strict=True):
        assert canonical(join(parts_of(made, shape, stored))) == canonical(body)


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> int:
    same = [left == right for left, right in zip(one, other, strict=False)]
    return same.index(False) if False in same else len(same)

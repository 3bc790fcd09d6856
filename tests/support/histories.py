"""Messages for tests of what providers are sent: made by hand, and by hypothesis in every sense and nonsense."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from openprogram.core.jsonio import JsonObject
from openprogram.core.messages import (
    Block,
    ImageBlock,
    Message,
    ReasoningBlock,
    Role,
    TextBlock,
    ToolResultBlock,
    ToolUseBlock,
)

TOOL: JsonObject = {
    "name": "read",
    "description": "Read a file.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}


def message(role: Role, *blocks: Block | str, model: str | None = None) -> Message:
    """A message; a string is a text block. Give it an id with `chain`."""
    made = tuple(TextBlock(block) if isinstance(block, str) else block for block in blocks)
    return Message("m_0", None, role, made, "2026-01-01T00:00:00.000Z", model=model)


def chain(*messages: Message) -> tuple[Message, ...]:
    """The messages as a branch: ids and parents in order."""
    return tuple(
        replace(each, id=f"m_{number}", parent_id=f"m_{number - 1}" if number else None)
        for number, each in enumerate(messages)
    )


def call(call_id: str, path: str = "a.txt", name: str = "read") -> ToolUseBlock:
    """A call of the `read` tool."""
    return ToolUseBlock(call_id, name, {"path": path})


def result(call_id: str, text: str = "content") -> ToolResultBlock:
    """A good result of that call."""
    return ToolResultBlock(call_id, "ok", (TextBlock(text),))


# -- any history at all -------------------------------------------------------------------------------------------

PICTURE = ImageBlock(
    "image/png",
    "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACAQAAAAC1D1u3AAAADElEQVR4nGNgYGAAAAAEAAH2FzhVAAAAAElFTkSuQmCC",
    3,
    2,
)
_texts = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(["", " ", "\n", "Hello."])
# Few ids, so that they repeat, go missing and meet each other; some that only other APIs take.
_ids = st.sampled_from(["c_1", "c_2", "c_3", "functions.read:0", "", "x" * 150])
_names = st.sampled_from(["read", "write", "web.search", "", "n" * 100])
_arguments = st.dictionaries(
    st.text(st.characters(codec="utf-8"), max_size=3), st.none() | st.integers(-(2**63), 2**63 - 1) | _texts, max_size=2
)
_blocks: st.SearchStrategy[Block] = st.one_of(
    st.builds(TextBlock, _texts),
    st.builds(ReasoningBlock, _texts, st.none() | st.just("sig"), st.none() | st.just("opaque")),
    st.builds(ToolUseBlock, _ids, _names, _arguments.map(dict)),
    st.builds(
        ToolResultBlock,
        _ids,
        st.sampled_from(["ok", "error", "denied"]),
        st.lists(st.builds(TextBlock, _texts) | st.just(PICTURE), max_size=2).map(tuple),
        st.none() | st.just({"diff": "x"}),
    ),
)
_roles: st.SearchStrategy[Role] = st.sampled_from(["user", "assistant", "tool", "notice"])
_models = st.sampled_from([None, "e/m", "e/other", "f/m"])


def _branch(parts: Sequence[tuple[Role, list[Block], str | None]]) -> tuple[Message, ...]:
    return chain(*(message(role, *blocks, model=model) for role, blocks, model in parts))


histories = st.lists(st.tuples(_roles, st.lists(_blocks, max_size=4), _models), max_size=8).map(_branch)
"""Histories that no correct chat would have, and those that it would."""


@st.composite
def orderly_histories(draw: st.DrawFn) -> tuple[Message, ...]:
    """What the agent writes: user input, answers with calls, their results at once, notices; ends with user input."""
    made: list[Message] = []
    number = 0
    words = st.text(st.characters(codec="utf-8", categories=["L", "N"]), min_size=1, max_size=8)
    for _ in range(draw(st.integers(1, 4))):
        made.append(message("user", draw(words)))
        if draw(st.booleans()):
            made.append(message("notice", draw(words)))
        for _ in range(draw(st.integers(0, 2))):
            calls = [call(f"c_{(number := number + 1)}", draw(words)) for _ in range(draw(st.integers(1, 3)))]
            thought = [ReasoningBlock(draw(words), "sig")] if draw(st.booleans()) else []
            made.append(message("assistant", *thought, *calls, model="e/m"))
            made.append(message("tool", *(result(each.call_id, draw(words)) for each in calls)))
        for _ in range(draw(st.integers(1, 2))):  # a second one goes on where the first was cut
            made.append(message("assistant", draw(words), model="e/m"))
    return chain(*made, message("user", draw(words)))

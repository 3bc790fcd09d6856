"""The system prompt: pure sections, the most stable first, nothing volatile, none left out."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from openprogram.context.assembler import SECTIONS, PromptContext, Section, assemble

CONTEXT = PromptContext("linux", "Speak like a pirate.")


def test_what_is_the_same_for_all_chats_comes_first() -> None:  # C11
    blocks = assemble(CONTEXT)
    assert blocks.texts == blocks.stable + blocks.session
    assert blocks.session[0].startswith("Platform: linux")
    assert blocks.session[-1] == "Speak like a pirate."


def test_the_stable_tier_does_not_depend_on_the_chat() -> None:  # C11
    assert assemble(CONTEXT).stable == assemble(PromptContext("darwin")).stable


def test_a_section_without_its_guard_is_left_out() -> None:
    assert len(assemble(PromptContext("linux")).session) == len(assemble(CONTEXT).session) - 1


def test_nothing_volatile_is_in_the_prompt() -> None:  # C11, C12
    text = "\n".join(assemble(CONTEXT).texts)
    assert str(datetime.now(UTC).year) not in text


def test_two_sections_of_one_name_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="identity"):
        assemble(CONTEXT, (*SECTIONS, SECTIONS[0]))


def test_a_section_that_fails_is_an_error_and_no_omission() -> None:  # C11
    def fail(_context: PromptContext) -> str:
        raise LookupError("broken")

    always: Callable[[PromptContext], bool] = bool
    with pytest.raises(LookupError):
        assemble(CONTEXT, (*SECTIONS, Section("broken", "session", always, fail)))

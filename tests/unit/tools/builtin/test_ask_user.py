"""`ask_user`: what is asked, what a person may answer, and what the model is told."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from openprogram.core.asking import Choice, Question, QuestionAnswer
from openprogram.core.errors import BadArguments
from openprogram.core.tooling import ToolContext, ToolOutput
from openprogram.tools.builtin.ask_user import MOST_CHOICES, ask_user
from tests.support.tool_calls import text_of


@dataclass
class Person:
    """Answers every question in the same way."""

    answer: QuestionAnswer
    asked: list[Question] = field(default_factory=list)

    async def __call__(self, question: Question, call_id: str, turn_id: str) -> QuestionAnswer:
        assert (call_id, turn_id) == ("c_1", "t_1")
        self.asked.append(question)
        return self.answer


async def _ask(person: Person | None, tmp_path: Path, **arguments: Any) -> ToolOutput:
    context = ToolContext("s_1", "t_1", "c_1", tmp_path, lambda _text: None, person=person)
    return await ask_user.execute(arguments, context)


async def test_choices_are_shown_with_their_explanations(tmp_path: Path) -> None:
    person = Person(QuestionAnswer(("Tabs",)))
    choices = ["Tabs: as the code has them", "Spaces", "http://x: y: z", "odd:no blank"]
    output = await _ask(person, tmp_path, question=" Which? ", choices=choices)

    labels = (
        Choice("Tabs", "as the code has them"),
        Choice("Spaces"),
        Choice("http://x", "y: z"),
        Choice("odd:no blank"),
    )
    assert person.asked == [Question("Which?", labels)]
    assert text_of(output) == "The user chose:\n- Tabs"
    assert output.display == {"question": "Which?", "chosen": ["Tabs"], "text": None}


async def test_several_choices_and_words_are_told(tmp_path: Path) -> None:
    person = Person(QuestionAnswer(("A", "B"), "and C, if it is cheap"))
    output = await _ask(person, tmp_path, question="Which?", choices=["A", "B"], multiple=True)

    assert person.asked[0].multiple
    assert text_of(output) == "The user chose:\n- A\n- B\nThe user says: and C, if it is cheap"


async def test_a_question_without_choices_takes_words(tmp_path: Path) -> None:
    person = Person(QuestionAnswer(text="Ada"))
    assert text_of(await _ask(person, tmp_path, question="Who?", multiple=True)) == "The user says: Ada"
    assert person.asked == [Question("Who?")]


async def test_a_skipped_question_is_no_answer(tmp_path: Path) -> None:
    output = await _ask(Person(QuestionAnswer()), tmp_path, question="Who?")
    assert text_of(output).startswith("The user skipped the question.")
    assert output.status == "ok"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"question": "  "}, "empty"),
        ({"question": "x" * 4_001}, "longer than"),
        ({"question": "Which?", "choices": ["A", " "]}, "a choice is empty"),
        ({"question": "Which?", "choices": ["A", "A: again"]}, "the same label"),
        ({"question": "Which?", "choices": [str(n) for n in range(MOST_CHOICES + 1)]}, "at most 10"),
        ({"question": "Which?", "choices": "A"}, "choices"),
    ],
)
async def test_a_question_that_cannot_be_shown_is_not_asked(
    tmp_path: Path, arguments: dict[str, Any], message: str
) -> None:
    person = Person(QuestionAnswer())
    with pytest.raises(BadArguments, match=message):
        await _ask(person, tmp_path, **arguments)
    assert person.asked == []


async def test_where_nobody_is_the_call_is_denied_with_the_reason(tmp_path: Path) -> None:
    output = await _ask(None, tmp_path, question="Who?")
    assert output.status == "denied"
    assert "Nobody can be asked here" in text_of(output)


def test_waiting_for_a_person_has_no_limit_of_time() -> None:
    assert ask_user.limits.timeout_s is None
    assert (ask_user.needs_person, ask_user.readonly, ask_user.residency) == (True, True, "resident")

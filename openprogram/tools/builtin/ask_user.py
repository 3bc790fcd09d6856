"""`ask_user`: a question to the person, as a card with choices."""

from typing import Final

from openprogram.core.asking import Choice, Question, QuestionAnswer
from openprogram.core.errors import BadArguments
from openprogram.core.jsonio import JsonObject, JsonValue
from openprogram.core.messages import TextBlock
from openprogram.core.tooling import ToolContext, ToolLimits, ToolOutput
from openprogram.tools.decorator import tool

MOST_CHOICES: Final = 10
_NOBODY: Final = "Nobody can be asked here: no person takes part in this turn. Decide yourself, and say what you chose."
_QUESTION_CHARS: Final = 4_000
_LABEL_CHARS: Final = 400


@tool(
    readonly=True,
    needs_person=True,
    residency="resident",
    presets=("coding", "research", "browser", "safe"),
    limits=ToolLimits(timeout_s=None),
)
async def ask_user(
    context: ToolContext, question: str, choices: tuple[str, ...] = (), multiple: bool = False
) -> ToolOutput:
    """Ask the user something that only they can decide, and wait for the answer. They may always answer in their own
    words.

    Args:
        question: The question, short and complete
        choices: Answers to choose from; "label: why" explains one
        multiple: Whether several may be chosen
    """
    asked = _question(question, choices, multiple)
    if context.person is None:
        return ToolOutput((TextBlock(_NOBODY),), status="denied")
    answer = await context.person(asked, context.call_id, context.turn_id)
    return ToolOutput.text(told(answer), display=_display(asked, answer))


def _question(text: str, choices: tuple[str, ...], multiple: bool) -> Question:
    if not text.strip() or len(text) > _QUESTION_CHARS:
        raise BadArguments(f"the question is empty or longer than {_QUESTION_CHARS:,} characters")
    if len(choices) > MOST_CHOICES:
        raise BadArguments(f"there are {len(choices)} choices; a person is shown at most {MOST_CHOICES}")
    offered = tuple(map(_choice, choices))
    labels = [choice.label for choice in offered]
    if len(set(labels)) < len(labels):
        raise BadArguments("two choices have the same label")
    return Question(text.strip(), offered, multiple and len(offered) > 1)


def _choice(text: str) -> Choice:
    if not text.strip() or len(text) > _LABEL_CHARS:
        raise BadArguments(f"a choice is empty or longer than {_LABEL_CHARS} characters")
    label, colon, why = text.strip().partition(": ")
    return Choice(label.strip(), why.strip()) if colon and label.strip() and why.strip() else Choice(text.strip())


def told(answer: QuestionAnswer) -> str:
    """An answer in words for the model."""
    chosen = "\n".join(f"- {label}" for label in answer.chosen)
    parts = []
    if chosen:
        parts.append(f"The user chose:\n{chosen}")
    if answer.text:
        parts.append(f"The user says: {answer.text}")
    return "\n".join(parts) or "The user skipped the question. Go on as you judge best and say what you assumed."


def _display(asked: Question, answer: QuestionAnswer) -> JsonObject:
    chosen: list[JsonValue] = [*answer.chosen]
    return {"question": asked.text, "chosen": chosen, "text": answer.text}

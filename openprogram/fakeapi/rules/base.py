"""The shape of a rule and of a table of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from openprogram.fakeapi.cache.segments import Rendering
from openprogram.fakeapi.models import Model
from openprogram.fakeapi.shapes import JsonObject


@dataclass(frozen=True, slots=True)
class Violation:
    """Why a request is refused, in the words of the real API where they are known. `details` stand beside
    the code where an API has them."""

    message: str
    status: int = 400
    type: str = "invalid_request_error"
    param: str | None = None
    code: str | None = None
    details: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a rule may look at.

    `unreadable` is the parser's complaint about a body that is no JSON object; `body` is then empty.
    `size` is the raw body's, in bytes. `model` is `None` while no rule has made sure that it exists.
    `thought` answers whether this server gave out the tool call of that id behind a thinking block.
    `rendering` is the rendered prompt; only for requests that every earlier rule accepted.
    """

    body: JsonObject
    headers: Mapping[str, str]
    model: Model | None
    thought: Callable[[str], bool]
    rendering: Callable[[], Rendering]
    unreadable: str | None = None
    size: int = 0


Check: TypeAlias = Callable[[Facts], Violation | None]


@dataclass(frozen=True, slots=True)
class Rule:
    """One documented refusal. `title` says what is right; `source` says where that is documented."""

    number: str
    title: str
    source: str
    check: Check


@dataclass(slots=True)
class RuleTable:
    """Rules in the order in which they are tried. A duplicate number is a mistake of the author."""

    rules: list[Rule] = field(default_factory=list)

    def rule(self, number: str, title: str, source: str) -> Callable[[Check], Check]:
        """Decorator: enter the function as the rule `number`."""

        def enter(check: Check) -> Check:
            if any(rule.number == number for rule in self.rules):
                raise ValueError(f"rule {number} exists twice")
            self.rules.append(Rule(number, title, source, check))
            return check

        return enter

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)


def first_violation(tables: tuple[RuleTable, ...], facts: Facts) -> tuple[Rule, Violation] | None:
    """The first rule that refuses the request, with its reason."""
    for table in tables:
        for rule in table:
            violation = rule.check(facts)
            if violation is not None:
                return rule, violation
    return None

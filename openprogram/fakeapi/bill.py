"""The bill: every token that was answered for, by model and kind, so that a client's ledger can be compared.

Input is billed when an answer begins, all of its output with it. An answer that does not come to its end is moved
to an account of its own, with the output that was sent until then: what a provider bills in such a case is between
those two, and no client can know it to the token. What is refused, and counting tokens, costs nothing.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Final

from openprogram.fakeapi.answer import Answer, ThinkingBlock, joined
from openprogram.fakeapi.cache.verdict import CacheVerdict
from openprogram.fakeapi.models import Api
from openprogram.fakeapi.shapes import JsonObject
from openprogram.tokens import count_tokens


@dataclass(frozen=True, slots=True)
class Charge:
    """Tokens by kind, and the number of answers. `reasoning` is part of `output`."""

    answers: int = 0
    uncached: int = 0
    read: int = 0
    write_5m: int = 0
    write_1h: int = 0
    write_30m: int = 0
    write_12h: int = 0
    output: int = 0
    reasoning: int = 0

    def plus(self, other: Charge, sign: int = 1) -> Charge:
        """Both together; with `sign` -1 the difference."""
        return Charge(*(getattr(self, f.name) + sign * getattr(other, f.name) for f in fields(self)))


def charge(verdict: CacheVerdict, output: int, reasoning: int) -> Charge:
    """What one answer costs."""
    return Charge(
        1,
        verdict.uncached,
        verdict.read,
        verdict.write_5m,
        verdict.write_1h,
        verdict.write_30m,
        verdict.write_12h,
        output,
        reasoning,
    )


def sent_tokens(answer: Answer, deltas: int) -> tuple[int, int]:
    """The output tokens of the first `deltas` deltas of an answer, and how many of them are reasoning."""
    if answer.output_tokens is not None:
        return min(deltas, answer.output_tokens), 0
    total = reasoning = 0
    for block in answer.blocks:
        sent = block.chunks[:deltas]
        if not sent:
            break
        deltas -= len(sent)
        size = count_tokens(joined(sent))
        total += size + 1
        reasoning += size if isinstance(block, ThinkingBlock) else 0
    return total, reasoning


_NOTHING: Final = Charge()


class Bill:
    """All charges since the start or the last reset."""

    def __init__(self) -> None:
        self._finished: dict[tuple[Api, str], Charge] = {}
        self._unfinished: dict[tuple[Api, str], Charge] = {}

    def begun(self, api: Api, model: str, cost: Charge) -> None:
        """An answer has begun: it is billed whole."""
        self._finished[api, model] = self._finished.get((api, model), _NOTHING).plus(cost)

    def broken(self, api: Api, model: str, whole: Charge, sent: Charge) -> None:
        """An answer that was billed whole has ended early, with what was `sent`."""
        self._finished[api, model] = self._finished[api, model].plus(whole, -1)
        self._unfinished[api, model] = self._unfinished.get((api, model), _NOTHING).plus(sent)

    def shown(self) -> JsonObject:
        """The bill as JSON: the totals, and the same for each model."""
        models = sorted({*self._finished, *self._unfinished})
        return {
            "finished": asdict(_total(self._finished)),
            "unfinished": asdict(_total(self._unfinished)),
            "models": [
                {
                    "api": api,
                    "model": model,
                    "finished": asdict(self._finished.get((api, model), _NOTHING)),
                    "unfinished": asdict(self._unfinished.get((api, model), _NOTHING)),
                }
                for api, model in models
            ],
        }


def _total(charges: dict[tuple[Api, str], Charge]) -> Charge:
    total = _NOTHING
    for one in charges.values():
        total = total.plus(one)
    return total

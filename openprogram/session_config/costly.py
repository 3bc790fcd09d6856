"""From which price on a person is told before a message or a switch is paid for: the user's setting."""

from dataclasses import dataclass
from typing import Final, TypeGuard

from openprogram.core.errors import BadField
from openprogram.core.jsonio import JsonObject, JsonValue

_MOST: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class CostlySend:
    """Tokens that are billed anew, and US dollars for them. What reaches both is told; where the price is not known,
    the tokens alone decide."""

    tokens: int = 20_000
    dollars: float = 0.05

    def reached(self, tokens: int | None, dollars: float | None) -> bool:
        """Whether so much is to be told. What is not known at all is not."""
        return tokens is not None and 0 < tokens >= self.tokens and (dollars is None or dollars >= self.dollars)


def read_costly_send(value: JsonValue) -> CostlySend:
    """The setting from JSON: `{"tokens": N, "dollars": X}`, each from 0 on; null is the default. Raises `BadField`."""
    if value is None:
        return CostlySend()
    if isinstance(value, dict) and value.keys() == {"tokens", "dollars"}:
        tokens, dollars = value["tokens"], value["dollars"]
        if _within(tokens) and _within(dollars) and isinstance(tokens, int):
            return CostlySend(tokens, dollars)
    raise BadField("not a price", hint='{"tokens": 20000, "dollars": 0.05}; both from 0 on')


def write_costly_send(setting: CostlySend) -> JsonObject:
    """The JSON form of the setting."""
    return {"tokens": setting.tokens, "dollars": setting.dollars}


def _within(value: JsonValue) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _MOST

"""The yardstick of `tool_search`: BM25F as plain as can be, over name, description, parameters and server.

Words are split at case, digits and signs, stemmed, and counted once in a query. No stop words, no compounds, no allowed
values, nothing below the first level of a schema.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import Stemmer

WEIGHTS: Final = {"name": 3.0, "description": 1.0, "parameters": 0.7, "server": 0.5}
K1: Final = 1.2
B: Final = 0.6

_CASE: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_WORD: Final = re.compile(r"[A-Za-z]+|[0-9]+|[^\W\d_]+")


class PlainBm25f:
    """An index over tools as the data files have them."""

    def __init__(self, corpus: Sequence[Mapping[str, Any]]) -> None:
        self._stem = Stemmer.Stemmer("porter").stemWord
        self._ids = [str(tool["id"]) for tool in corpus]
        documents = [self._fields(tool) for tool in corpus]
        means = {field: sum(len(one[field]) for one in documents) / len(documents) or 1 for field in WEIGHTS}
        self._weights: defaultdict[str, defaultdict[int, float]] = defaultdict(lambda: defaultdict(float))
        for place, document in enumerate(documents):
            for field, boost in WEIGHTS.items():
                length = 1 - B + B * len(document[field]) / means[field]
                for term, times in Counter(document[field]).items():
                    self._weights[term][place] += boost * times / length

    def rank(self, query: str, limit: int) -> list[str]:
        """Ids, the best first."""
        scores: defaultdict[int, float] = defaultdict(float)
        for term in dict.fromkeys(self._terms(query)):
            found: Mapping[int, float] = self._weights.get(term, {})
            rarity = math.log(1 + (len(self._ids) - len(found) + 0.5) / (len(found) + 0.5))
            for place, weight in found.items():
                scores[place] += rarity * weight / (K1 + weight)
        best = sorted(scores, key=lambda place: (-scores[place], place))
        return [self._ids[place] for place in best[:limit]]

    def _terms(self, text: str) -> list[str]:
        return [self._stem(word.lower()) for word in _WORD.findall(_CASE.sub(" ", text))]

    def _fields(self, tool: Mapping[str, Any]) -> dict[str, list[str]]:
        parameters = tool.get("params") or {}
        described = (schema.get("description") for schema in parameters.values() if isinstance(schema, dict))
        texts = [*parameters, *(text for text in described if isinstance(text, str))]
        return {
            "name": self._terms(tool["name"]),
            "description": self._terms(tool.get("desc") or ""),
            "parameters": self._terms(" ".join(texts)),
            "server": self._terms(tool.get("server_desc") or ""),
        }

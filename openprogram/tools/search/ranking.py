"""BM25F over documents of several fields. Pure: the same documents and query give the same order in every process."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from heapq import nsmallest
from math import log
from typing import Final

from openprogram.tools.search.words import Words

Document = Mapping[str, list[str]]
"""Terms by field."""

K1: Final = 1.2
"""How soon a term that is repeated stops adding to the score."""
B: Final = 0.6
"""How much a long field is discounted: 0 not at all, 1 in full."""
_COMPOUND: Final = 0.5
"""Neighbours of the query that are one word in a tool say less than the words themselves."""

_NONE: Final = ((), ())


class Ranking:
    """Terms of many documents, to be asked which fit a query best."""

    def __init__(self, documents: Mapping[str, Document], fields: Mapping[str, float]) -> None:
        """Documents by name; `fields` says how much a term counts by the field that it stands in."""
        self._names = tuple(documents)
        self._postings = _postings(documents, fields)

    def rank(self, query: str, among: Collection[str], limit: int) -> tuple[str, ...]:
        """At most `limit` names among those, the best first; none of a document that shares no term with the query."""
        words = Words()
        scores: defaultdict[int, float] = defaultdict(float)
        weights = dict.fromkeys(words.compounds(query), _COMPOUND) | dict.fromkeys(words.query(query), 1.0)
        for term, weight in weights.items():
            for place, score in zip(*self._postings.get(term, _NONE), strict=True):
                scores[place] += weight * score
        found = ((-score, self._names[place]) for place, score in scores.items() if self._names[place] in among)
        return tuple(name for _, name in nsmallest(limit, found))


def _postings(
    documents: Mapping[str, Document], fields: Mapping[str, float]
) -> dict[str, tuple[tuple[int, ...], tuple[float, ...]]]:
    """For each term the places of the documents that have it, and what it adds to each one's score."""
    count = len(documents)
    means = {field: sum(len(one[field]) for one in documents.values()) / max(count, 1) for field in fields}
    weights: defaultdict[str, dict[int, float]] = defaultdict(dict)
    for place, terms in enumerate(documents.values()):
        for field, boost in fields.items():
            if not terms[field]:
                continue
            discount = boost / (1 - B + B * len(terms[field]) / means[field])
            for term, times in Counter(terms[field]).items():
                of_term = weights[term]
                of_term[place] = of_term.get(place, 0.0) + times * discount
    return {term: _scored(of_term, count) for term, of_term in weights.items()}


def _scored(weights: Mapping[int, float], count: int) -> tuple[tuple[int, ...], tuple[float, ...]]:
    rarity = log(1 + (count - len(weights) + 0.5) / (len(weights) + 0.5))
    return tuple(weights), tuple(rarity * weight / (K1 + weight) for weight in weights.values())

"""Text as search terms. Names are split at case, digits and signs, words are folded and stemmed; accents do not count.

Scripts without spaces between words come as pairs of characters. What was split in one place and written as one word in
another ("file_system", "filesystem") meets again as a compound of neighbours.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import Stemmer

_CASE: Final = re.compile(r"(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_UNSPACED: Final = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\u0e00-\u0e7f"
_WORD: Final = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])[^\W\d_])+|\d+")
_ACCENTS: Final = re.compile(r"[\u0300-\u036f]")
"""Marks over Latin, Greek and Cyrillic letters. In other scripts a mark makes another letter."""
_IS_UNSPACED: Final = re.compile(rf"[{_UNSPACED}]")

_FUNCTION_WORDS: Final = """
a an the this that these those i me my we us our you your he him his she her it its they them their
who whom whose which what when where why how am is are was were be been being have has had having
do does did doing done will would shall should can could may might must of in on at by for with about against
between into through during before after above below to from up down out off over under and but or nor so if
then than as while because until not no only own same too very just also here there again once
all any both each few more most other some such
please want need like
"""
FUNCTION_WORDS: Final = frozenset(_FUNCTION_WORDS.split())
"""Words that say nothing about a tool. In a small registry their rarity alone would make them count."""


class Words:
    """Makes terms of text. Not for use by two threads at once: the stemmer keeps state."""

    def __init__(self) -> None:
        self._stem = Stemmer.Stemmer("english").stemWord

    def terms(self, text: str) -> list[str]:
        """The terms of a document's text, in order, repeated as they occur."""
        return [self._stem(word) for word in _words(text)]

    def compounds(self, text: str) -> list[str]:
        """Neighbouring words written as one."""
        return [self._stem(left + right) for left, right in pairwise(_words(text))]

    def query(self, text: str) -> list[str]:
        """What is asked for: each term once, function words left out unless there is nothing else."""
        words = list(_words(text))
        telling = [word for word in words if word not in FUNCTION_WORDS]
        return list(dict.fromkeys(self._stem(word) for word in telling or words))


def _plain(text: str) -> str:
    """Without accents: many people leave them out, or write them as marks of their own."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFKC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text)))


def _words(text: str) -> Iterator[str]:
    for word in _WORD.findall(_CASE.sub(" ", _plain(text))):
        if not _IS_UNSPACED.match(word):
            yield word.casefold()
        elif len(word) == 1:
            yield word
        else:
            yield from (word[at : at + 2] for at in range(len(word) - 1))

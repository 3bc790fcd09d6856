"""BERT's tokens of a text: lower case without accents, split at signs, then the longest known pieces of each word."""

import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

_LONGEST_WORD: Final = 100
_UNKNOWN: Final = "[UNK]"
_IDEOGRAPHS: Final = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F))


def token_ids(text: str, vocabulary: Mapping[str, int], most: int) -> list[int]:
    """At most `most` ids, `[CLS]` and `[SEP]` included."""
    ids = [vocabulary["[CLS]"]]
    for word in _words(text):
        ids += [vocabulary[piece] for piece in _pieces(word, vocabulary)]
        if len(ids) >= most - 1:
            break
    return [*ids[: most - 1], vocabulary["[SEP]"]]


def _words(text: str) -> Iterator[str]:
    plain = unicodedata.normalize("NFD", text.lower())
    word = ""
    for sign in plain:
        kind = unicodedata.category(sign)
        if kind == "Mn" or (kind.startswith("C") and not sign.isspace()):
            continue
        alone = _stands_alone(sign, kind)
        if word and (alone or sign.isspace()):
            yield word
            word = ""
        if alone:
            yield sign
        elif not sign.isspace():
            word += sign
    if word:
        yield word


def _stands_alone(sign: str, kind: str) -> bool:
    code = ord(sign)
    ascii_sign = code < 128 and not sign.isalnum() and not sign.isspace()
    return ascii_sign or kind.startswith("P") or any(first <= code <= last for first, last in _IDEOGRAPHS)


def _pieces(word: str, vocabulary: Mapping[str, int]) -> list[str]:
    if len(word) > _LONGEST_WORD:
        return [_UNKNOWN]
    pieces: list[str] = []
    start = 0
    while start < len(word):
        prefix = "##" if start else ""
        ends = range(len(word), start, -1)
        end = next((end for end in ends if prefix + word[start:end] in vocabulary), None)
        if end is None:
            return [_UNKNOWN]
        pieces.append(prefix + word[start:end])
        start = end
    return pieces

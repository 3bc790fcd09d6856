"""A sentence model as sentence-transformers lays it out, tiny and made up: real files for the real reader."""

import json
from pathlib import Path
from typing import Any, Final

import numpy as np

SIZE: Final = 8
WORDS: Final = ("weather", "wea", "##ther", "rain", "file", "##s", "patch", ",", "天")


def write_model(folder: Path, layers: int = 2) -> Path:
    """Write it; the same weights each time."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *WORDS]
    (folder / "vocab.txt").write_text("".join(f"{word}\n" for word in vocabulary), "utf-8")
    config = {"hidden_size": SIZE, "num_attention_heads": 2, "num_hidden_layers": layers, "layer_norm_eps": 1e-12}
    (folder / "config.json").write_text(json.dumps(config), "utf-8")
    _write_tensors(folder / "model.safetensors", _tensors(len(vocabulary), layers))
    return folder


def _tensors(words: int, layers: int) -> dict[str, Any]:
    random = np.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (words, SIZE),
        "embeddings.position_embeddings.weight": (512, SIZE),
        "embeddings.token_type_embeddings.weight": (2, SIZE),
        "embeddings.LayerNorm.weight": (SIZE,),
        "embeddings.LayerNorm.bias": (SIZE,),
    }
    for number in range(layers):
        at = f"encoder.layer.{number}"
        parts = {f"attention.self.{name}": (SIZE, SIZE) for name in ("query", "key", "value")}
        parts |= {"attention.output.dense": (SIZE, SIZE), "intermediate.dense": (2 * SIZE, SIZE)}
        parts |= {"output.dense": (SIZE, 2 * SIZE)}
        for name, shape in parts.items():
            shapes[f"{at}.{name}.weight"] = shape
            shapes[f"{at}.{name}.bias"] = (shape[0],)
        for name in ("attention.output.LayerNorm", "output.LayerNorm"):
            shapes[f"{at}.{name}.weight"] = shapes[f"{at}.{name}.bias"] = (SIZE,)
    scales = {name: 1.0 if name.endswith("LayerNorm.weight") else 0.0 for name in shapes if "LayerNorm" in name}
    return {
        name: (np.full(shape, scales[name]) if name in scales else random.normal(0, 1, shape)).astype(np.float32)
        for name, shape in shapes.items()
    }


def _write_tensors(path: Path, tensors: dict[str, Any]) -> None:
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, tensor in tensors.items():
        offsets = [len(data), len(data) + tensor.nbytes]
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": offsets}
        data += tensor.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)

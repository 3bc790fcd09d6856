"""The longest common token prefix of a prompt with any earlier one, in time linear in its segments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from openprogram.fakeapi.cache.segments import Prompt, common_tokens

_MAX_NODES: Final = 50_000


@dataclass(slots=True)
class _Node:
    tokens: bytes
    used: float
    children: dict[bytes, _Node] = field(default_factory=dict)


class PrefixTree:
    """Remembers prompts as a tree of segments; a branch is forgotten `idle_seconds` after its last use."""

    def __init__(self, idle_seconds: float, max_nodes: int = _MAX_NODES) -> None:
        self._idle = idle_seconds
        self._max_nodes = max_nodes
        self._roots: dict[str, _Node] = {}
        self._count = 0

    def longest(self, scope: str, prompt: Prompt, now: float) -> int:
        """Tokens that `prompt` shares with the most similar live prompt of `scope` (a model)."""
        node = self._roots.get(scope)
        shared = 0
        for segment in prompt:
            if node is None:
                return shared
            child = node.children.get(segment.digest)
            if child is None or not self._alive(child, now):
                rivals = [other for other in node.children.values() if self._alive(other, now)]
                return shared + max((common_tokens(segment.tokens, other.tokens) for other in rivals), default=0)
            shared += segment.size
            node = child
        return shared

    def add(self, scope: str, prompt: Prompt, now: float) -> None:
        """Remember `prompt`, used at `now`. Every prefix of it counts as used too."""
        if self._count > self._max_nodes:
            self._prune(now)
        node = self._roots.setdefault(scope, _Node(b"", now))
        for segment in prompt:
            child = node.children.get(segment.digest)
            if child is None:
                child = node.children[segment.digest] = _Node(segment.tokens, now)
                self._count += 1
            elif not self._alive(child, now):
                # What hung below was idle even longer: it must not come back to life with its parent.
                self._count -= _size(child) - 1
                child.children.clear()
            child.used = now
            node = child

    def _alive(self, node: _Node, now: float) -> bool:
        return now - node.used < self._idle

    def _prune(self, now: float) -> None:
        """Drop what has expired; if that was too little, everything (a real cache evicts too)."""
        for root in self._roots.values():
            self._drop_expired(root, now)
        self._count = sum(_size(root) - 1 for root in self._roots.values())
        if self._count > self._max_nodes // 2:
            self._roots.clear()
            self._count = 0

    def _drop_expired(self, root: _Node, now: float) -> None:
        stack = [root]
        while stack:
            node = stack.pop()
            for digest, child in list(node.children.items()):
                if self._alive(child, now):
                    stack.append(child)
                else:
                    del node.children[digest]


def _size(root: _Node) -> int:
    """Number of nodes from `root` on. A chat is a path of thousands of nodes, so no recursion."""
    stack, count = [root], 0
    while stack:
        node = stack.pop()
        count += 1
        stack.extend(node.children.values())
    return count

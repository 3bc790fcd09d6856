"""The message tree: the active branch, siblings, leaves. Pure."""

from collections.abc import Iterable, Sequence

from openprogram.core.storage import Node


def path(nodes: Sequence[Node], leaf_id: str | None) -> tuple[str, ...]:
    """Ids from the root to `leaf_id`; empty for None or an id that is not there."""
    parents = {node.id: node.parent_id for node in nodes}
    found: list[str] = []
    current = leaf_id
    while current is not None and current in parents:
        found.append(current)
        current = parents[current]
    return tuple(reversed(found))


def siblings(nodes: Sequence[Node], ids: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """For each of `ids` that has siblings: all children of its parent, itself included, in order of insertion."""
    children: dict[str | None, list[str]] = {}
    for node in nodes:
        children.setdefault(node.parent_id, []).append(node.id)
    parents = {node.id: node.parent_id for node in nodes}
    groups = ((id_, children[parents[id_]]) for id_ in ids if id_ in parents)
    return {id_: tuple(group) for id_, group in groups if len(group) > 1}


def newest_leaf(nodes: Sequence[Node], message_id: str) -> str:
    """The end of the branch through `message_id` that follows the newest child at each fork."""
    newest: dict[str | None, str] = {node.parent_id: node.id for node in nodes}
    leaf = message_id
    while leaf in newest:
        leaf = newest[leaf]
    return leaf


def answered_node(nodes: Sequence[Node], message_id: str) -> str | None:
    """What an answer of the turn around `message_id` hangs below: the nearest ancestor of a person or notice."""
    by_id = {node.id: node for node in nodes}
    current = by_id.get(message_id)
    while current is not None and current.role in ("assistant", "tool"):
        current = by_id.get(current.parent_id) if current.parent_id else None
    return current.id if current else None

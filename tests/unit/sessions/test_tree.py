"""The message tree."""

from hypothesis import given
from hypothesis import strategies as st

from openprogram.core.messages import Role
from openprogram.core.storage import Node
from openprogram.sessions.tree import answered_node, newest_leaf, path, siblings

TREE = (
    Node("u1", None, "user"),
    Node("n1", "u1", "notice"),
    Node("a1", "n1", "assistant"),
    Node("t1", "a1", "tool"),
    Node("a2", "t1", "assistant"),
    Node("u2", None, "user"),
    Node("a3", "n1", "assistant"),
    Node("a4", "u2", "assistant"),
)


def test_a_path_goes_from_the_root_to_the_leaf() -> None:
    assert path(TREE, "a2") == ("u1", "n1", "a1", "t1", "a2")
    assert path(TREE, None) == path(TREE, "gone") == ()


def test_siblings_are_all_children_of_one_parent_in_order() -> None:
    assert siblings(TREE, ("u1", "n1", "a3", "gone")) == {"u1": ("u1", "u2"), "a3": ("a1", "a3")}


def test_the_newest_leaf_follows_the_newest_child_at_each_fork() -> None:
    assert newest_leaf(TREE, "u1") == "a3"
    assert newest_leaf(TREE, "a1") == "a2"
    assert newest_leaf(TREE, "a4") == "a4"


def test_an_answer_hangs_below_what_a_person_or_the_program_said() -> None:
    assert [answered_node(TREE, id_) for id_ in ("a2", "t1", "u2", "n1", "gone")] == ["n1", "n1", "u2", "n1", None]
    assert answered_node((Node("a", None, "assistant"),), "a") is None


@st.composite
def trees(draw: st.DrawFn) -> tuple[Node, ...]:
    """Any forest, in order of insertion."""
    nodes: list[Node] = []
    roles: tuple[Role, ...] = ("user", "assistant", "tool", "notice")
    for number in range(draw(st.integers(1, 12))):
        parent = draw(st.sampled_from([None, *(node.id for node in nodes)]))
        nodes.append(Node(f"m{number}", parent, draw(st.sampled_from(roles))))
    return tuple(nodes)


@given(trees())
def test_every_branch_is_a_path_that_its_newest_leaf_extends(nodes: tuple[Node, ...]) -> None:  # P8
    children = {node.parent_id for node in nodes}
    for node in nodes:
        branch = path(nodes, node.id)
        assert branch[-1] == node.id
        assert len(set(branch)) == len(branch)
        leaf = newest_leaf(nodes, node.id)
        assert leaf not in children
        assert path(nodes, leaf)[: len(branch)] == branch


@given(trees())
def test_siblings_share_a_parent_and_know_each_other(nodes: tuple[Node, ...]) -> None:  # P8
    ids = [node.id for node in nodes]
    parents = {node.id: node.parent_id for node in nodes}
    groups = siblings(nodes, ids)
    for id_, group in groups.items():
        assert id_ in group
        assert len(group) > 1
        assert {parents[other] for other in group} == {parents[id_]}
        assert all(groups[other] == group for other in group)
    assert all(list(parents.values()).count(parents[id_]) == 1 for id_ in ids if id_ not in groups)

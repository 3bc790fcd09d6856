import pytest

from openprogram.tools.docstring import parse_docstring

DOCSTRING = """Read a text
    file.

    Notes:

    - a list keeps
      its lines
    - each one
    2. numbers too

    Last
    paragraph.

    Args:
        path: where it
            is
        mode (str): how:
            like this

    Returns:
        nothing that a model needs
    """


def test_prose_is_unwrapped_and_lists_keep_their_lines() -> None:
    text = parse_docstring("One\n    two\n    three.\n\n    - a\n      b\n    - c\n    1. d\n    ").description

    assert text == "One two three.\n\n- a\n  b\n- c\n1. d"


def test_parameters_are_read_with_their_continuations() -> None:
    assert parse_docstring(DOCSTRING).parameters == {"path": "where it is", "mode": "how: like this"}


def test_sections_are_not_part_of_the_description() -> None:
    assert parse_docstring("Do it.\n\nReturns:\n    x\n\nArgs:\n    a: b\n").description == "Do it."
    assert parse_docstring("Do it.\n\nReturns:\n    x\n\nArgs:\n    a: b\n").parameters == {"a": "b"}


def test_a_docstring_without_sections_is_all_description() -> None:
    assert parse_docstring("Do it.").description == "Do it."
    assert parse_docstring("").description == ""


@pytest.mark.parametrize(
    ("args", "words"),
    [("    what is this", "cannot read"), ("    a: one\n    a: two", "twice"), ("    a: b\n    c d", "cannot read")],
)
def test_an_argument_that_cannot_be_read_is_an_error(args: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_docstring(f"Do it.\n\nArgs:\n{args}\n")

"""The error tree: each class a code, each code of the protocol a class, and the drawing in the module true."""

import re

from openprogram.core import errors
from openprogram.core.errors import OpenProgramError, RequestError, StorageError

PROTOCOL = {
    "bad_json", "bad_frame", "unknown_action", "bad_field", "too_large", "unknown_session", "unknown_preset",
    "unknown_tool", "id_conflict", "busy", "limit_exceeded", "no_endpoint", "storage_failed", "unauthorised",
}  # fmt: skip


def _classes() -> list[type[OpenProgramError]]:
    found = [value for value in vars(errors).values() if isinstance(value, type)]
    return [value for value in found if issubclass(value, OpenProgramError)]


def test_every_code_of_the_protocol_has_a_class() -> None:
    codes = {kind.code for kind in _classes() if issubclass(kind, RequestError | StorageError)}
    assert codes == PROTOCOL


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    drawn = re.findall(r"[├└]── (\w+)", errors.__doc__ or "")
    assert {"OpenProgramError", *drawn} == {kind.__name__ for kind in _classes()}


def test_an_error_carries_what_a_person_needs() -> None:
    error = errors.BadField("too long", field="title", hint="at most 300 characters")
    assert (str(error), error.message, error.field, error.hint, error.code) == (
        "too long",
        "too long",
        "title",
        "at most 300 characters",
        "bad_field",
    )

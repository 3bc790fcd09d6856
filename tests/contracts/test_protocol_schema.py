"""The interface's protocol types cannot fall behind the protocol."""

from scripts.gen_protocol import SCHEMA, rendered


def test_committed_schema_is_the_protocols() -> None:
    """`python scripts/gen_protocol.py`, then `npm run gen:protocol` in webui/, brings both up to date."""
    assert SCHEMA.read_text(encoding="utf-8") == rendered()

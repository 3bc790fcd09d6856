"""Write the protocol's JSON Schema, from which the interface's TypeScript types are made.

`python scripts/gen_protocol.py` writes it, then `npm run gen:protocol` in webui/ makes the types. The
contract test `tests/contracts/test_protocol_schema.py` and `npm run check:protocol` fail when one is behind.
"""

import json
from pathlib import Path

from openprogram.core.protocol.schema import protocol_schema

SCHEMA = Path(__file__).resolve().parent.parent / "webui" / "schema" / "protocol.json"


def rendered() -> str:
    """The schema file's text: sorted keys, so that it changes only where the protocol does."""
    return json.dumps(protocol_schema(), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> None:
    """Write the schema file."""
    SCHEMA.parent.mkdir(parents=True, exist_ok=True)
    SCHEMA.write_text(rendered(), encoding="utf-8")


if __name__ == "__main__":
    main()

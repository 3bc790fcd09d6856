"""The protocol as one JSON Schema, from which the TypeScript types are generated."""

from typing import Any, Union

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, JsonSchemaValue

from openprogram.core.protocol.actions import Action
from openprogram.core.protocol.frames import ServerFrame


class _DefaultsRequired(GenerateJsonSchema):
    """Frames always carry their defaults, so a reader may rely on every field (actions may leave theirs out)."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        return self.mode == "serialization" or super().field_is_required(field, total)


def protocol_schema() -> JsonSchemaValue:
    """JSON Schema 2020-12: `$defs` holds every action, frame, event and message under its name."""
    actions: TypeAdapter[Any] = TypeAdapter(Union[Action])  # noqa: UP007
    frames: TypeAdapter[Any] = TypeAdapter(Union[ServerFrame])  # noqa: UP007
    inputs: list[tuple[str, JsonSchemaMode, TypeAdapter[Any]]] = [
        ("Action", "validation", actions),
        ("ServerFrame", "serialization", frames),
    ]
    roots, schema = TypeAdapter.json_schemas(inputs, title="openprogram.v1", schema_generator=_DefaultsRequired)
    for (name, _), root in roots.items():
        schema["$defs"][name] = root
    return schema

"""What a project says about tools: `.openprogram/project.toml` in the directory that a chat works in. Pure.

    [tools]
    toolset = "coding"
    disabled = ["web_fetch"]

or `tools = ["read", "grep"]`: exactly these. The fields are those of an intent, between the chat's own wishes and the
agent profile's (spec tools.md T9).
"""

import tomllib
from dataclasses import dataclass, replace
from typing import Any, Final

from openprogram.core.errors import BadField, RequestError
from openprogram.core.intent import ToolIntent
from openprogram.core.tooling import Snapshot
from openprogram.session_config.codec import read_intent
from openprogram.session_config.patches import WEB_SEARCH, check_intent, within

PROJECT_FILE: Final = ".openprogram/project.toml"
_TABLE: Final = "tools"
_CAREFUL: Final = "safe"
"""The preset that stands in for what a faulty file wanted: it may have wanted to take something away (law 6)."""


@dataclass(frozen=True, slots=True)
class ProjectLayer:
    """The project's wishes, and in words for people what is wrong with its file."""

    intent: ToolIntent = ToolIntent()  # noqa: RUF009 - frozen
    fault: str | None = None


NO_PROJECT: Final = ProjectLayer()


def read_project(path: str, data: bytes, snapshot: Snapshot) -> ProjectLayer:
    """The layer that a file says. Names of tools that are not installed here are no fault; presets have to exist.

    A file with a fault never stops a chat: the chat then only looks, unless it chooses for itself, and people are told.
    """
    tables: dict[str, Any] = {}
    try:
        tables = tomllib.loads(data.decode("utf-8-sig"))
        return ProjectLayer(_intent(tables, snapshot))
    except UnicodeDecodeError as error:
        return faulty(path, f"not UTF-8 text (byte {error.start})")
    except tomllib.TOMLDecodeError as error:
        return faulty(path, f"not TOML: {error}")
    except RecursionError:
        return faulty(path, "nested too deeply")
    except RequestError as error:
        place = f"{error.field}: " if error.field and not error.message.startswith(error.field) else ""
        hint = f" ({error.hint})" if error.hint else ""
        return faulty(path, f"{place}{error.message}{hint}", _switched_off(tables))


def faulty(path: str, why: str, disabled: tuple[str, ...] = ()) -> ProjectLayer:
    """The layer of a file that cannot be used."""
    fault = f"{path}: {why}. Until it is right, the preset {_CAREFUL} stands in for it."
    return ProjectLayer(ToolIntent(toolset=_CAREFUL, disabled=disabled), fault)


def _intent(tables: dict[str, Any], snapshot: Snapshot) -> ToolIntent:
    strange = sorted(tables.keys() - {_TABLE})
    if strange:
        raise BadField(f"there is no table {strange[0]!r}", field=strange[0], hint=f"the one table is [{_TABLE}]")
    table = tables.get(_TABLE, {})
    if not isinstance(table, dict | list):
        raise BadField("must be a table or a list of names", field=_TABLE)
    with within(_TABLE):
        intent = read_intent(table)
        check_intent(replace(intent, disabled=()), snapshot)
    return intent


def _switched_off(tables: dict[str, Any]) -> tuple[str, ...]:
    """The names that a faulty file takes away, as far as they can be read: a fault elsewhere gives nothing back."""
    table = tables.get(_TABLE)
    names = table.get("disabled") if isinstance(table, dict) else None
    listed = names if isinstance(names, list) else []
    return tuple(name for name in listed if isinstance(name, str) and name != WEB_SEARCH)

"""The environment of commands: the server's own without its secrets (R14)."""

import re
from collections.abc import Mapping
from typing import Final

_OURS: Final = "OPENPROGRAM_"
_PARTS: Final = re.compile(
    "SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|PRIVATE_?KEY|API_?KEY|ACCESS_?KEY|AUTH_?TOKEN|CONNECTION_STRING"
)
_ENDS: Final = ("_KEY", "_TOKEN", "_PASS", "_PAT", "_PWD", "_AUTH", "_DSN", "_COOKIE")
_NAMES: Final = frozenset({"TOKEN", "BASH_ENV", "ENV"})
"""BASH_ENV and ENV are no secrets: they name a file that a shell would run before the command."""

_IN_URL: Final = re.compile(r"://[^/\s:@]*:[^/\s@]+@")

_SET: Final = {"TERM": "dumb", "PAGER": "cat", "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}
"""Nothing waits for a person at a terminal that is not there."""


def command_environment(source: Mapping[str, str], keep: frozenset[str] = frozenset()) -> dict[str, str]:
    """`source` without what looks like a secret, by its name or by a password in a URL; `keep` names exceptions."""
    kept = {
        name: value
        for name, value in source.items()
        if name in keep or not (is_secret_name(name) or _IN_URL.search(value))
    }
    return {**kept, **_SET}


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name is kept from commands."""
    upper = name.upper()
    return upper.startswith(_OURS) or upper in _NAMES or upper.endswith(_ENDS) or _PARTS.search(upper) is not None

"""The data directory and the token that is kept in it."""

import fcntl
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from openprogram.core.errors import ConfigError

TOKEN_FILE: Final = "token"
LOCK_FILE: Final = "lock"
TOKEN: Final = re.compile(r"[\x21-\x7e]{1,512}")
"""What a token may be: it has to fit into a header and a URL, so visible ASCII without spaces."""


def prepare_home(home: Path) -> None:
    """Make the directory, for this user only, if it is not there. Raises `ConfigError` if it cannot be used."""
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        usable = os.access(home, os.R_OK | os.W_OK | os.X_OK)
    except FileExistsError as error:
        raise ConfigError(
            f"{home} is not a directory", field="home", hint="choose another data directory with --home"
        ) from error
    except OSError as error:
        raise unusable(home, error) from error
    if not usable:
        raise ConfigError(
            f"the data directory {home} cannot be read and written by this user",
            field="home",
            hint="choose another one with --home, or change its owner and mode",
        )


def unusable(path: Path, error: OSError) -> ConfigError:
    """What to say when the system refuses the data directory or a file in it."""
    return ConfigError(
        f"{path} cannot be used: {error.strerror or error}",
        field="home",
        hint="choose another data directory with --home, or change the owner and mode of this one",
    )


def check_token(token: str, source: str) -> str:
    """The token, if it can be one. `source` says where it was set."""
    if TOKEN.fullmatch(token) is None:
        raise ConfigError(
            f"{source}: a token is 1 to 512 visible ASCII characters without spaces",
            field="token",
            hint="for instance the output of: openssl rand -hex 32",
        )
    return token


@contextmanager
def sole_use(home: Path) -> Iterator[None]:
    """Keep the data directory for this process: a second server would take the first one's turns for a crash's.

    The kernel lets go of it when the process ends, however it ends. Raises `ConfigError` if another process has it.
    """
    with (home / LOCK_FILE).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise ConfigError(
                f"another openprogram is running on the data directory {home}",
                field="home",
                hint="stop it first, or choose another directory with --home",
            ) from error
        yield


def own_token(home: Path) -> str:
    """The random token of this data directory: made once, readable by this user only, then reused."""
    path = home / TOKEN_FILE
    try:
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            path.chmod(0o600)
            return check_token(path.read_text("ascii", "replace").strip(), str(path))
        token = secrets.token_urlsafe(32)
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{token}\n")
    except OSError as error:
        raise unusable(path, error) from error
    return token

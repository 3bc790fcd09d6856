"""Who may talk to this server, as one immutable value: the token, and the names it answers to (R9 to R11).

Loopback is no protection by itself. Any page in any browser can reach it: by a cross-site WebSocket, which the
check of `Origin` refuses, or by a name that resolves to 127.0.0.1 (DNS rebinding), which that of `Host` refuses.
"""

import hashlib
import hmac
import ipaddress
import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from openprogram.core.errors import ConfigError

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")

_NAME: Final = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?)(:(?P<port>[0-9]{1,5}))?")
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """The token, and the `Host` and `Origin` values that are let in. Made by `make_access`."""

    token: str = field(repr=False)
    cookie_name: str
    hosts: frozenset[str]
    origins: frozenset[str]
    secure_hosts: frozenset[str]
    """Hosts that are reached by HTTPS only: cookies for them carry `Secure`."""

    def token_matches(self, presented: str) -> bool:
        """Compare in constant time, whatever the lengths."""
        return hmac.compare_digest(_digest(presented), _digest(self.token))

    @property
    def cookie_value(self) -> str:
        """What a signed-in browser keeps: it is derived from the token and does not disclose it."""
        return hmac.new(self.token.encode(), b"openprogram sign-in", hashlib.sha256).hexdigest()

    def cookie_matches(self, presented: str) -> bool:
        """Compare in constant time."""
        return hmac.compare_digest(_digest(presented), _digest(self.cookie_value))

    def host_allowed(self, host: str) -> bool:
        """Whether a `Host` header names this server."""
        return re.sub(r":(80|443)$", "", host.lower()) in self.hosts

    def origin_allowed(self, origin: str) -> bool:
        """Whether an `Origin` header is a page of this server. `null` is not."""
        return origin.lower() in self.origins


def make_access(
    *, token: str, host: str, port: int, allow_hosts: tuple[str, ...] = (), public_url: str | None = None
) -> Access:
    """Access for a server bound to `host` and `port` (the real one, not 0).

    `allow_hosts` are names, with or without a port; without, the bound port and the default ports are meant.
    Raises `ConfigError` for a name or URL that cannot be one.
    """
    authorities = {_authority(name, port) for name in LOOPBACK_NAMES}
    if not is_wildcard(host):
        authorities.add(_authority(_bracketed(host), port))
    for allowed in allow_hosts:
        name, explicit = _split(allowed)
        authorities |= {_authority(name, explicit)} if explicit else {name, _authority(name, port)}
    origins = {f"{scheme}://{authority}" for scheme in _DEFAULT_PORTS for authority in authorities}
    secure: set[str] = set()
    if public_url is not None:
        scheme, authority = _split_url(public_url)
        authorities.add(authority)
        origins.add(f"{scheme}://{authority}")
        if scheme == "https":
            secure.add(authority)
    return Access(
        token=token,
        cookie_name=f"openprogram_{port}",
        hosts=frozenset(authorities),
        origins=frozenset(origins),
        secure_hosts=frozenset(secure),
    )


def is_loopback(host: str) -> bool:
    """Whether binding to `host` keeps the server on this machine."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def is_wildcard(host: str) -> bool:
    """Whether `host` means every address of this machine."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_unspecified
    except ValueError:
        return host == ""


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _bracketed(host: str) -> str:
    return f"[{host.lower()}]" if ":" in host and not host.startswith("[") else host.lower()


def _authority(name: str, port: int) -> str:
    return name if port in _DEFAULT_PORTS.values() else f"{name}:{port}"


def _split(text: str) -> tuple[str, int | None]:
    match = _NAME.fullmatch(text.lower())
    if match is None:
        raise ConfigError(
            f"allow-host: {text!r} is not a host name",
            field="allow_hosts",
            hint="for instance chat.example.com",
        )
    return match["name"], int(match["port"]) if match["port"] else None


def _split_url(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname:
        raise ConfigError(
            f"public-url: {url!r} is not an http or https URL",
            field="public_url",
            hint="for instance https://chat.example.com",
        )
    name = _bracketed(parts.hostname)
    default = port is None or port == _DEFAULT_PORTS[parts.scheme]
    return parts.scheme, name if default else f"{name}:{port}"

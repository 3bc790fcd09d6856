"""Which IP addresses a request on someone else's behalf may reach: those of the public internet, no other.

`ipaddress.is_global` is not enough. On Python 3.11 it calls NAT64, the 6to4 relay and multicast addresses global, and
its table changes with the patch release. So the blocks are listed here, after the IANA registries of special-purpose
addresses (https://www.iana.org/assignments/iana-ipv4-special-registry, ...-ipv6-special-registry), and `is_global`
is asked as well.
"""

from dataclasses import dataclass
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_BLOCKS: Final = (
    ("0.0.0.0/8", "this host"),
    ("10.0.0.0/8", "private"),
    ("100.64.0.0/10", "shared by a provider"),
    ("127.0.0.0/8", "loopback"),
    ("168.63.129.16/32", "cloud metadata"),
    ("169.254.0.0/16", "link-local"),
    ("172.16.0.0/12", "private"),
    ("192.0.0.0/24", "reserved"),
    ("192.0.2.0/24", "documentation"),
    ("192.88.99.0/24", "a 6to4 relay"),
    ("192.168.0.0/16", "private"),
    ("198.18.0.0/15", "benchmarking"),
    ("198.51.100.0/24", "documentation"),
    ("203.0.113.0/24", "documentation"),
    ("224.0.0.0/4", "multicast"),
    ("240.0.0.0/4", "reserved"),
    ("::/128", "this host"),
    ("::1/128", "loopback"),
    ("64:ff9b:1::/48", "local translation"),
    ("100::/64", "discard-only"),
    ("2001::/23", "reserved or a tunnel"),
    ("2001:db8::/32", "documentation"),
    ("2002::/16", "a 6to4 tunnel"),
    ("3fff::/20", "documentation"),
    ("5f00::/16", "segment routing"),
    ("fc00::/7", "private"),
    ("fe80::/10", "link-local"),
    ("fec0::/10", "site-local"),
    ("ff00::/8", "multicast"),
)
_REFUSED: Final = tuple((ip_network(block), reason) for block, reason in _BLOCKS)
_UNICAST: Final = IPv6Network("2000::/3")
_NAT64: Final = IPv6Network("64:ff9b::/96")


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """Public addresses, and the `allow`ed networks: an administrator's exceptions, or loopback in a test."""

    allow: tuple[Network, ...] = ()

    def refusal(self, text: str) -> str | None:
        """Why this numeric address may not be reached, in a few words; None if it may.

        An IPv4 address inside an IPv6 one (mapped, or NAT64's well-known prefix) is judged as the IPv4 address.
        """
        if "%" in text:
            return "an address with a zone, which is local"
        try:
            address = _effective(ip_address(text))
        except ValueError:
            return "not a numeric address"
        if any(address in network for network in self.allow if network.version == address.version):
            return None
        return _reason(address)


def _effective(address: Address) -> Address:
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return address.ipv4_mapped
        if address in _NAT64:
            return IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


def _reason(address: Address) -> str | None:
    for network, reason in _REFUSED:
        if network.version == address.version and address in network:
            return reason
    if isinstance(address, IPv6Address) and address not in _UNICAST:
        return "not a public unicast address"
    return None if address.is_global else "not a public address"

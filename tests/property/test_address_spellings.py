"""R16: no spelling of a local address is dialled."""

import asyncio
import socket
from ipaddress import IPv4Address, ip_network

from hypothesis import given
from hypothesis import strategies as st

from openprogram.net.addresses import AddressPolicy
from openprogram.net.errors import NetFailure
from openprogram.net.guarded import AddrInfo, FetchLimits, GuardedClient

LOCAL = ["127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "0.0.0.0/8", "224.0.0.0/4"]
WIDE = str.maketrans("0123456789.", "０１２３４５６７８９．")


def number(value: int, base: int) -> str:
    return {8: f"0{value:o}", 10: str(value), 16: f"{value:#x}"}[base]


@st.composite
def local_addresses(draw: st.DrawFn) -> IPv4Address:
    network = ip_network(draw(st.sampled_from(LOCAL)))
    return IPv4Address(draw(st.integers(int(network[0]), int(network[-1]))))


@st.composite
def spellings(draw: st.DrawFn) -> str:
    """A URL host that some resolver or parser takes for a local IPv4 address."""
    address = draw(local_addresses())
    value = int(address)
    form = draw(
        st.sampled_from(["plain", "wide", "dot", "whole", "short", "mixed", "mapped", "nat64", "6to4", "percent"])
    )
    base = draw(st.sampled_from([8, 10, 16]))
    match form:
        case "plain":
            return str(address)
        case "wide":
            return str(address).translate(WIDE)
        case "dot":
            return f"{address}."
        case "whole":
            return number(value, base)
        case "short":
            return f"{value >> 24}.{number(value & 0xFFFFFF, base)}"
        case "mixed":
            parts = [number(byte, draw(st.sampled_from([8, 10, 16]))) for byte in address.packed]
            return ".".join(parts)
        case "mapped":
            return f"[::ffff:{draw(st.sampled_from([str(address), f'{value >> 16:x}:{value & 0xFFFF:x}']))}]"
        case "nat64":
            return f"[64:ff9b::{value >> 16:x}:{value & 0xFFFF:x}]"
        case "6to4":
            return f"[2002:{value >> 16:x}:{value & 0xFFFF:x}::1]"
        case _:
            return "".join(f"%{ord(letter):02x}" for letter in str(address))


def dialled(url: str) -> tuple[NetFailure | None, list[object]]:
    """The addresses for which a socket was opened while fetching `url` with the system's own resolver."""
    opened: list[object] = []

    class Watched(GuardedClient):
        def _open_socket(self, info: AddrInfo) -> socket.socket:
            made = super()._open_socket(info)
            opened.append(info[4][0])
            return made

    async def fetch() -> NetFailure | None:
        client = Watched("test", limits=FetchLimits(total_s=2))
        try:
            await client.get(url, accept=lambda kind: True)
        except NetFailure as failure:
            return failure
        return None

    return asyncio.run(fetch()), opened


@given(spellings(), st.sampled_from(["http", "https"]), st.integers(1, 65535))
def test_no_spelling_of_a_local_address_opens_a_socket(host, scheme, port):  # R16
    failure, opened = dialled(f"{scheme}://{host}:{port}/")
    assert failure is not None
    assert failure.kind in ("refused", "bad_url", "unreachable")
    assert opened == []


@given(local_addresses())
def test_a_name_for_a_local_address_is_refused(address):  # R16
    async def resolve(host: str, port: int) -> tuple[str, ...]:
        return (str(address),)

    async def fetch() -> str | None:
        try:
            await GuardedClient("test", resolve=resolve).get("http://example.org/", accept=lambda kind: True)
        except NetFailure as failure:
            return failure.kind
        return None

    assert asyncio.run(fetch()) == "refused"


@given(st.binary(min_size=16, max_size=16))
def test_whatever_is_not_refused_is_global_unicast(packed):  # R16
    text = socket.inet_ntop(socket.AF_INET6, packed)
    if AddressPolicy().refusal(text) is None:
        assert packed[0] >> 5 == 1 or packed[:12] in (bytes(10) + b"\xff\xff", bytes.fromhex("0064ff9b") + bytes(8))

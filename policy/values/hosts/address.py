"""IP addresses, and the reserved words for types of networks."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

Address: TypeAlias = IPv4Address | IPv6Address
Network: TypeAlias = IPv4Network | IPv6Network

# Each word as defined by the registries of special addresses and by cloud providers.
NETWORK_WORDS: dict[str, tuple[Network, ...]] = {
    word: tuple(ip_network(text) for text in texts.split())
    for word, texts in {
        "private": "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10",
        "loopback": "127.0.0.0/8 ::1/128",
        "link_local": "169.254.0.0/16 fe80::/10",
        "metadata": (
            "169.254.169.254 169.254.170.2 169.254.170.23 100.100.100.200 192.0.0.192"
            " 168.63.129.16 169.254.0.23 169.254.42.42 169.254.169.250 169.254.169.252"
            " fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fd00:c1::a9fe:a9fe fd00:42::42"
            " fe80::a9fe:a9fe"
        ),
        "unspecified": "0.0.0.0/8 ::/128",
        "shared": "100.64.0.0/10",
        "multicast": "224.0.0.0/4 ff00::/8",
        "reserved": (
            "240.0.0.0/4 192.0.0.0/24 192.0.2.0/24 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24"
            " 192.88.99.0/24 100::/64 100:0:0:1::/64 2001:2::/48 2001:10::/28 2001:20::/28"
            " 2001:db8::/32 3fff::/20 5f00::/16"
        ),
    }.items()
}
METADATA_NAMES = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.azure.internal",
        "metadata.packet.net",
        "metadata.platformequinix.com",
        "metadata.tencentyun.com",
        "api.metadata.cloud.ibm.com",
        "rancher-metadata",
    }
)
_NAT64 = ip_network("64:ff9b::/96")
_NAT64_LOCAL = ip_network("64:ff9b:1::/48")
_COMPATIBLE = ip_network("::/96")
_TRANSLATED = ip_network("::ffff:0:0:0/96")
# The interface identifiers of ISATAP, except for the bit that marks them as unique.
_ISATAP, _ISATAP_MASK = 0x00005EFE, 0xFDFFFFFF


@lru_cache(maxsize=4096)
def read_address(text: str) -> Address | None:
    """Parse an address in its standard spelling, without a zone; IPv4 inside IPv6 becomes IPv4."""
    if "%" in text:
        return None
    try:
        address = ip_address(text)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


def in_networks(address: Address, networks: tuple[Network, ...]) -> bool | None:
    """Return whether the address is in one of `networks`.

    None for an IPv6 address outside them that embeds an IPv4 address inside them, or the reverse:
    which of the two is reached depends on the route.
    """
    answers = {_inside(face, networks) for face in _faces(address)}
    return answers.pop() if len(answers) == 1 else None


def _inside(address: Address, networks: tuple[Network, ...]) -> bool:
    return any(address.version == net.version and address in net for net in networks)


@lru_cache(maxsize=4096)
def _faces(address: Address) -> tuple[Address, ...]:
    """Return the address, and the IPv4 addresses that a tunnel or translator would reach by it."""
    if isinstance(address, IPv4Address):
        return (address,)
    number = int(address)
    lowest = IPv4Address(number & 0xFFFFFFFF)
    if address.sixtofour is not None:
        return address, address.sixtofour
    if address.teredo is not None:
        return address, *address.teredo
    if address in _NAT64 or address in _TRANSLATED or (address in _COMPATIBLE and number > 1):
        return address, lowest
    if address in _NAT64_LOCAL:
        # Behind a prefix of 48 bits the IPv4 address may also be split around the reserved octet.
        parted = (number >> 64 & 0xFFFF) << 16 | (number >> 40 & 0xFFFF)
        return address, lowest, IPv4Address(parted)
    if number >> 32 & _ISATAP_MASK == _ISATAP:
        return address, lowest
    return (address,)

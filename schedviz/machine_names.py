"""The addresses and names of this machine in its networks."""

import socket
from contextlib import suppress
from typing import Final

NETWORKS: Final = ("192.0.2.1", "192.168.255.254", "10.255.255.254", "172.31.255.254")
"""An address in the Internet, and one in each private range. A socket that is connected to one of them has
the address of the network card that leads there; a datagram socket sends nothing when it is connected."""


def find_addresses() -> list[str]:
    """Return the IPv4 addresses by which others reach this machine, that of the default route first."""
    found: dict[str, None] = {}
    for there in NETWORKS:
        with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((there, 9))
            found[probe.getsockname()[0]] = None
    return [address for address in found if not address.startswith("127.")]


def find_names() -> list[str]:
    """Return the names by which others may find this machine: its own, and that of multicast DNS."""
    name = socket.gethostname().partition(".")[0].lower()
    return list(dict.fromkeys([socket.getfqdn().lower(), name, f"{name}.local"]))

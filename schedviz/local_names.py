"""The names by which a machine reaches itself."""

from typing import Final

LOCAL: Final = ("127.0.0.1", "localhost", "::1", "[::1]")


def is_local(host: str) -> bool:
    """Whether a host is this machine. host: a name or an address, with or without a port."""
    name = host if host in LOCAL else host.rsplit(":", 1)[0]
    return name in LOCAL or name.endswith(".localhost")

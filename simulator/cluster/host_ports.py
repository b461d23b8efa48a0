"""Which nodes have which host ports in use (HostPortInfo in pkg/scheduler/framework/types.go, v1.34)."""

from collections.abc import Iterable

import numpy as np

from simulator.cluster.columns import Bools
from simulator.objects.pod import HostPort

ANY_IP = "0.0.0.0"  # noqa: S104 - the API's own word for "any address"


def conflict(one: HostPort, other: HostPort) -> bool:
    """The same port and protocol, at the same address or where either means any."""
    return (
        one.port == other.port
        and one.protocol == other.protocol
        and (one.ip == other.ip or ANY_IP in (one.ip, other.ip))
    )


class HostPorts:
    """Rows by host port, with how many pods use it there."""

    def __init__(self) -> None:
        self._users: dict[HostPort, dict[int, int]] = {}
        self._known: dict[tuple[str, int], set[HostPort]] = {}
        """The ports in use that could conflict: those of the same protocol and number."""

    def count(self, row: int, port: HostPort, sign: int) -> None:
        users = self._users.setdefault(port, {})
        users[row] = users.get(row, 0) + sign
        if not users[row]:
            del users[row]
        alike = self._known.setdefault((port.protocol, port.port), set())
        if users:
            alike.add(port)
            return
        del self._users[port]
        alike.discard(port)
        if not alike:
            del self._known[port.protocol, port.port]

    def users(self) -> dict[HostPort, dict[int, int]]:
        """Every port in use: row -> how many pods use it there."""
        return self._users

    def taken(self, wanted: Iterable[HostPort], width: int) -> Bools:
        """bool[width]: the rows where a wanted port is not free."""
        taken = np.zeros(width, dtype=np.bool_)
        for want in wanted:
            for port in self._known.get((want.protocol, want.port), ()):
                if conflict(want, port):
                    taken[list(self._users[port])] = True
        return taken

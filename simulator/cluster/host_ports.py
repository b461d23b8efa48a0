"""HostPorts: the host ports in use on each node (HostPortInfo in pkg/scheduler/framework/types.go)."""

from collections.abc import Iterable, Mapping

import numpy as np

from simulator.cluster.columns import Ints
from simulator.objects.pod import HostPort

ANY_IP = "0.0.0.0"  # noqa: S104 - in the API, this hostIP stands for all addresses


def ports_conflict(one: HostPort, other: HostPort) -> bool:
    """Whether two host ports cannot be used on one node: they have the same number and protocol, and the same
    address, or at least one of them has all addresses."""
    return (
        one.port == other.port
        and one.protocol == other.protocol
        and (one.ip == other.ip or ANY_IP in (one.ip, other.ip))
    )


class HostPorts:
    """The host ports in use: for each, the rows of the nodes where pods use it, and the number of these
    pods."""

    def __init__(self) -> None:
        self._users: dict[HostPort, dict[int, int]] = {}
        self._by_number: dict[tuple[str, int], set[HostPort]] = {}
        """The ports in use by protocol and number: only ports of one set can conflict."""

    def add(self, row: int, port: HostPort, amount: int) -> None:
        """Add ``amount`` pods that use the port on a node. It is negative when pods are removed."""
        users = self._users.setdefault(port, {})
        users[row] = users.get(row, 0) + amount
        if not users[row]:
            del users[row]
        same_number = self._by_number.setdefault((port.protocol, port.port), set())
        if users:
            same_number.add(port)
            return
        del self._users[port]
        same_number.discard(port)
        if not same_number:
            del self._by_number[port.protocol, port.port]

    def users(self) -> Mapping[HostPort, Mapping[int, int]]:
        """Return for each port in use the number of pods that use it, by row."""
        return self._users

    def count_conflicts(self, requested: Iterable[HostPort], width: int) -> Ints:
        """Return int64[width]: the number of pairs of a requested port and a port in use on the node that
        conflict. A port that several pods use counts once per pod."""
        conflicts = np.zeros(width, dtype=np.int64)
        for want in requested:
            for port in self._by_number.get((want.protocol, want.port), ()):
                if ports_conflict(want, port):
                    users = self._users[port]
                    conflicts[list(users)] += list(users.values())
        return conflicts

"""CycleState: the data of one scheduling cycle (pkg/scheduler/framework/cycle_state.go), and the
numbers that are drawn in it."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from simulator.cluster.cluster import Cluster
from simulator.framework.status import PluginError
from simulator.objects.pod import Pod


def draw(seed: int, cycle: int, purpose: str, count: int) -> int:
    """Return a number from 0 to ``count`` - 1, evenly distributed. The same arguments always return the same
    number."""
    digest = blake2b(f"{seed}/{cycle}/{purpose}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) % count


PODS_TO_ACTIVATE = "kubernetes.io/pods-to-activate"
"""The key under which a plugin writes a list of pods that move to activeQ when the cycle succeeds
(PodsToActivateKey)."""


class CycleState:
    """The cluster, the nominated pods, and the data that plugins write and read in one scheduling cycle.

    ``nominated`` maps the name of a node to the pods that are nominated to it, including the pod of this
    cycle. ``seed`` and ``cycle`` determine the numbers that upstream draws at random.
    """

    def __init__(
        self,
        cluster: Cluster,
        nominated: Mapping[str, Sequence[Pod]] | None = None,
        *,
        seed: int = 0,
        cycle: int = 0,
    ) -> None:
        self.cluster = cluster
        self.nominated = nominated or {}
        self.seed = seed
        self.cycle = cycle
        self.of_pod_group = False
        """Whether it is of a pod group's cycle (IsPodGroupSchedulingCycle), in which nothing is bound."""
        self.skip_filter: frozenset[str] = frozenset()
        self.skip_score: frozenset[str] = frozenset()
        self.skip_pre_bind: frozenset[str] = frozenset()
        self._data: dict[str, Any] = {}

    def read(self, key: str) -> Any:
        """Return the value of a key. Raises PluginError("not found") if it was not written."""
        try:
            return self._data[key]
        except KeyError:
            raise PluginError("not found") from None

    def find(self, key: str) -> Any:
        """Return the value of a key, None if it was not written."""
        return self._data.get(key)

    def write(self, key: str, value: Any) -> None:
        """Set the value of a key. As upstream, a key is the name of the extension point and of the plugin:
        ``PreFilterNodePorts``."""
        self._data[key] = value

    def draw(self, purpose: str, count: int) -> int:
        """Return a pseudo-random number from 0 to ``count`` - 1 for this cycle and purpose."""
        return draw(self.seed, self.cycle, purpose, count)

    def clone(self) -> "CycleState":
        """Return a copy. Values with a ``clone()`` method are cloned, others are shared."""
        copy = CycleState(self.cluster, self.nominated, seed=self.seed, cycle=self.cycle)
        copy.of_pod_group = self.of_pod_group
        copy.skip_filter, copy.skip_score = self.skip_filter, self.skip_score
        copy._data = {k: v.clone() if hasattr(v, "clone") else v for k, v in self._data.items()}
        return copy

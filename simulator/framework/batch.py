"""OpportunisticBatch: the ranking of a scheduling cycle, kept for the next pod of the same kind
(OpportunisticBatch in pkg/scheduler/framework/runtime/batch.go, since v1.35)."""

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec
import numpy as np

from simulator.api import SECOND, Micros
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import SignPlugin
from simulator.framework.node_batch import NodeBatch
from simulator.framework.runtime import Framework
from simulator.framework.signers import SCHEDULER_NAME, Fragments
from simulator.objects.pod import Pod

GATE: Final = "OpportunisticBatching"
MAX_AGE: Final[Micros] = SECOND // 2
"""The age to which a ranking is used (maxBatchAge)."""


class CycleResult(NamedTuple):
    """What a scheduling cycle that chose a node leaves for the next one."""

    signature: bytes | None
    """That of the pod; None = it has none."""
    hint: str
    """The node that the batch named; "" = none."""
    chosen: str
    others: Iterable[str]
    """The other feasible nodes, the best first; none where nodes were not scored."""


def make_batch(framework: Framework) -> "OpportunisticBatch | None":
    """Return the batch of a profile; None where the gate is off, where there are extenders, or where a plugin
    that filters or scores signs no pods (setupBatchablePlugins in framework.go)."""
    if not framework.features.enabled(GATE) or framework.extenders:
        return None
    plugins = (
        *framework.pre_filter_plugins,
        *framework.filter_plugins,
        *framework.pre_score_plugins,
        *framework.score_plugins,
    )
    signing: dict[str, SignPlugin] = {}
    for plugin in plugins:
        if not isinstance(plugin, SignPlugin) or not plugin.signs_pods:
            return None
        signing[plugin.name] = plugin
    return OpportunisticBatch(framework, [*signing.values()])


class OpportunisticBatch:
    """Names the node for a pod whose signature is that of the pod before, where the node of that pod has no
    room for another one: the next best of the old ranking. Scores are not computed again."""

    def __init__(self, framework: Framework, plugins: Sequence[SignPlugin]) -> None:
        """``plugins``: all that filter or score."""
        self._framework = framework
        self._plugins = plugins
        self._signature: bytes | None = None
        self._ranking: deque[str] = deque()
        """Names of nodes, the best first; at most all nodes of the cluster."""
        self._created: Micros = 0
        self._cycle = -1
        """The last cycle that succeeded."""
        self._chosen = ""
        """The node of the pod of that cycle."""

    def sign_pod(self, pod: Pod) -> bytes | None:
        """Return the signature of a pod; None = it has none (SignPod in framework.go)."""
        signature: Fragments = {SCHEDULER_NAME: pod.scheduler_name}
        for plugin in self._plugins:
            fragments = plugin.sign_pod(pod)
            if fragments is None:
                return None
            signature |= fragments
        return msgspec.json.encode(signature, order="sorted")

    def node_hint(self, state: CycleState, pod: Pod, signature: bytes | None, now: Micros) -> str:
        """Take the best node from the ranking, and return its name; "" = the ranking is not usable
        (GetNodeHint)."""
        if not self._ranking or state.cycle != self._cycle + 1:
            return ""
        if signature is None or signature != self._signature or now - self._created > MAX_AGE:
            return ""
        row = state.cluster.rows.get(self._chosen)
        if row is None:
            return ""
        verdicts = self._framework.run_filter(state, pod, NodeBatch(state.cluster, np.array([row])))
        code = int(verdicts.codes[0])
        if not code or not verdicts.statuses[code - 1].rejected:
            return ""  # how good the node would be for another such pod is not known
        return self._ranking.popleft()

    def store(self, cycle: int, result: CycleResult, now: Micros) -> None:
        """Keep the result of a cycle that succeeded (StoreScheduleResults)."""
        self._cycle, self._chosen = cycle, result.chosen
        if result.hint == result.chosen:
            return
        self._signature, self._created = result.signature, now
        self._ranking = deque(() if result.signature is None else result.others)

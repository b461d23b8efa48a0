"""The ranking of the pod before, which the scheduler uses again for a pod of the same kind
(OpportunisticBatching, :mod:`simulator.framework.batch`)."""

from typing import Final, NamedTuple

from simulator.api import SECOND, Micros
from simulator.framework.batch import MAX_AGE, OpportunisticBatch, make_batch
from simulator.framework.runtime import Framework
from simulator.scheduler.attempt import Attempt

LATE: Final[Micros] = SECOND // 10
"""How much later than its cycle a binding may be seen."""


class _Ranking(NamedTuple):
    signature: bytes
    created: Micros
    chosen: str
    """The node of the last pod."""
    totals: dict[str, int]
    """The totals of the nodes that are left."""


class Hints:
    """What the batch of a profile would name next, from the decisions that were judged."""

    def __init__(self, framework: Framework) -> None:
        self._batch: OpportunisticBatch | None = make_batch(framework)
        self._ranking: _Ranking | None = None

    def could_name(self, made: Attempt, node: str, now: Micros) -> bool:
        """Whether the node is the next best of the ranking, and is named for the pod of this attempt."""
        ranking = self._ranking
        if self._batch is None or ranking is None or now - ranking.created > MAX_AGE + LATE:
            return False
        row, chosen = made.cluster.rows.get(node), made.cluster.rows.get(ranking.chosen)
        if (
            row is None
            or chosen is None
            or ranking.totals.get(node) != max(ranking.totals.values(), default=None)
        ):
            return False
        if ranking.signature != self._batch.sign_pod(made.pod):
            return False
        return row in made.feasible and chosen not in made.feasible

    def decided(self, made: Attempt, node: str, now: Micros, *, named: bool) -> None:
        """Note a decision. ``named``: the batch named the node."""
        if self._batch is None:
            return
        if named and self._ranking is not None:
            left = {name: total for name, total in self._ranking.totals.items() if name != node}
            self._ranking = self._ranking._replace(chosen=node, totals=left)
            return
        signature = self._batch.sign_pod(made.pod)
        self._ranking = None
        if signature is not None and len(made.totals):
            names = [made.cluster.node(row).name for row in made.feasible.tolist()]
            totals = dict(zip(names, made.totals.tolist(), strict=True))
            totals.pop(node, None)
            self._ranking = _Ranking(signature, now, node, totals)

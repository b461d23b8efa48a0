"""``decide`` with ``pods`` and ``batching``: pods are scheduled one after another, and the ranking of one may
be used for the next (:mod:`simulator.framework.batch`).

A pod is assumed on its node before the next attempt. PostFilter is not run. Equal scores are settled as one
worker of kube-scheduler settles them since v1.35, where no extender scores.
"""

from collections.abc import Iterator
from typing import Any

from simulator.framework import snapshot
from simulator.framework.batch import make_batch
from simulator.framework.extender import Transport
from simulator.harness.decide.input import DecideInput, framework_of, read_objects
from simulator.objects.pod import Pod
from simulator.scheduler.attempt import Attempt


def decide_batched(question: DecideInput, transport: Transport | None = None) -> dict[str, Any]:
    """Run an attempt for each of ``pods``, and return the results as the conformance tests describe them."""
    frameworks = question.frameworks(transport)
    batches = {name: make_batch(framework) for name, framework in frameworks.items()}
    cluster, nominated = snapshot.read(read_objects(question.objects), frameworks)
    attempts, next_start = [], 0
    for cycle, manifest in enumerate(question.pods or ()):
        pod = Pod.parse(manifest)
        framework = framework_of(pod, frameworks)
        batch = batches[pod.scheduler_name]
        # What all nodes are like without a hint, for comparison.
        full = Attempt(framework, cluster, pod, nominated, exhaustive=True)
        search = OneWorkerAttempt(
            framework, cluster, pod, nominated, cycle=cycle, start_node_index=next_start, batch=batch
        )
        _search(full)
        _search(search)
        next_start = search.next_start_node_index
        node = "" if search.selected is None else cluster.node(search.selected).name
        names = [cluster.node(int(row)).name for row in full.feasible]
        attempts.append(
            {
                "pod": pod.key,
                "signable": search.signature is not None,
                "hinted": search.hinted,
                "assumedOn": node,
                "feasible": sorted(names),
                "bestIfScored": sorted(cluster.node(int(row)).name for row in full.best),
                "message": search.message,
            }
        )
        if node:
            cluster.add_pod(pod.assumed(node))
    return {"attempts": attempts}


def _search(attempt: Attempt) -> None:
    for point in attempt.run():
        if point == "PostFilter":
            return


class OneWorkerAttempt(Attempt):
    """An attempt that settles equal scores as one worker does."""

    def _select(self) -> int:
        self._order = self._in_order()
        return next(self._order)

    def _rank(self) -> Iterator[int]:
        return self._order

    def _in_order(self) -> Iterator[int]:
        """Yield the scored nodes, the best first: the nodes in the order in which they were found are made a
        heap, and popped from it (newSortedNodeScores in schedule_one.go, Go's container/heap)."""
        places = (self.cluster.position()[self.feasible] - self.start_node_index) % self.cluster.node_count
        found = places.argsort(kind="stable")
        heap = list(zip(self.totals[found].tolist(), self.feasible[found].tolist(), strict=True))
        for i in reversed(range(len(heap) // 2)):
            _sift_down(heap, i)
        while heap:
            last = heap.pop()
            if not heap:
                yield last[1]
                return
            yield heap[0][1]
            heap[0] = last
            _sift_down(heap, 0)


def _sift_down(heap: list[tuple[int, int]], i: int) -> None:
    """Move an element down to its place: while a child has a higher score, swap them; of two children that
    with the higher score, the left one of equals."""
    while 2 * i + 1 < len(heap):
        child = 2 * i + 1
        if child + 1 < len(heap) and heap[child + 1][0] > heap[child][0]:
            child += 1
        if heap[child][0] <= heap[i][0]:
            return
        heap[i], heap[child] = heap[child], heap[i]
        i = child

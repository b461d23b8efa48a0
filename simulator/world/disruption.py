"""The disruption controller: keeps the status of PodDisruptionBudgets true
(pkg/controller/disruption/disruption.go, v1.34).

Simplified where upstream asks a pod's controller how many pods there should be: here it is how many there
are."""

from functools import partial

from simulator.api import Manifest
from simulator.controllers.shares import rounded_up
from simulator.objects.labels import label_selector
from simulator.objects.pod import Pod
from simulator.objects.pod_status import condition
from simulator.world.agenda import Turn
from simulator.world.world import World

BUDGETS = "poddisruptionbudgets.policy"


class DisruptionController:
    """``pods`` holds all pods by ``namespace/name``; it is kept up to date by others."""

    def __init__(self, world: World, pods: dict[str, Pod]) -> None:
        self._world = world
        self._pods = pods
        self._dirty: set[str] = set()
        """Namespaces whose budgets are to be looked at."""

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        pod = new or old
        assert pod is not None, "a change has an object before or after it"
        before = old is not None and (healthy(old), old.labels)
        if before != (new is not None and (healthy(new), new.labels)):
            self._look_at(pod.namespace)

    def budget_changed(self, manifest: Manifest) -> None:
        self._look_at(manifest["metadata"].get("namespace") or "default")

    def _look_at(self, namespace: str) -> None:
        if not self._world.informer.of(BUDGETS):
            return
        if not self._dirty:
            self._world.agenda.add(self._world.now, Turn.CONTROLLER, self._sync)
        self._dirty.add(namespace)

    def _sync(self) -> None:
        namespaces, self._dirty = self._dirty, set()
        for key, budget in list(self._world.informer.of(BUDGETS).items()):
            namespace = budget["metadata"].get("namespace") or "default"
            if namespace in namespaces:
                pods = [pod for pod in self._pods.values() if pod.namespace == namespace]
                counted = partial(_with_counts, counts=status(budget, pods))
                self._world.update(BUDGETS, key, budget["metadata"].get("uid", ""), counted)


def healthy(pod: Pod) -> bool:
    """Ready, and to stay."""
    ready = condition(pod.manifest, "Ready")
    return not pod.terminating and not pod.finished and ready is not None and ready["status"] == "True"


def status(budget: Manifest, pods: list[Pod]) -> dict[str, int]:
    """The figures of the budget's status. ``pods`` are those of its namespace."""
    selector = label_selector(budget["spec"].get("selector"))
    matching = [p for p in pods if not p.finished and selector is not None and selector.matches(p.labels)]
    expected = len(matching)
    current = sum(healthy(pod) for pod in matching)
    spec = budget["spec"]
    if spec.get("maxUnavailable") is not None:
        desired = max(0, expected - rounded_up(spec["maxUnavailable"], expected))
    else:
        desired = rounded_up(spec.get("minAvailable", 0), expected)
    # Nothing may be disrupted while no pod is there: this controller may not have counted the first ones yet.
    allowed = max(0, current - desired) if expected else 0
    return {
        "currentHealthy": current,
        "desiredHealthy": desired,
        "disruptionsAllowed": allowed,
        "expectedPods": expected,
    }


def _with_counts(budget: Manifest, counts: dict[str, int]) -> Manifest:
    old = budget.get("status") or {}
    new = {**old, **counts, "observedGeneration": budget["metadata"].get("generation", 1)}
    return budget if new == old else {**budget, "status": new}

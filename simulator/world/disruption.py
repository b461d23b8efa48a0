"""The disruption controller: keeps the status of PodDisruptionBudgets true
(pkg/controller/disruption/disruption.go, v1.34).

Simplified: of other kinds than those with replicas of their own it asks no scale subresource."""

from functools import partial

from simulator.api import Manifest
from simulator.apiserver.resources import of_kind
from simulator.controllers.ownership import controller_of, uid
from simulator.controllers.shares import rounded_up
from simulator.objects.labels import label_selector
from simulator.objects.pod import Pod
from simulator.objects.pod_status import condition, with_condition, with_status
from simulator.world.agenda import Turn
from simulator.world.world import World

BUDGETS = "poddisruptionbudgets.policy"
DEPLOYMENTS, REPLICA_SETS = "deployments.apps", "replicasets.apps"
SCALED = (DEPLOYMENTS, REPLICA_SETS, "statefulsets.apps", "replicationcontrollers")
"""Whose replicas say how many pods there should be."""


class NoScale(Exception):
    """How many pods there should be cannot be told; the text says why."""


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
        if _what_counts(old) != _what_counts(new):
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
                counted = partial(self._with_status, figures=self._figures(budget, pods))
                self._world.update(BUDGETS, key, uid(budget), counted)

    def _figures(self, budget: Manifest, pods: list[Pod]) -> dict[str, int] | NoScale:
        """The numbers of the budget's status. ``pods`` are those of its namespace."""
        selector, spec = label_selector(budget["spec"].get("selector")), budget["spec"]
        matching = [pod for pod in pods if selector is not None and selector.matches(pod.labels)]
        least, most = spec.get("minAvailable", 0), spec.get("maxUnavailable")
        try:
            by_owners = most is not None or not isinstance(least, int)
            expected = self._expected_scale(matching) if by_owners else len(matching)
        except NoScale as unknown:
            return unknown
        if most is not None:
            desired = max(0, expected - rounded_up(most, expected))
        else:
            desired = rounded_up(least, expected)
        current = sum(healthy(pod) for pod in matching)
        # Nothing may be disrupted while no pod is there: this controller may not have counted the first ones.
        allowed = max(0, current - desired) if expected else 0
        return {
            "currentHealthy": current,
            "desiredHealthy": desired,
            "disruptionsAllowed": allowed,
            "expectedPods": expected,
        }

    def _expected_scale(self, pods: list[Pod]) -> int:
        """getExpectedScale: the replicas of all controllers of these pods. Pods without one count nothing.
        Raises NoScale."""
        scales: dict[str, int] = {}
        for pod in pods:
            reference = controller_of(pod.manifest)
            if reference is not None and reference["uid"] not in scales:
                owner = self._scaled_owner(pod, reference)
                scales[uid(owner)] = owner["spec"]["replicas"]
        return sum(scales.values())

    def _scaled_owner(self, pod: Pod, reference: Manifest) -> Manifest:
        """The controller, or the Deployment behind a ReplicaSet."""
        kind = of_kind(reference["apiVersion"], reference["kind"])
        if kind is None or kind.id not in SCALED:
            name = kind.id if kind is not None else reference["kind"]
            raise NoScale(f"{name} does not implement the scale subresource")
        owner = self._world.informer.get(kind.id, f"{pod.namespace}/{reference['name']}")
        if owner is None or uid(owner) != reference["uid"]:
            raise NoScale(f'found no controllers for pod "{pod.name}"')
        above = controller_of(owner) if kind.id == REPLICA_SETS else None
        if above is not None and above["kind"] == "Deployment":
            found = self._world.informer.get(DEPLOYMENTS, f"{pod.namespace}/{above['name']}")
            if found is not None and uid(found) == above["uid"]:
                return found
        return owner

    def _with_status(self, budget: Manifest, figures: dict[str, int] | NoScale) -> Manifest:
        """Without figures nothing may be disrupted (failSafe)."""
        if isinstance(figures, NoScale):
            new = with_status(budget, disruptionsAllowed=0)
            said = ("False", "SyncFailed", str(figures))
        else:
            new = with_status(budget, **figures, observedGeneration=budget["metadata"].get("generation", 1))
            enough = figures["disruptionsAllowed"] > 0
            said = ("True", "SufficientPods", "") if enough else ("False", "InsufficientPods", "")
        status, reason, message = said
        new = with_condition(
            new, self._world.now, "DisruptionAllowed", status, reason=reason, message=message
        )
        return budget if new == budget else new


def healthy(pod: Pod) -> bool:
    """Ready, and to stay."""
    ready = condition(pod.manifest, "Ready")
    return not pod.terminating and not pod.finished and ready is not None and ready["status"] == "True"


def _what_counts(pod: Pod | None) -> object:
    return None if pod is None else (healthy(pod), pod.labels, controller_of(pod.manifest))

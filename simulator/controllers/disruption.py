"""The disruption controller: updates the status of PodDisruptionBudgets
(pkg/controller/disruption/disruption.go).

Simplified: it uses no scale subresource, so that custom resources that own pods have no scale."""

import msgspec

from simulator.api import Manifest
from simulator.controllers.controller import Controller, ControllerContext
from simulator.controllers.pods import is_active, is_ready
from simulator.controllers.status_types import PodDisruptionBudgetStatus
from simulator.controllers.work_queue import ObjectKey
from simulator.objects.conditions import with_meta_condition
from simulator.objects.labels import Selector, label_selector
from simulator.objects.metadata import labels_of, namespace_of_key, object_key, uid_of
from simulator.objects.numbers import scaled_value_rounded_up
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.objects.status import with_status

BUDGETS = "poddisruptionbudgets.policy"
DEPLOYMENTS, REPLICA_SETS = "deployments.apps", "replicasets.apps"
SCALED = (DEPLOYMENTS, REPLICA_SETS, "statefulsets.apps", "replicationcontrollers")
"""The resources whose spec.replicas are the expected number of pods."""
CHANGED_NAMESPACES = ObjectKey(BUDGETS, "")
"""The entry in the work queue for all budgets of the namespaces where pods or budgets changed: one step syncs
them all, however many there are."""


class ScaleUnknown(Exception):
    """The expected number of pods cannot be found; the text says why."""


class DisruptionController(Controller):
    component = "DisruptionController"
    resource = BUDGETS
    watches = ("pods", BUDGETS)

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._changed_namespaces: set[str] = set()

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if not self._world.informer.of(BUDGETS):
            return
        if resource == BUDGETS or _pod_fields(old) != _pod_fields(new):
            self._changed_namespaces.add(namespace_of_key(key))
            self._queue.add(CHANGED_NAMESPACES)

    def sync_object(self, item: ObjectKey) -> None:
        if item != CHANGED_NAMESPACES:
            super().sync_object(item)
            return
        namespaces, self._changed_namespaces = self._changed_namespaces, set()
        for key in [*self._world.informer.of(BUDGETS)]:
            if namespace_of_key(key) in namespaces:
                self._queue.sync_now(ObjectKey(BUDGETS, key))

    def sync(self, key: str, manifest: Manifest) -> None:
        namespace = namespace_of_key(key)
        pods = [pod for pod in self._pods.values() if pod.namespace == namespace]
        try:
            status = self._status(manifest, pods)
        except ScaleUnknown as error:
            problem = str(error)
            self.patch(BUDGETS, manifest, lambda budget: self._failed_safe(budget, problem))
        else:
            self.patch(BUDGETS, manifest, lambda budget: self._with_status(budget, status))

    def _status(self, budget: Manifest, pods: list[Pod]) -> PodDisruptionBudgetStatus:
        """Compute the status of a budget. ``pods`` are those of the budget's namespace. Raises ScaleUnknown.

        Without minAvailable and maxUnavailable no pods are expected, and no disruption is allowed
        (getExpectedPodCount)."""
        spec = budget.get("spec", {})
        selector = label_selector(spec.get("selector"))
        matching = _matching(pods, selector) if selector is not None else []
        least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
        if most is not None or isinstance(least, str):
            expected = self._expected_scale(matching)
        else:
            expected = len(matching) if least is not None else 0
        if most is not None:
            desired = max(0, expected - scaled_value_rounded_up(most, expected))
        else:
            desired = scaled_value_rounded_up(least or 0, expected)
        current = sum(pod.healthy for pod in matching)
        return PodDisruptionBudgetStatus(
            current_healthy=current,
            desired_healthy=desired,
            # No disruption is allowed while no pod is expected: the first ones may not be counted yet.
            disruptions_allowed=max(0, current - desired) if expected else 0,
            expected_pods=expected,
            observed_generation=budget["metadata"].get("generation", 1),
        )

    def _expected_scale(self, pods: list[Pod]) -> int:
        """Return the sum of the replicas of these pods' controllers; pods without one are not counted
        (getExpectedScale). Raises ScaleUnknown."""
        scales: dict[str, int] = {}
        found: set[tuple[str, ...]] = set()
        for pod in pods:
            reference = controller_of(pod.manifest)
            if reference is None:
                continue
            controller = tuple(reference[field] for field in ("uid", "apiVersion", "kind", "name"))
            if controller not in found:
                found.add(controller)
                owner = self._scaled_owner(pod, reference)
                scales[uid_of(owner)] = owner["spec"].get("replicas", 1)
        return sum(scales.values())

    def _scaled_owner(self, pod: Pod, reference: Manifest) -> Manifest:
        """Return the pod's controller, or the Deployment that controls its ReplicaSet. Raises
        ScaleUnknown."""
        kind = self._world.server.find_kind(reference["apiVersion"], reference["kind"])
        if kind is None or kind.id not in SCALED:
            name = kind.id if kind is not None else reference["kind"]
            raise ScaleUnknown(f"{name} does not implement the scale subresource")
        owner = self._world.informer.get(kind.id, object_key(pod.namespace, reference["name"]))
        if owner is None or uid_of(owner) != reference["uid"]:
            raise ScaleUnknown(f'found no controllers for pod "{pod.name}"')
        above = controller_of(owner) if kind.id == REPLICA_SETS else None
        if above is not None and above["kind"] == "Deployment":
            deployment = self._world.informer.get(DEPLOYMENTS, object_key(pod.namespace, above["name"]))
            if deployment is not None and uid_of(deployment) == above["uid"]:
                return deployment
        return owner

    def _failed_safe(self, budget: Manifest, problem: str) -> Manifest:
        """Return the budget with a status that allows no disruption (failSafe)."""
        return self._with_disruption_allowed(budget, {"disruptionsAllowed": 0}, "SyncFailed", problem)

    def _with_status(self, budget: Manifest, status: PodDisruptionBudgetStatus) -> Manifest:
        reason = "SufficientPods" if status.disruptions_allowed > 0 else "InsufficientPods"
        return self._with_disruption_allowed(budget, msgspec.to_builtins(status), reason)

    def _with_disruption_allowed(
        self, budget: Manifest, fields: dict[str, int], reason: str, message: str = ""
    ) -> Manifest:
        """Return the budget with these fields of its status and the condition DisruptionAllowed."""
        allowed = "True" if reason == "SufficientPods" else "False"
        new = with_status(budget, **fields)
        new = with_meta_condition(
            new, self._world.now, "DisruptionAllowed", allowed, reason=reason, message=message
        )
        return budget if new == budget else new


def _matching(pods: list[Pod], selector: Selector) -> list[Pod]:
    """Return the pods that the selector matches. Most of them have the same labels."""
    known: dict[tuple[tuple[str, str], ...], bool] = {}
    matching = []
    for pod in pods:
        labels = tuple(pod.labels.items())
        if labels not in known:
            known[labels] = selector.matches(pod.labels)
        if known[labels]:
            matching.append(pod)
    return matching


def _pod_fields(pod: Manifest | None) -> object:
    """Return the fields of a pod whose change makes a sync of the budgets in its namespace."""
    return None if pod is None else (is_active(pod) and is_ready(pod), labels_of(pod), controller_of(pod))

"""The disruption controller: updates the status of PodDisruptionBudgets
(pkg/controller/disruption/disruption.go).

Simplified: it uses no scale subresource, so that custom resources that own pods have no scale."""

from collections.abc import Mapping

import msgspec

from simulator.api import Manifest
from simulator.controllers.controller import Controller, ControllerContext
from simulator.controllers.pods import is_active, is_ready
from simulator.controllers.status_types import PodDisruptionBudgetStatus
from simulator.controllers.work_queue import ObjectKey
from simulator.objects.conditions import with_meta_condition
from simulator.objects.label_sets import LabelSet, LabelSets, label_set
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
CHANGED_BUDGETS = ObjectKey(BUDGETS, "")
"""The entry in the work queue for all budgets that changed or whose pods did: one step syncs them all,
however many there are."""


class ScaleUnknown(Exception):
    """The expected number of pods cannot be found; the text says why."""


class DisruptionController(Controller):
    component = "DisruptionController"
    resource = BUDGETS
    watches = ("pods", BUDGETS)

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._selectors: dict[str, Selector | None] = {}
        """Budget -> its selector."""
        self._changed_budgets: set[str] = set()
        self._changed_labels: dict[str, LabelSets] = {}
        """Namespace -> the labels of pods that changed."""
        self._labels: dict[str, LabelSets] = {}
        """Namespace -> the labels of its pods. Most pods have those of many others."""
        self._by_labels: dict[tuple[str, LabelSet], dict[str, None]] = {}
        """Namespace and labels -> the keys of the pods that have them."""

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        if resource == BUDGETS:
            if new is None:
                self._selectors.pop(key, None)
            else:
                self._selectors[key] = label_selector(new.get("spec", {}).get("selector"))
            self._changed_budgets.add(key)
        else:
            before, after = _labels(old), _labels(new)
            if before != after:
                self._index(key, before, after)
            if not self._world.informer.of(BUDGETS) or _pod_fields(old) == _pod_fields(new):
                return
            changed = self._changed_labels.setdefault(namespace_of_key(key), LabelSets())
            for labels in (before, after):
                if labels is not None:
                    changed.add(labels)
        self._queue.add(CHANGED_BUDGETS)

    def _index(self, key: str, before: LabelSet | None, after: LabelSet | None) -> None:
        namespace = namespace_of_key(key)
        known = self._labels.setdefault(namespace, LabelSets())
        if before is not None:
            pods = self._by_labels[namespace, before]
            del pods[key]
            if not pods:
                del self._by_labels[namespace, before]
                known.remove(before)
        if after is not None:
            self._by_labels.setdefault((namespace, after), {})[key] = None
            known.add(after)

    def sync_object(self, item: ObjectKey) -> None:
        """Sync a budget that changed, or those that a pod that changed has or had (getPdbForPod)."""
        if item != CHANGED_BUDGETS:
            super().sync_object(item)
            return
        budgets, self._changed_budgets = self._changed_budgets, set()
        labels, self._changed_labels = self._changed_labels, {}
        for key in [*self._world.informer.of(BUDGETS)]:
            if key in budgets or self._matching(key, labels):
                self._queue.sync_now(ObjectKey(BUDGETS, key))

    def _matching(self, key: str, labels: Mapping[str, LabelSets]) -> list[LabelSet]:
        """Return those labels that the selector of a budget matches. labels: by namespace."""
        selector, there = self._selectors.get(key), labels.get(namespace_of_key(key))
        return [] if selector is None or there is None else there.matching(selector)

    def sync(self, key: str, manifest: Manifest) -> None:
        namespace = namespace_of_key(key)
        pods = [
            self._pods[pod]
            for labels in self._matching(key, self._labels)
            for pod in self._by_labels[namespace, labels]
        ]
        try:
            status = self._status(manifest, pods)
        except ScaleUnknown as error:
            problem = str(error)
            self.patch(BUDGETS, manifest, lambda budget: self._failed_safe(budget, problem))
        else:
            self.patch(BUDGETS, manifest, lambda budget: self._with_status(budget, status))

    def _status(self, budget: Manifest, matching: list[Pod]) -> PodDisruptionBudgetStatus:
        """Compute the status of a budget. ``matching`` are its pods. Raises ScaleUnknown.

        Without minAvailable and maxUnavailable no pods are expected, and no disruption is allowed
        (getExpectedPodCount)."""
        spec = budget.get("spec", {})
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


def _labels(pod: Manifest | None) -> LabelSet | None:
    return None if pod is None else label_set(labels_of(pod))


def _pod_fields(pod: Manifest | None) -> object:
    """Return the fields of a pod whose change makes a sync of the budgets in its namespace."""
    return None if pod is None else (is_active(pod) and is_ready(pod), labels_of(pod), controller_of(pod))

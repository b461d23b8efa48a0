"""The resource quota controller: sets the status of ResourceQuotas
(pkg/controller/resourcequota/resource_quota_controller.go and pkg/quota/v1/install/update_filter.go).

Simplified: upstream also computes all quotas again every five minutes. Here a change of a Service or claim
does what upstream leaves to that, and so does the time at which a pod that is being deleted is not charged
any more.
"""

from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver.amounts import Amounts
from simulator.apiserver.quota.evaluator import LEGACY_NAMES, QUOTAS, Evaluator
from simulator.apiserver.quota.pods import SPECIAL_EVALUATORS, evaluator_of, forgotten_at, is_charged
from simulator.apiserver.resource import CRDS
from simulator.controllers.controller import Controller, ControllerContext
from simulator.controllers.work_queue import ObjectKey
from simulator.objects.metadata import namespace_of_key
from simulator.objects.status import status_of, with_status

PODS: Final = "pods"
_COUNT: Final = "count/"
_CHANGING: Final = SPECIAL_EVALUATORS.keys() - {PODS}
"""Resources whose objects use another amount when their spec or status changes."""


class ResourceQuotaController(Controller):
    component = "ResourceQuota"
    resource = QUOTAS
    watches = ()

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._usages: dict[tuple[str, str], tuple[Manifest, bool, Amounts]] = {}
        """Object in a namespace with quotas -> its usage, with the version and, of a pod, whether it is
        charged: one entry for each that exists."""

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        quotas = self._world.informer.of(QUOTAS)
        if not quotas:
            self._usages.clear()
            return
        if new is None:
            self._usages.pop((resource, key), None)
        if resource == CRDS:
            for each in quotas:
                self.enqueue(each)
        elif resource == QUOTAS and new is not None and (old is None or _hard(old) != _hard(new)):
            self.enqueue(key)
        elif self._frees(resource, old, new):
            namespace = namespace_of_key(key)
            for each, quota in quotas.items():
                if namespace_of_key(each) == namespace and self._counts(quota, resource):
                    self.enqueue(each)

    def _frees(self, resource: str, old: Manifest | None, new: Manifest | None) -> bool:
        """Whether quotas are to be computed again. What is created was charged by admission."""
        if old is None or new is None:
            return old is not None
        if resource == PODS:
            now = self._world.now
            ended = is_charged(old, now) and not is_charged(new, now)
            return ended or forgotten_at(old) != forgotten_at(new) or _allocated(old) != _allocated(new)
        return resource in _CHANGING and (old.get("spec"), old.get("status")) != (
            new.get("spec"),
            new.get("status"),
        )

    def _counts(self, quota: Manifest, resource: str) -> bool:
        evaluator = self._evaluator(resource)
        return evaluator is not None and any(map(evaluator.charges, _hard(quota)))

    def _evaluator(self, resource: str) -> Evaluator | None:
        found = self._world.server.find_resource(resource)
        return None if found is None else evaluator_of(found)

    def sync(self, key: str, manifest: Manifest) -> None:
        """Compute what the spec limits, and what is used of it (syncResourceQuota). What cannot be counted
        keeps the number that it has."""
        hard = _hard(manifest)
        used = {**(status_of(manifest).get("used") or {}), **self._usage(key, manifest).texts()}
        used = {name: text for name, text in used.items() if name in hard}

        def with_usage(current: Manifest) -> Manifest:
            status = status_of(current)
            known = Amounts.of(status.get("used")).amounts
            if status.get("hard") == hard and "used" in status and known == Amounts.of(used).amounts:
                return current
            return with_status(current, hard=hard, used=used)

        self.patch(QUOTAS, manifest, with_usage)
        if PODS in self._counted(hard):
            self._plan(key)

    def _counted(self, hard: Manifest) -> dict[str, Evaluator]:
        """Return the resources that are counted for these names, with their evaluators."""
        found = {name: each for name, each in SPECIAL_EVALUATORS.items() if any(map(each.charges, hard))}
        for name in hard:
            resource = name if name in LEGACY_NAMES else name.removeprefix(_COUNT)
            if resource not in found and (name in LEGACY_NAMES or name.startswith(_COUNT)):
                evaluator = self._evaluator(resource)
                if evaluator is not None:
                    found[resource] = evaluator
        return found

    def _usage(self, key: str, quota: Manifest) -> Amounts:
        """Return the usage of a namespace (CalculateUsage)."""
        hard, namespace = _hard(quota), namespace_of_key(key)
        total = Amounts({}, {})
        for resource, evaluator in self._counted(hard).items():
            names = evaluator.matching(hard)
            sum_of = Amounts.counted(names, 0)
            for each, manifest in self._world.informer.of(resource).items():
                if namespace_of_key(each) == namespace and evaluator.in_scopes(quota, manifest):
                    sum_of.add(self._usage_of(evaluator, resource, each, manifest))
            total.add(sum_of.only(names))
        return total

    def _usage_of(self, evaluator: Evaluator, resource: str, key: str, manifest: Manifest) -> Amounts:
        charged = resource != PODS or is_charged(manifest, self._world.now)
        known = self._usages.get((resource, key))
        if known is not None and known[0] is manifest and known[1] == charged:
            return known[2]
        usage = evaluator.usage(manifest, self._world.now)
        self._usages[resource, key] = manifest, charged, usage
        return usage

    def _plan(self, key: str) -> None:
        """Compute the quota again when the next pod that is being deleted is not charged any more."""
        namespace = namespace_of_key(key)
        pods = [pod.manifest for pod in self._pods.values() if pod.namespace == namespace]
        times: list[Micros] = [time for pod in pods if (time := forgotten_at(pod)) is not None]
        coming = [time + 1 for time in times if time >= self._world.now]
        if coming:
            self._queue.add(ObjectKey(QUOTAS, key), min(coming))


def _hard(quota: Manifest) -> dict[str, str]:
    """Return the amounts that the quota's spec limits."""
    hard: dict[str, str] = (quota.get("spec") or {}).get("hard") or {}
    return hard


def _allocated(pod: Manifest) -> list[object]:
    return [each.get("allocatedResources") for each in status_of(pod).get("containerStatuses") or ()]

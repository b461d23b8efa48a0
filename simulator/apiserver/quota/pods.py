"""The usage of ResourceQuotas by pods; the evaluators of all resources.

Upstream: pkg/quota/v1/evaluator/core/pods.go and pkg/quota/v1/install/registry.go.
"""

from collections.abc import Collection, Iterator
from typing import Final

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.amounts import Amounts
from simulator.apiserver.kinds.pods.parts import affinity_terms
from simulator.apiserver.quota.evaluator import (
    ClaimEvaluator,
    DeviceClaimEvaluator,
    Evaluator,
    ServiceEvaluator,
    selects,
)
from simulator.apiserver.resource import Resource
from simulator.objects.events import EVENTS
from simulator.objects.metadata import is_terminating
from simulator.objects.pod_requests import (
    is_extended_resource,
    is_native_resource,
    pod_limits,
    pod_requests,
    qos_class,
    supported_at_pod_level,
)
from simulator.objects.status import FINISHED_PHASES, phase_of
from simulator.objects.timestamps import micros

_COMPUTED: Final = ("cpu", "memory", "ephemeral-storage")
_MUST_BE_STATED: Final = frozenset(
    f"{prefix}{name}" for prefix in ("", "requests.", "limits.") for name in ("cpu", "memory")
)
"""Names that each container must state where a quota has them (validationSet)."""
_NAMES: Final = frozenset(
    (
        "count/pods",
        "pods",
        *(f"{prefix}{name}" for prefix in ("", "requests.", "limits.") for name in _COMPUTED),
    )
)
_HUGE_PAGES: Final = "hugepages-"


class PodEvaluator(Evaluator):
    updates = frozenset(("resize",))

    def charges(self, name: str) -> bool:
        return (
            name in _NAMES
            or name.startswith((_HUGE_PAGES, f"requests.{_HUGE_PAGES}"))
            or (name.startswith("requests.") and not is_native_resource(name))
        )

    def usage(self, manifest: Manifest, now: Micros) -> Amounts:
        counted = Amounts.counted((self.count_name,))
        if not is_charged(manifest, now):
            return counted
        stated = [*_stated(manifest["spec"])]
        requests = Amounts.sum_of(
            pod_requests(manifest, use_status=True), [each.get("requests") or {} for each in stated]
        )
        limits = Amounts.sum_of(pod_limits(manifest), [each.get("limits") or {} for each in stated])
        return counted.plus(Amounts.counted(("pods",))).plus(_named(requests, limits))

    def missing(self, manifest: Manifest, names: Collection[str]) -> str:
        spec = manifest["spec"]
        if _has_pod_level_resources(spec):
            return ""
        needed = _MUST_BE_STATED.intersection(names)
        lacking: dict[str, set[str]] = {}
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            stated = container.get("resources") or {}
            given = _named(Amounts.of(stated.get("requests")), Amounts.of(stated.get("limits"))).amounts
            for name in needed - given.keys():
                lacking.setdefault(name, set()).add(container["name"])
        texts = [
            f"{name} for: {','.join(sorted(containers))}" for name, containers in sorted(lacking.items())
        ]
        return f"must specify {'; '.join(texts)}" if texts else ""

    def in_scope(self, selector: Manifest, manifest: Manifest) -> bool:
        spec = manifest["spec"]
        match selector["scopeName"]:
            case "Terminating":
                return spec.get("activeDeadlineSeconds") is not None
            case "NotTerminating":
                return spec.get("activeDeadlineSeconds") is None
            case "BestEffort":
                return qos_class(manifest) == "BestEffort"
            case "NotBestEffort":
                return qos_class(manifest) != "BestEffort"
            case "PriorityClass":
                name = spec.get("priorityClassName")
                return selects(selector, [name] if name else [])
            case "CrossNamespacePodAffinity":
                return _crosses_namespaces(spec)
        return False


def is_charged(pod: Manifest, now: Micros) -> bool:
    """Whether the pod counts with more than its object: it has not ended, nor been deleted longer ago than
    its grace period (QuotaV1Pod)."""
    if phase_of(pod) in FINISHED_PHASES:
        return False
    due = forgotten_at(pod)
    return due is None or now <= due


def forgotten_at(pod: Manifest) -> Micros | None:
    """Return the time after which a pod that is being deleted is not charged any more; None for any other
    pod."""
    seconds = pod["metadata"].get("deletionGracePeriodSeconds")
    if not is_terminating(pod) or seconds is None:
        return None
    since: Micros = micros(pod["metadata"]["deletionTimestamp"])
    return since + int(seconds) * SECOND


def _stated(spec: Manifest) -> Iterator[Manifest]:
    """Yield the ``resources`` that the pod and its containers state."""
    yield spec.get("resources") or {}
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            yield container.get("resources") or {}
    yield {"requests": spec.get("overhead") or {}}


def _named(requests: Amounts, limits: Amounts) -> Amounts:
    """Return requests and limits by the names that quotas have for them (podComputeUsageHelper)."""
    result = Amounts({}, {})

    def add(name: str, source: Amounts, resource: str) -> None:
        result.amounts[name], result.formats[name] = source.amounts[resource], source.formats[resource]

    for name in requests.amounts:
        if name in _COMPUTED or name.startswith(_HUGE_PAGES):
            add(name, requests, name)
            add(f"requests.{name}", requests, name)
        elif is_extended_resource(name):
            add(f"requests.{name}", requests, name)
    for name in limits.amounts:
        if name in _COMPUTED:
            add(f"limits.{name}", limits, name)
    return result


def _has_pod_level_resources(spec: Manifest) -> bool:
    """Whether the pod has resources of its own (IsPodLevelResourcesSet)."""
    stated = spec.get("resources") or {}
    return any(
        supported_at_pod_level(name) for field in ("requests", "limits") for name in stated.get(field) or ()
    )


def _crosses_namespaces(spec: Manifest) -> bool:
    """Whether a term of the pod's affinity is about other namespaces (usesCrossNamespacePodAffinity)."""
    return any(
        term.get("namespaces") or term.get("namespaceSelector") is not None
        for term, _ in affinity_terms(spec, "")
    )


_SPECIAL: Final[dict[str, type[Evaluator]]] = {
    "pods": PodEvaluator,
    "services": ServiceEvaluator,
    "persistentvolumeclaims": ClaimEvaluator,
    "resourceclaims.resource.k8s.io": DeviceClaimEvaluator,
}
SPECIAL_EVALUATORS: Final = {name: kind(name) for name, kind in _SPECIAL.items()}
"""The evaluators of resources whose objects use more than their count."""


def evaluator_of(resource: Resource) -> Evaluator | None:
    """Return the evaluator of a resource; None if its objects are not counted: cluster-scoped ones, and
    Events (ignoredResources)."""
    if not resource.namespaced or resource.id == EVENTS:
        return None
    return SPECIAL_EVALUATORS.get(resource.id) or Evaluator(resource.id)

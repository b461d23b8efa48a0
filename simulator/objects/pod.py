"""The scheduler's view of pods, parsed from manifests. A pod is parsed once per resourceVersion;
immutable."""

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property
from hashlib import blake2b
from math import inf
from typing import Any, Final, NamedTuple

from simulator.api import Manifest
from simulator.objects import pod_requests
from simulator.objects.conditions import is_condition_true
from simulator.objects.labels import Labels, Selector, label_selector, set_selector
from simulator.objects.node_selector import NodeSelector, PreferredTerm, node_selector, preferred_terms
from simulator.objects.numbers import decimal_int64
from simulator.objects.pod_group import group_key_of
from simulator.objects.spec_fields import find_spec_fields, spec_field
from simulator.objects.status import FINISHED_PHASES

FAIL_AT: Final = "schedviz/fail-at"
"""Annotation of schedviz: the pod's next scheduling cycle fails at this extension point."""
GRACE_SECONDS: Final = 30
"""The default of terminationGracePeriodSeconds (DefaultTerminationGracePeriodSeconds)."""
SYSTEM_CRITICAL_PRIORITY: Final = 2_000_000_000
"""The priority from which a pod is critical for its cluster (SystemCriticalPriority)."""


class Toleration(NamedTuple):
    key: str
    operator: str
    value: str
    effect: str

    def tolerates(self, key: str, value: str, effect: str, compares: bool = False) -> bool:
        """Return whether the toleration tolerates a taint (ToleratesTaint in
        staging/src/k8s.io/component-helpers/scheduling/corev1/helpers.go). ``compares``: whether the
        operators Gt and Lt compare numbers; otherwise they never match."""
        if (self.effect and self.effect != effect) or (self.key and self.key != key):
            return False
        if self.operator in ("Gt", "Lt"):
            return compares and self._compares(value)
        return self.operator == "Exists" or (self.operator in ("", "Equal") and self.value == value)

    def _compares(self, value: str) -> bool:
        """Return whether a taint's value is greater (Gt) or less (Lt) than the toleration's."""
        theirs, own = decimal_int64(value), decimal_int64(self.value)
        if theirs is None or own is None:
            return False
        return theirs > own if self.operator == "Gt" else theirs < own


class HostPort(NamedTuple):
    """A requested host port; ``ip`` defaults to 0.0.0.0 and ``protocol`` to TCP."""

    ip: str
    protocol: str
    port: int


class AffinityTerm(NamedTuple):
    """A parsed pod (anti-)affinity term (fwk.AffinityTerm).

    The API server merges ``matchLabelKeys`` and ``mismatchLabelKeys`` into the selector; the scheduler does
    not read them. A selector of None matches nothing.
    """

    namespaces: frozenset[str]
    selector: Selector | None
    topology_key: str
    namespace_selector: Selector | None

    def matches(self, pod: "Pod", namespace_labels: Labels) -> bool:
        if pod.namespace not in self.namespaces and not (
            self.namespace_selector is not None and self.namespace_selector.matches(namespace_labels)
        ):
            return False
        return self.selector is not None and self.selector.matches(pod.labels)


class WeightedAffinityTerm(NamedTuple):
    weight: int
    term: AffinityTerm


class Affinity(NamedTuple):
    """The inter-pod affinity and anti-affinity terms of one pod."""

    required: tuple[AffinityTerm, ...]
    preferred: tuple[WeightedAffinityTerm, ...]
    required_anti: tuple[AffinityTerm, ...]
    preferred_anti: tuple[WeightedAffinityTerm, ...]


NO_AFFINITY = Affinity((), (), (), ())

Amounts = tuple[dict[str, int], tuple[int, int]]
"""``requests`` and ``non_zero`` of a pod."""


class Pod:
    """A pod's manifest with the parsed fields that the scheduler uses.

    ``requests`` maps a resource to its amount (cpu in millicores, all others in units), for the resources
    that the scheduler counts. ``non_zero`` is (milli cpu, memory bytes) with defaults for containers without
    requests; it is used in scoring only. ``start_time`` is a time in RFC 3339, "" before the kubelet has
    started the pod.
    """

    def __init__(self, manifest: Manifest) -> None:
        metadata: Manifest = manifest["metadata"]
        spec: Manifest = manifest["spec"]
        status: Manifest = manifest.get("status") or {}
        self.manifest = manifest
        self.spec = spec
        self.namespace: str = metadata.get("namespace") or "default"
        self.name: str = metadata["name"]
        self.key = f"{self.namespace}/{self.name}"
        self.uid: str = metadata.get("uid", "")
        self.resource_version = int(metadata.get("resourceVersion") or 0)
        self.labels: dict[str, str] = metadata.get("labels") or {}
        self.terminating = bool(metadata.get("deletionTimestamp"))
        self.priority: int = spec.get("priority") or 0
        self.scheduler_name: str = spec.get("schedulerName") or "default-scheduler"
        self.node_name: str = spec.get("nodeName") or ""
        self.nominated_node_name: str = status.get("nominatedNodeName") or ""
        self.phase: str = status.get("phase") or "Pending"
        self.start_time: str = status.get("startTime") or ""
        self.pod_group = group_key_of(manifest)
        """The key of the PodGroup in spec.schedulingGroup; "" = the pod is in no group."""
        self.preemption_policy: str = spec.get("preemptionPolicy") or "PreemptLowerPriority"
        self.spec_fields = find_spec_fields(self.namespace, spec)
        if pod_requests.status_counts(status):
            self.requests, self.non_zero = _amounts(manifest)
        else:
            self.requests, self.non_zero = self._spec_amounts
            self.own_requests = self.requests
        self.host_ports = self._host_ports

    @classmethod
    def parse(cls, manifest: Manifest) -> "Pod":
        """Parse a manifest. Raises QuantityError, KeyError or TypeError for one that admission would
        refuse."""
        return cls(manifest)

    def __repr__(self) -> str:
        return f"Pod({self.key!r})"

    def assumed(self, node_name: str) -> "Pod":
        """Return a copy of the pod that is bound to a node. Parsed fields are shared."""
        copied = Pod.__new__(Pod)
        copied.__dict__.update(self.__dict__)
        copied.node_name = node_name
        copied.spec = {**self.spec, "nodeName": node_name}
        copied.manifest = {**self.manifest, "spec": copied.spec}
        return copied

    @spec_field
    def _spec_amounts(self) -> Amounts:
        return _amounts(self.manifest)

    @spec_field
    def _host_ports(self) -> tuple[HostPort, ...]:
        """The host ports of main containers and sidecars. Those of other init containers do not count."""
        containers = [
            *(self.spec.get("containers") or ()),
            *(c for c in self.spec.get("initContainers") or () if pod_requests.is_sidecar(c)),
        ]
        return tuple(
            HostPort(port.get("hostIP") or "0.0.0.0", port.get("protocol") or "TCP", port["hostPort"])  # noqa: S104 - the API's notation for "any address"
            for container in containers
            for port in container.get("ports") or ()
            if port.get("hostPort")
        )

    @property
    def finished(self) -> bool:
        """Whether the pod has terminated. The scheduler ignores such pods, even if they have a node."""
        return self.phase in FINISHED_PHASES

    @cached_property
    def healthy(self) -> bool:
        """Whether it is ready and neither finished nor terminating."""
        return not self.finished and not self.terminating and is_condition_true(self.manifest, "Ready")

    @cached_property
    def start_seconds(self) -> float:
        """The value of status.startTime in seconds since the Unix epoch; infinity for a pod without one,
        because upstream uses the current time for it (GetPodStartTime)."""
        return datetime.fromisoformat(self.start_time).timestamp() if self.start_time else inf

    @cached_property
    def lot(self) -> int:
        """A number computed from the name. It orders pods of equal importance, whose order is not defined
        upstream."""
        return int.from_bytes(blake2b(self.key.encode(), digest_size=8).digest()) >> 1

    @spec_field
    def scheduling_gates(self) -> tuple[str, ...]:
        return tuple(gate["name"] for gate in self.spec.get("schedulingGates") or ())

    @spec_field
    def tolerations(self) -> tuple[Toleration, ...]:
        return tuple(
            Toleration(
                t.get("key") or "", t.get("operator") or "", t.get("value") or "", t.get("effect") or ""
            )
            for t in self.spec.get("tolerations") or ()
        )

    @spec_field
    def node_selector(self) -> Selector | None:
        """The value of spec.nodeSelector; None if it is missing or empty."""
        labels = self.spec.get("nodeSelector")
        return set_selector(labels) if labels else None

    @spec_field
    def node_affinity(self) -> NodeSelector | None:
        """Required node affinity; None if there is none, () if it has no terms."""
        return node_selector(self._node_affinity.get("requiredDuringSchedulingIgnoredDuringExecution"))

    @spec_field
    def preferred_node_affinity(self) -> tuple[PreferredTerm, ...]:
        return preferred_terms(self._node_affinity.get("preferredDuringSchedulingIgnoredDuringExecution"))

    @property
    def _node_affinity(self) -> Mapping[str, Any]:
        return (self.spec.get("affinity") or {}).get("nodeAffinity") or {}

    @spec_field
    def affinity(self) -> Affinity:
        """The inter-pod affinity and anti-affinity of the pod."""
        stated = self.spec.get("affinity")
        if not stated or not (stated.get("podAffinity") or stated.get("podAntiAffinity")):
            return NO_AFFINITY
        together, apart = stated.get("podAffinity") or {}, stated.get("podAntiAffinity") or {}
        return Affinity(
            self._required(together), self._preferred(together), self._required(apart), self._preferred(apart)
        )

    def _required(self, affinity: Mapping[str, Any]) -> tuple[AffinityTerm, ...]:
        terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ()
        return tuple(self._term(term) for term in terms)

    def _preferred(self, affinity: Mapping[str, Any]) -> tuple[WeightedAffinityTerm, ...]:
        terms = affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()
        return tuple(WeightedAffinityTerm(t["weight"], self._term(t["podAffinityTerm"])) for t in terms)

    def _term(self, manifest: Mapping[str, Any]) -> AffinityTerm:
        namespaces = manifest.get("namespaces") or ()
        if not namespaces and manifest.get("namespaceSelector") is None:
            namespaces = (self.namespace,)
        return AffinityTerm(
            frozenset(namespaces),
            label_selector(manifest.get("labelSelector")),
            manifest["topologyKey"],
            label_selector(manifest.get("namespaceSelector")),
        )

    @cached_property
    def own_requests(self) -> dict[str, int]:
        """The requests of a pod that is not yet bound, for filter plugins: without its status."""
        manifest = self.manifest
        if not (pod_requests.statuses_with_resources(manifest) or pod_requests.claims_of_nodes(manifest)):
            return self.requests
        return pod_requests.to_amounts(pod_requests.pod_requests(self.manifest, use_status=False))

    @spec_field
    def scored_requests(self) -> dict[str, int]:
        """The requests of a pod that is not yet bound, as NodeResourcesFit scores them: with defaults for
        containers without a request for cpu or memory, and without pod-level requests
        (calculatePodResourceRequest in plugins/noderesources/resource_allocation.go; NewFit does not enable
        pod-level resources in its scorer)."""
        exact = pod_requests.pod_requests(
            self.manifest, use_status=False, missing=pod_requests.DEFAULT_REQUESTS, pod_level=False
        )
        return {name: pod_requests.to_amount(name, nanos) for name, nanos in exact.items()}

    @spec_field
    def images(self) -> tuple[str, ...]:
        """The images of init and main containers, with a tag."""
        containers = [*(self.spec.get("initContainers") or ()), *(self.spec.get("containers") or ())]
        return tuple(normalized_image_name(container.get("image") or "") for container in containers)

    @spec_field
    def image_volumes(self) -> tuple[str, ...]:
        """The images of volumes, with a tag."""
        volumes = (volume.get("image") for volume in self.spec.get("volumes") or ())
        return tuple(
            normalized_image_name(each.get("reference") or "") for each in volumes if each is not None
        )


def normalized_image_name(image: str) -> str:
    """Append the tag ``latest`` to an image without tag or digest (normalizedImageName)."""
    return image if image.rfind(":") > image.rfind("/") else image + ":latest"


def _amounts(manifest: Manifest) -> Amounts:
    exact = pod_requests.pod_requests(manifest, use_status=True)
    return pod_requests.to_amounts(exact), pod_requests.non_zero_requests(manifest, exact)

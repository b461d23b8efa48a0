"""The scheduler's view of nodes, parsed from manifests."""

from typing import NamedTuple

from simulator.api import Manifest
from simulator.objects import pod_requests

ZONE = "topology.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
ZONE_BETA = "failure-domain.beta.kubernetes.io/zone"
REGION_BETA = "failure-domain.beta.kubernetes.io/region"


class Taint(NamedTuple):
    key: str
    value: str
    effect: str


def format_taint(key: str, value: str, effect: str) -> str:
    """Return a taint of a node or a device in the notation of ``kubectl taint``: ``broken=yes:NoExecute``."""
    return f"{key}={value}:{effect}" if value else f"{key}:{effect}"


class Image(NamedTuple):
    names: tuple[str, ...]
    size: int
    """The size in bytes."""


class Node:
    """A node's manifest with the parsed fields that the scheduler uses. Immutable.

    ``allocatable`` maps a resource to its amount (cpu in millicores, all others in units); ``allowed_pods``
    is the amount of the resource ``pods``.
    """

    def __init__(self, manifest: Manifest) -> None:
        metadata: Manifest = manifest["metadata"]
        spec: Manifest = manifest.get("spec") or {}
        status: Manifest = manifest.get("status") or {}
        self.manifest = manifest
        self.name: str = metadata["name"]
        self.labels: dict[str, str] = metadata.get("labels") or {}
        self.annotations: dict[str, str] = metadata.get("annotations") or {}
        self.unschedulable = bool(spec.get("unschedulable"))
        self.taints = tuple(
            Taint(t["key"], t.get("value") or "", t["effect"]) for t in spec.get("taints") or ()
        )
        exact = pod_requests.parse_resource_list(status.get("allocatable"))
        self.allocatable = pod_requests.to_amounts(exact)
        self.allowed_pods = pod_requests.to_amount(pod_requests.PODS, exact.get(pod_requests.PODS, 0))
        self.images = tuple(
            Image(tuple(i.get("names") or ()), int(i.get("sizeBytes") or 0))
            for i in status.get("images") or ()
        )

    @classmethod
    def parse(cls, manifest: Manifest) -> "Node":
        """Parse a manifest. Raises QuantityError, KeyError or TypeError for one that admission would
        refuse."""
        return cls(manifest)

    def __repr__(self) -> str:
        return f"Node({self.name!r})"

    @property
    def zone(self) -> str:
        """Region and zone as one key, "" if the node has neither (GetZoneKey in
        staging/src/k8s.io/component-helpers/node/topology/helpers.go). The scheduler lists nodes zone by
        zone."""
        region = self.labels.get(REGION_BETA, self.labels.get(REGION, ""))
        zone = self.labels.get(ZONE_BETA, self.labels.get(ZONE, ""))
        # With the NUL, as upstream, the keys of ("a", "bc") and ("ab", "c") differ.
        return f"{region}:\0:{zone}" if region or zone else ""

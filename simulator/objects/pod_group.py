"""The scheduler's view of PodGroups (staging/src/k8s.io/api/scheduling/v1alpha2/types.go), parsed from
manifests; immutable."""

from simulator.api import Manifest

POD_GROUPS = "podgroups.scheduling.k8s.io"
WORKLOADS = "workloads.scheduling.k8s.io"
SCHEDULED = "PodGroupScheduled"
"""The type of the condition that the scheduler sets."""
POD_GROUP_PROTECTION = "scheduling.k8s.io/podgroup-protection"
"""The finalizer by which a PodGroup is kept while it has pods that are not over."""


def group_key_of(pod: Manifest) -> str:
    """Return the key of the PodGroup in a pod's spec.schedulingGroup; "" = the pod is in no group."""
    group = pod["spec"].get("schedulingGroup")  # anything, where the version does not have the field
    name = group.get("podGroupName") if isinstance(group, dict) else None
    return f"{pod['metadata'].get('namespace') or 'default'}/{name}" if name else ""


class PodGroup:
    """A PodGroup's manifest with the parsed fields that the scheduler uses. ``key`` is ``namespace/name``."""

    def __init__(self, manifest: Manifest) -> None:
        metadata: Manifest = manifest["metadata"]
        spec: Manifest = manifest.get("spec") or {}
        self.manifest = manifest
        self.namespace: str = metadata.get("namespace") or "default"
        self.name: str = metadata["name"]
        self.key = f"{self.namespace}/{self.name}"
        self.uid: str = metadata.get("uid", "")
        self.generation: int = metadata.get("generation") or 0
        gang: Manifest | None = (spec.get("schedulingPolicy") or {}).get("gang")
        self.min_count: int | None = gang["minCount"] if gang is not None else None
        """The number of pods that must have a node before any is bound; None for the policy ``basic``."""
        constraints: Manifest | None = spec.get("schedulingConstraints")
        self.has_constraints = constraints is not None
        topology = (constraints or {}).get("topology") or ()
        self.topology_key: str = topology[0]["key"] if topology else ""
        """The label whose value all nodes of the group share; "" = there is no such constraint."""
        self.disrupted_as_one: bool = spec.get("disruptionMode") == "PodGroup"
        """Whether its pods are preempted together, and not one by one."""
        self.priority: int = spec.get("priority") or 0

"""Cluster events: changes of objects that can make a rejected pod schedulable
(staging/src/k8s.io/kube-scheduler/framework/types.go and pkg/scheduler/framework/{types,events}.go).
"""

from enum import IntFlag
from typing import Any, Final, NamedTuple

from simulator.objects.node import Node
from simulator.objects.pod import Pod


class ActionType(IntFlag):
    """The kind of change of an object. :meth:`ClusterEvent.matches` depends on the order of the values."""

    ADD = 1 << 0
    DELETE = 1 << 1
    UPDATE_NODE_ALLOCATABLE = 1 << 2
    UPDATE_NODE_LABEL = 1 << 3
    UPDATE_NODE_TAINT = 1 << 4
    UPDATE_NODE_CONDITION = 1 << 5
    UPDATE_NODE_ANNOTATION = 1 << 6
    UPDATE_NODE_DECLARED_FEATURE = 1 << 7
    UPDATE_POD_LABEL = 1 << 8
    UPDATE_POD_SCALE_DOWN = 1 << 9
    UPDATE_POD_TOLERATION = 1 << 10
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1 << 11
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 1 << 12
    UPDATE_OTHER = 1 << 13
    UPDATE = (1 << 14) - (1 << 2)
    ALL = (1 << 14) - 1


_LABELS: Final = {
    ActionType.ADD: "Add",
    ActionType.DELETE: "Delete",
    ActionType.UPDATE_NODE_ALLOCATABLE: "UpdateNodeAllocatable",
    ActionType.UPDATE_NODE_LABEL: "UpdateNodeLabel",
    ActionType.UPDATE_NODE_TAINT: "UpdateNodeTaint",
    ActionType.UPDATE_NODE_CONDITION: "UpdateNodeCondition",
    ActionType.UPDATE_NODE_ANNOTATION: "UpdateNodeAnnotation",
    ActionType.UPDATE_NODE_DECLARED_FEATURE: "UpdateNodeDeclaredFeature",
    ActionType.UPDATE_POD_LABEL: "UpdatePodLabel",
    ActionType.UPDATE_POD_SCALE_DOWN: "UpdatePodScaleDown",
    ActionType.UPDATE_POD_TOLERATION: "UpdatePodToleration",
    ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED: "UpdatePodSchedulingGatesEliminated",
    ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM: "UpdatePodGeneratedResourceClaim",
    ActionType.UPDATE: "Update",
}

# The resources, with their names in upstream's event labels.
POD = "Pod"
ASSIGNED_POD = "AssignedPod"
UNSCHEDULABLE_POD = "UnschedulablePod"
NODE = "Node"
PERSISTENT_VOLUME = "PersistentVolume"
PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
CSI_NODE = "storage.k8s.io/CSINode"
CSI_DRIVER = "storage.k8s.io/CSIDriver"
CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
STORAGE_CLASS = "storage.k8s.io/StorageClass"
VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
DEVICE_CLASS = "resource.k8s.io/DeviceClass"
POD_GROUP = "scheduling.k8s.io/PodGroup"
WILDCARD = "*"

ALL_RESOURCES: Final = (
    POD,
    NODE,
    PERSISTENT_VOLUME,
    PERSISTENT_VOLUME_CLAIM,
    CSI_NODE,
    CSI_DRIVER,
    CSI_STORAGE_CAPACITY,
    STORAGE_CLASS,
    VOLUME_ATTACHMENT,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    DEVICE_CLASS,
    POD_GROUP,
)

EVENT_RESOURCES: Final = {
    "persistentvolumes": PERSISTENT_VOLUME,
    "persistentvolumeclaims": PERSISTENT_VOLUME_CLAIM,
    "csinodes.storage.k8s.io": CSI_NODE,
    "csidrivers.storage.k8s.io": CSI_DRIVER,
    "csistoragecapacities.storage.k8s.io": CSI_STORAGE_CAPACITY,
    "storageclasses.storage.k8s.io": STORAGE_CLASS,
    "volumeattachments.storage.k8s.io": VOLUME_ATTACHMENT,
    "resourceclaims.resource.k8s.io": RESOURCE_CLAIM,
    "resourceslices.resource.k8s.io": RESOURCE_SLICE,
    "deviceclasses.resource.k8s.io": DEVICE_CLASS,
    "podgroups.scheduling.k8s.io": POD_GROUP,
}
"""The resources except pods and nodes that have cluster events, by their name in the API."""


class ClusterEvent(NamedTuple):
    """A change of a resource. Plugins register for such events, and incoming events have the same type."""

    resource: str
    action: ActionType
    custom_label: str = ""

    @property
    def label(self) -> str:
        return self.custom_label or f"{self.resource}{_LABELS[self.action]}"

    @property
    def wildcard(self) -> bool:
        """Whether the event concerns a pod whichever plugin rejected it (IsWildCard)."""
        return self.resource == WILDCARD and self.action == ActionType.ALL

    def matches(self, incoming: "ClusterEvent") -> bool:
        """Whether a plugin that registered this event is called for the incoming event (MatchClusterEvents).

        An incoming UPDATE, which has the bits of all updates, does not match a registration of only some.
        """
        if self.wildcard:
            return True
        same = self.resource == incoming.resource or (
            self.resource == POD and incoming.resource in (ASSIGNED_POD, UNSCHEDULABLE_POD)
        )
        return same and bool(self.action & incoming.action) and incoming.action <= self.action


ASSIGNED_POD_ADD = ClusterEvent(ASSIGNED_POD, ActionType.ADD)
ASSIGNED_POD_DELETE = ClusterEvent(ASSIGNED_POD, ActionType.DELETE)
UNSCHEDULED_POD_ADD = ClusterEvent(UNSCHEDULABLE_POD, ActionType.ADD)
UNSCHEDULED_POD_UPDATE = ClusterEvent(UNSCHEDULABLE_POD, ActionType.UPDATE)
UNSCHEDULED_POD_DELETE = ClusterEvent(UNSCHEDULABLE_POD, ActionType.DELETE)
NODE_ADD = ClusterEvent(NODE, ActionType.ADD)
NODE_DELETE = ClusterEvent(NODE, ActionType.DELETE)
UNSCHEDULABLE_TIMEOUT = ClusterEvent(WILDCARD, ActionType.ALL, "UnschedulableTimeout")
FORCE_ACTIVATE = ClusterEvent(WILDCARD, ActionType.ALL, "ForceActivate")

# Reasons of moves in the scheduling queue that are not cluster events.
SCHEDULE_ATTEMPT_FAILURE = "ScheduleAttemptFailure"
BACKOFF_COMPLETE = "BackoffComplete"
POP_FROM_BACKOFF_Q = "PopFromBackoffQ"
POP_SPECIFIC_POD = "PopSpecificPod"
QUEUE_RESTORED = "QueueRestored"
"""Not upstream: a scheduler continues the queue of an earlier one (SchedulingQueue.restore)."""


def pod_scheduling_properties_change(new: Pod, old: Pod | None) -> list[ClusterEvent]:
    """Return the cluster events of a pod's update; a single event with action UPDATE if no property that has
    an event of its own changed (PodSchedulingPropertiesChange)."""
    resource = ASSIGNED_POD if new.node_name else UNSCHEDULABLE_POD
    actions: list[ActionType] = []
    if old is not None:
        if new.labels != old.labels:
            actions.append(ActionType.UPDATE_POD_LABEL)
        if scaled_down(new, old):
            actions.append(ActionType.UPDATE_POD_SCALE_DOWN)
        if old.scheduling_gates and not new.scheduling_gates:
            actions.append(ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        # The API server only allows tolerations to be added, so a change always changes their number.
        if len(new.tolerations) != len(old.tolerations):
            actions.append(ActionType.UPDATE_POD_TOLERATION)
        if _claim_statuses(new) != _claim_statuses(old):
            actions.append(ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM)
    return [ClusterEvent(resource, action) for action in actions or [ActionType.UPDATE]]


def scaled_down(new: Pod, old: Pod) -> bool:
    """Whether the pod requests less of a resource than before."""
    return any(
        name not in new.requests or amount > new.requests[name] for name, amount in old.requests.items()
    )


def _claim_statuses(pod: Pod) -> tuple[dict[str, str | None], Any]:
    status = pod.manifest.get("status") or {}
    claims = {s["name"]: s.get("resourceClaimName") for s in status.get("resourceClaimStatuses") or ()}
    return claims, status.get("extendedResourceClaimStatus")


def node_scheduling_properties_change(new: Node, old: Node) -> list[ClusterEvent]:
    """Return the cluster events of a node's update; an empty list if no property that matters to scheduling
    changed (NodeSchedulingPropertiesChange)."""
    actions: list[ActionType] = []
    # Uncordoning counts as the removal of a taint. Cordoning makes no pod schedulable.
    if old.unschedulable and not new.unschedulable:
        actions.append(ActionType.UPDATE_NODE_TAINT)
    if (new.allocatable, new.allowed_pods) != (old.allocatable, old.allowed_pods):
        actions.append(ActionType.UPDATE_NODE_ALLOCATABLE)
    if new.labels != old.labels:
        actions.append(ActionType.UPDATE_NODE_LABEL)
    if new.taints != old.taints:
        actions.append(ActionType.UPDATE_NODE_TAINT)
    if _conditions(new) != _conditions(old):
        actions.append(ActionType.UPDATE_NODE_CONDITION)
    if new.annotations != old.annotations:
        actions.append(ActionType.UPDATE_NODE_ANNOTATION)
    if _declared_features(new) != _declared_features(old):
        actions.append(ActionType.UPDATE_NODE_DECLARED_FEATURE)
    return [ClusterEvent(NODE, action) for action in actions]


def _declared_features(node: Node) -> list[str]:
    return (node.manifest.get("status") or {}).get("declaredFeatures") or []


def _conditions(node: Node) -> dict[str, str]:
    status = node.manifest.get("status") or {}
    return {c["type"]: c["status"] for c in status.get("conditions") or ()}

"""DynamicResources (pkg/scheduler/framework/plugins/dynamicresources/dynamicresources.go, v1.34).

The plugin's verdicts about devices are not simulated; it holds back pods whose claims do not exist.
"""

from collections.abc import Callable, Iterator
from typing import Any

from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.objects.pod import Pod
from simulator.queueing.cluster_event import (
    DEVICE_CLASS,
    NODE,
    POD,
    RESOURCE_CLAIM,
    RESOURCE_SLICE,
    ActionType,
)
from simulator.queueing.hint import Registered, register, same_namespace


def events_to_register(args: Any, cluster: Cluster) -> list[Registered]:
    add_or_update = ActionType.ADD | ActionType.UPDATE
    nodes = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
    return [
        register(NODE, nodes),
        register(RESOURCE_CLAIM, add_or_update, claim_changed),
        register(POD, ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM, claim_generated),
        register(DEVICE_CLASS, add_or_update),
        register(RESOURCE_SLICE, add_or_update),
    ]


def claim_generated(pod: Pod, old: Pod, new: Pod) -> bool:
    return new.uid == pod.uid and None not in claim_names(new)


def claim_changed(pod: Pod, old: Manifest | None, new: Manifest) -> bool:
    """Queue when a claim of the pod has come, or is allocated otherwise than before."""
    if not same_namespace(pod, new) or new["metadata"]["name"] not in set(claim_names(pod)):
        return False
    return old is None or old.get("status") != new.get("status")


def claim_names(pod: Pod) -> Iterator[str | None]:
    """The claims of the pod; None stands for one that is still to be made from its template."""
    status = pod.manifest.get("status") or {}
    made = {s["name"]: s.get("resourceClaimName") or "" for s in status.get("resourceClaimStatuses") or ()}
    for claim in pod.spec.get("resourceClaims") or ():
        if claim.get("resourceClaimName"):
            yield claim["resourceClaimName"]
        elif made.get(claim["name"]) != "":  # An empty name says that no claim is needed.
            yield made.get(claim["name"])


def claims_exist(pod: Pod, exists: Callable[[str], bool]) -> bool:
    """Whether all claims are there; ``exists`` is asked by ``namespace/name``."""
    return all(name is not None and exists(f"{pod.namespace}/{name}") for name in claim_names(pod))

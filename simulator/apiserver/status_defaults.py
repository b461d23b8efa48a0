"""The parts of a status that are never missing: what Go's encoder writes of an empty one, and the phase in
which an object begins (types.go and defaults.go of the API groups, v1.34)."""

import copy
from typing import Any

from simulator.api import Manifest
from simulator.apiserver.zero_values import DROPPED_INTEGERS

_NODE_INFO = (
    "machineID",
    "systemUUID",
    "bootID",
    "kernelVersion",
    "osImage",
    "containerRuntimeVersion",
    "kubeletVersion",
    "kubeProxyVersion",
    "operatingSystem",
    "architecture",
)

_STATUS: dict[str, dict[str, Any]] = {
    "apiservices.apiregistration.k8s.io": {},
    "certificatesigningrequests.certificates.k8s.io": {},
    "cronjobs.batch": {},
    "customresourcedefinitions.apiextensions.k8s.io": {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
    },
    "daemonsets.apps": {
        "currentNumberScheduled": 0,
        "numberMisscheduled": 0,
        "desiredNumberScheduled": 0,
        "numberReady": 0,
    },
    "deployments.apps": {},
    "flowschemas.flowcontrol.apiserver.k8s.io": {},
    "horizontalpodautoscalers.autoscaling": {"desiredReplicas": 0, "currentMetrics": None},
    "ingresses.networking.k8s.io": {"loadBalancer": {}},
    "jobs.batch": {},
    "namespaces": {"phase": "Active"},
    "nodes": {
        "daemonEndpoints": {"kubeletEndpoint": {"Port": 0}},
        "nodeInfo": dict.fromkeys(_NODE_INFO, ""),
    },
    "persistentvolumeclaims": {"phase": "Pending"},
    "persistentvolumes": {"phase": "Pending"},
    "poddisruptionbudgets.policy": {
        "disruptionsAllowed": 0,
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "expectedPods": 0,
    },
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": {},
    "replicasets.apps": {"replicas": 0},
    "replicationcontrollers": {"replicas": 0},
    "resourceclaims.resource.k8s.io": {},
    "resourcequotas": {},
    "services": {"loadBalancer": {}},
    "statefulsets.apps": {"replicas": 0, "availableReplicas": 0},
    "validatingadmissionpolicies.admissionregistration.k8s.io": {},
    "volumeattachments.storage.k8s.io": {"attached": False},
}
"""Resource -> the status of a new object. Pods, whose status is made in their admission, are not here."""


def omits_zero(resource: str, field: str) -> bool:
    """Whether Go's encoder leaves a count of 0 out of the status of a resource."""
    return field in DROPPED_INTEGERS and field not in _STATUS.get(resource, {})


_CONDITION_TIMES: dict[str, tuple[str, ...]] = {
    "apiservices.apiregistration.k8s.io": ("lastTransitionTime",),
    "certificatesigningrequests.certificates.k8s.io": ("lastUpdateTime", "lastTransitionTime"),
    "customresourcedefinitions.apiextensions.k8s.io": ("lastTransitionTime",),
    "daemonsets.apps": ("lastTransitionTime",),
    "deployments.apps": ("lastUpdateTime", "lastTransitionTime"),
    "flowschemas.flowcontrol.apiserver.k8s.io": ("lastTransitionTime",),
    "horizontalpodautoscalers.autoscaling": ("lastTransitionTime",),
    "jobs.batch": ("lastProbeTime", "lastTransitionTime"),
    "namespaces": ("lastTransitionTime",),
    "nodes": ("lastHeartbeatTime", "lastTransitionTime"),
    "persistentvolumeclaims": ("lastProbeTime", "lastTransitionTime"),
    "pods": ("lastProbeTime", "lastTransitionTime"),
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": ("lastTransitionTime",),
    "replicasets.apps": ("lastTransitionTime",),
    "replicationcontrollers": ("lastTransitionTime",),
    "statefulsets.apps": ("lastTransitionTime",),
}
"""The times of a condition that are written as null where they are missing: Go writes an empty struct."""


_STATE_TIMES = {"running": ("startedAt",), "terminated": ("startedAt", "finishedAt")}


def set_status_defaults(resource: str, manifest: Manifest) -> None:
    """Complete the status in place; create it if the kind always has one."""
    defaults = _STATUS.get(resource)
    if defaults is not None:
        _complete(manifest.setdefault("status", {}), defaults)
    if resource in _CONDITION_TIMES:
        for condition in manifest.get("status", {}).get("conditions") or ():
            for field in _CONDITION_TIMES[resource]:
                condition.setdefault(field, None)


def complete_container_statuses(status: Manifest) -> None:
    """Complete the structs of container statuses that are not pointers, and the times in their states."""
    for kind in ("initContainerStatuses", "containerStatuses", "ephemeralContainerStatuses"):
        for container in status.get(kind) or ():
            for field in ("state", "lastState"):
                state = container.setdefault(field, {})
                for name, times in _STATE_TIMES.items():
                    for time in times if isinstance(state.get(name), dict) else ():
                        state[name].setdefault(time, None)


def match_pod_ips(status: Manifest) -> None:
    """Set ``podIP``, which old clients read: the first of ``podIPs`` (conversion.go of core/v1)."""
    first, known = status.get("podIP", ""), status.get("podIPs") or []
    if first and (not known or known[0].get("ip", "") != first):
        status["podIPs"] = [{"ip": first}]
    elif known:
        status["podIP"] = known[0].get("ip", "")


def _complete(status: Manifest, defaults: Manifest) -> None:
    for field, value in defaults.items():
        if field not in status:
            status[field] = copy.deepcopy(value)
        elif isinstance(value, dict):
            _complete(status[field], value)

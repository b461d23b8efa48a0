"""The quality-of-service class of a pod."""

from simulator.api import Manifest
from simulator.apiserver.kinds.pods.spec_defaults import all_containers
from simulator.objects import quantity


def qos_class(manifest: Manifest) -> str:
    """Return a pod's quality-of-service class. Upstream: ComputePodQOS in pkg/apis/core/v1/helper/qos/qos.go,
    v1.34."""
    spec = manifest["spec"]
    parts = (
        [spec["resources"]]
        if spec.get("resources")
        else [c.get("resources", {}) for c in all_containers(spec)]
    )
    counted = [
        {
            name: quantity.parse_text(text)
            for name, text in part.get(kind, {}).items()
            if name in ("cpu", "memory") and quantity.parse_text(text) > 0
        }
        for part in parts
        for kind in ("requests", "limits")
    ]
    if not any(counted):
        return "BestEffort"
    requests, limits = counted[::2], counted[1::2]
    if all(limit.keys() == {"cpu", "memory"} for limit in limits) and requests == limits:
        return "Guaranteed"
    return "Burstable"

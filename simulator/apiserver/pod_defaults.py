"""Defaults of a pod's spec, in pods and in pod templates (SetDefaults_PodSpec in
pkg/apis/core/v1/defaults.go, v1.34)."""

from simulator.api import Manifest

GRACE_SECONDS = 30
"""The default of terminationGracePeriodSeconds (DefaultTerminationGracePeriodSeconds)."""


def set_pod_spec_defaults(spec: Manifest) -> None:
    """Set the defaults in place."""
    # Validation refuses an empty list.
    spec.setdefault("containers", [])
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("dnsPolicy", "ClusterFirst")
    if spec.setdefault("terminationGracePeriodSeconds", GRACE_SECONDS) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    spec.setdefault("schedulerName", "default-scheduler")
    for container in all_containers(spec):
        for port in container.get("ports", ()):
            port.setdefault("protocol", "TCP")


def all_containers(spec: Manifest) -> list[Manifest]:
    return [*spec.get("initContainers", ()), *spec.get("containers", ())]

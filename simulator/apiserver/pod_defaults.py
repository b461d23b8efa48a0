"""What is filled in of a pod's spec, in pods and in templates alike (SetDefaults_PodSpec in
pkg/apis/core/v1/defaults.go, v1.34)."""

from simulator.api import Manifest

GRACE_SECONDS = 30
"""terminationGracePeriodSeconds where a pod says none."""


def pod_spec(spec: Manifest) -> None:
    # Without any, validation says so.
    spec.setdefault("containers", [])
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("terminationGracePeriodSeconds", GRACE_SECONDS)
    spec.setdefault("schedulerName", "default-scheduler")
    for container in containers(spec):
        for port in container.get("ports", ()):
            port.setdefault("protocol", "TCP")


def containers(spec: Manifest) -> list[Manifest]:
    return [*spec.get("initContainers", ()), *spec.get("containers", ())]

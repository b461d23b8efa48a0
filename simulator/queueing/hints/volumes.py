"""What the hints of the volume plugins share."""

from collections.abc import Iterator
from typing import Any

from simulator.api import Manifest
from simulator.pod import Pod


def volumes(pod: Pod) -> list[dict[str, Any]]:
    return pod.spec.get("volumes") or []


def claim_names(pod: Pod) -> Iterator[str]:
    """The claims that the pod names itself."""
    return (v["persistentVolumeClaim"]["claimName"] for v in volumes(pod) if v.get("persistentVolumeClaim"))


def all_claim_names(pod: Pod) -> Iterator[str]:
    """Those and the claims that are made for its ephemeral volumes, named after pod and volume."""
    yield from claim_names(pod)
    yield from (f"{pod.name}-{v['name']}" for v in volumes(pod) if v.get("ephemeral"))


def in_namespace_of(pod: Pod, manifest: Manifest) -> bool:
    namespace: str = manifest["metadata"].get("namespace") or "default"
    return namespace == pod.namespace

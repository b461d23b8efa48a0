"""Validation of ephemeral containers, beyond what all containers have in common.

Upstream: validateEphemeralContainers in pkg/apis/core/validation/validation.go, v1.34."""

from collections.abc import Collection, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.status import Cause, forbidden, not_found

_FORBIDDEN_FIELDS: Final = (
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
)
"""The fields of a container that an ephemeral one may not have (allowedEphemeralContainerFields has the
others)."""
NOT_HERE: Final = "cannot be set for an Ephemeral Container"


def validate_ephemeral_container(container: Manifest, others: Collection[str], path: str) -> Iterator[Cause]:
    """Yield the faults of an ephemeral container. ``others``: the names of the pod's other containers."""
    target = container.get("targetContainerName")
    if target and target not in others:
        yield not_found(f"{path}.targetContainerName", target)
    for field in _FORBIDDEN_FIELDS:
        if container.get(field):
            yield forbidden(f"{path}.{field}", NOT_HERE)
    for number, mount in enumerate(container.get("volumeMounts", ())):
        for field in ("subPath", "subPathExpr"):
            if mount.get(field):
                yield forbidden(f"{path}.volumeMounts[{number}].{field}", NOT_HERE)

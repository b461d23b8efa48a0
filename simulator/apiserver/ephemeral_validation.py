"""Validation of ephemeral containers, beyond what all containers have in common.

Upstream: validateEphemeralContainers in pkg/apis/core/validation/validation.go, v1.34."""

from collections.abc import Collection, Iterator

from simulator.api import Manifest
from simulator.apiserver.status import Cause, forbidden

_FIELDS = frozenset(
    (
        "name",
        "image",
        "command",
        "args",
        "workingDir",
        "envFrom",
        "env",
        "volumeMounts",
        "volumeDevices",
        "terminationMessagePath",
        "terminationMessagePolicy",
        "imagePullPolicy",
        "securityContext",
        "stdin",
        "stdinOnce",
        "tty",
        "targetContainerName",
    )
)
"""The fields that an ephemeral container may have (allowedEphemeralContainerFields)."""
NOT_HERE = "cannot be set for an Ephemeral Container"


def validate_ephemeral_container(container: Manifest, others: Collection[str], path: str) -> Iterator[Cause]:
    """``others``: the names of the pod's other containers."""
    target = container.get("targetContainerName")
    if target and target not in others:
        yield Cause(f"{path}.targetContainerName", f'Not found: "{target[:100]}"', "FieldValueNotFound")
    for field, value in container.items():
        if field not in _FIELDS and value:
            yield forbidden(f"{path}.{field}", NOT_HERE)
    for number, mount in enumerate(container.get("volumeMounts", ())):
        for field in ("subPath", "subPathExpr"):
            if mount.get(field):
                yield forbidden(f"{path}.volumeMounts[{number}].{field}", NOT_HERE)

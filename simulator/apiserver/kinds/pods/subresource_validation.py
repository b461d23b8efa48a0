"""Validation of what the subresources ``ephemeralcontainers`` and ``resize`` change of a pod.

Upstream: ValidatePodEphemeralContainersUpdate and ValidatePodResize in
pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Iterator

from simulator.api import Manifest
from simulator.apiserver.go_structs import core_struct, struct_difference
from simulator.apiserver.kinds.pods.annotations import MIRROR
from simulator.apiserver.status import Cause, forbidden, invalid
from simulator.objects.pod_requests import qos_class

_RESIZABLE = ("cpu", "memory")


def validate_ephemeral_containers_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults of an update of ephemeral containers, which can only be added."""
    path = "spec.ephemeralContainers"
    if MIRROR in old["metadata"].get("annotations", {}):
        yield forbidden("[]", "static pods do not support ephemeral containers")
        return
    wanted = {container["name"]: container for container in new["spec"].get("ephemeralContainers", ())}
    for container in old["spec"].get("ephemeralContainers", ()):
        name = container["name"]
        if name not in wanted:
            yield forbidden(path, f'existing ephemeral containers "{name}" may not be removed\n')
        elif wanted[name] != container:
            before, after = (core_struct("EphemeralContainer", each) for each in (container, wanted[name]))
            difference = struct_difference(before, after)
            yield forbidden(path, f'existing ephemeral containers "{name}" may not be changed\n{difference}')


def validate_resize(new: Manifest, old: Manifest) -> Iterator[Cause]:
    after, before = new["spec"], old["spec"]
    if any(_has_resources(spec) for spec in (before, after)):
        yield forbidden("[]", "pods with pod-level resources cannot be resized")
        return
    if MIRROR in old["metadata"].get("annotations", {}):
        yield forbidden("[]", "static pods cannot be resized")
        return
    known = old.get("status", {}).get("qosClass") or qos_class(old)
    if qos_class(new) != known:
        detail = "Pod QOS Class may not change as a result of resizing"
        yield invalid("spec", new.get("status", {}).get("qosClass", ""), detail)
    if not _is_supported(old):
        yield forbidden("spec", "Pod running on node without support for resize")
    if moved := [*_moved_containers(after, before)]:
        yield from moved
        return
    pairs = {
        kind: [*zip(after.get(kind, ()), before.get(kind, ()), strict=True)]
        for kind in ("initContainers", "containers")
    }
    for kind, containers in pairs.items():
        for index, (container, original) in enumerate(containers):
            if kind == "containers" or _is_sidecar(original):
                yield from _removed(container, original, f"spec.{kind}[{index}].resources")
    for container, original in pairs["containers"]:
        if _is_changed(container, original):
            yield forbidden("spec", "only cpu and memory resources are mutable")
    for container, original in pairs["initContainers"]:
        if not _is_sidecar(container):
            if container != original:
                yield forbidden("spec", "resources for non-sidecar init containers are immutable")
        elif _is_changed(container, original):
            yield forbidden("spec", "only cpu and memory resources for sidecar containers are mutable")


def _has_resources(spec: Manifest) -> bool:
    resources = spec.get("resources", {})
    return bool(resources.get("requests") or resources.get("limits"))


def _moved_containers(after: Manifest, before: Manifest) -> Iterator[Cause]:
    """Yield the faults that validatePodResizeContainerOrdering reports."""
    for kind in ("containers", "initContainers"):
        given, known = ([container["name"] for container in spec.get(kind, ())] for spec in (after, before))
        if len(given) != len(known):
            yield forbidden(f"spec.{kind}", f"{kind} may not be added or removed on resize")
            continue
        for index, (name, original) in enumerate(zip(given, known, strict=True)):
            if name != original:
                path = f"spec.{kind}[{index}].name"
                yield forbidden(path, f"{kind} may not be renamed or reordered on resize")


def _is_sidecar(container: Manifest) -> bool:
    """Whether an init container is restartable (isRestartableInitContainer)."""
    return container.get("restartPolicy") == "Always"


def _is_supported(pod: Manifest) -> bool:
    """Whether the pod's node can resize it: its kubelet reports the resources of a running container. Before
    one runs, this is unknown (isPodResizeRequestSupported)."""
    statuses = pod.get("status", {}).get("containerStatuses", ())
    running = next((status for status in statuses if "running" in status.get("state", {})), None)
    return running is None or "resources" in running


def _removed(new: Manifest, old: Manifest, path: str) -> Iterator[Cause]:
    for field in ("requests", "limits"):
        before, after = (container.get("resources", {}).get(field, {}) for container in (old, new))
        if any(resource not in after for resource in before):
            yield forbidden(f"{path}.{field}", f"resource {field} cannot be removed")


def _is_changed(container: Manifest, original: Manifest) -> bool:
    """Whether more changes than CPU and memory: not seen is a first list of requests or limits; without the
    claims, a container with such is always changed (dropCPUMemoryResourcesFromContainer)."""
    given, known = container.get("resources", {}), original.get("resources", {})
    resources = {}
    for field in ("limits", "requests"):
        if amounts := known.get(field):
            kept = {name: text for name, text in given.get(field, {}).items() if name not in _RESIZABLE}
            resources[field] = kept | {name: amounts[name] for name in _RESIZABLE if name in amounts}
    before = {field: value for field, value in known.items() if value}
    return {**container, "resources": resources} != {**original, "resources": before}

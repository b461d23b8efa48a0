"""Validation of what the subresources ``status``, ``ephemeralcontainers`` and ``resize`` change of a pod.

Upstream: ValidatePodStatusUpdate, ValidatePodEphemeralContainersUpdate and ValidatePodResize in
pkg/apis/core/validation/validation.go."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import IMMUTABLE, check_address, check_name, parse_address
from simulator.apiserver.go_structs import core_struct, struct_difference
from simulator.apiserver.kinds.pods.annotations import MIRROR, validate_pod_annotations_update
from simulator.apiserver.shapes import each, field, filled, in_range, named_by
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid
from simulator.objects.pod_requests import qos_class

_RESIZABLE = ("cpu", "memory")


def validate_pod_status(new: Manifest, old: Manifest) -> Iterator[Cause]:
    status, before = new.get("status", {}), old.get("status", {})
    yield from validate_pod_annotations_update(new, old)
    yield from _CONDITIONS(status, "status")
    if status.get("nominatedNodeName") != before.get("nominatedNodeName"):
        yield from _NOMINATED(status, "status")
    yield from _GENERATION(status, "status")
    if status.get("qosClass") != before.get("qosClass"):
        yield invalid("status.qosClass", status.get("qosClass", ""), IMMUTABLE)
    yield from _restarts(status, before, old["spec"])
    yield from _claim_statuses(status.get("resourceClaimStatuses", ()), new["spec"].get("resourceClaims", ()))
    yield from _addresses(status.get("podIPs", ()), "status.podIPs")
    addresses = status.get("hostIPs", ())
    if addresses and addresses[0].get("ip", "") != status.get("hostIP", ""):
        yield invalid("status.hostIPs[0].ip", addresses[0].get("ip", ""), "must be equal to `hostIP`")
    yield from _addresses(addresses, "status.hostIPs")


def _condition_type(kind: str, path: str) -> Iterable[Cause]:
    is_known = kind in ("PodScheduled", "Ready", "Initialized")
    return () if is_known else check_name(names.qualified_name, kind, path)


def _restarts(status: Manifest, before: Manifest, spec: Manifest) -> Iterator[Cause]:
    """Yield the faults of restarts: a container that has ended does not run again, unless its pod restarts
    it."""
    policy = spec.get("restartPolicy", "Always")
    sidecars = {
        container["name"]
        for container in spec.get("initContainers", ())
        if container.get("restartPolicy") == "Always"
    }

    def may_restart(exit_code: int) -> bool:
        return policy == "Always" or (policy == "OnFailure" and exit_code != 0)

    for kind, is_restarted in (
        ("containerStatuses", lambda _, code: may_restart(code)),
        ("initContainerStatuses", lambda name, code: name in sidecars or may_restart(code)),
        ("ephemeralContainerStatuses", lambda _, __: False),
    ):
        yield from _transitions(status.get(kind, ()), before.get(kind, ()), is_restarted, f"status.{kind}")


def _transitions(
    new: Sequence[Manifest], old: Sequence[Manifest], is_restarted: Callable[[str, int], bool], path: str
) -> Iterator[Cause]:
    """Yield the faults that ValidateContainerStateTransition reports. The index is that of the stored
    status."""
    for index, status in enumerate(old):
        ended = status.get("state", {}).get("terminated")
        if ended is None or is_restarted(status["name"], ended.get("exitCode", 0)):
            continue
        for other in new:
            if other["name"] == status["name"] and "terminated" not in other.get("state", {}):
                yield forbidden(f"{path}[{index}].state", "may not be transitioned to non-terminated state")


def _claim_statuses(statuses: Sequence[Manifest], claims: Sequence[Manifest]) -> Iterator[Cause]:
    """Yield the faults that validatePodResourceClaimStatuses reports."""
    known, seen = {claim["name"] for claim in claims}, set[str]()
    for index, status in enumerate(statuses):
        path, name = f"status.resourceClaimStatuses[{index}].name", status["name"]
        if name not in known:
            yield invalid(path, name, "must match the name of an entry in `spec.resourceClaims`")
        if name in seen:
            yield duplicate(path, name)
        seen.add(name)
        yield from _CLAIM_NAME(status, path)


def _addresses(items: Sequence[Manifest], path: str) -> Iterator[Cause]:
    """Yield the faults of addresses: at most one of each family (validatePodIPs and validateHostIPs)."""
    texts = [item.get("ip", "") for item in items]
    for index, text in enumerate(texts):
        yield from check_address(text, f"{path}[{index}]")
    families = {parsed.version for parsed in map(parse_address, texts) if parsed is not None}
    if len(texts) > 1 and (len(families) < 2 or len(texts) > 2):
        shown = [{"IP": text} for text in texts]
        yield invalid(path, shown, "may specify no more than one IP for each IP family")
    seen: set[str] = set()
    for index, text in enumerate(texts):
        if text in seen:
            yield duplicate(f"{path}[{index}]", {"IP": text})
        seen.add(text)


_SUBDOMAIN: Final = named_by(names.dns_subdomain)
_GENERATION: Final = field("observedGeneration", in_range(0, detail="must be a non-negative integer"))
_CONDITIONS: Final = each("conditions", _GENERATION, field("type", _condition_type, shown="Type"))
"""The rules of conditions (validatePodConditions)."""
_NOMINATED: Final = filled("nominatedNodeName", _SUBDOMAIN)
_CLAIM_NAME: Final = field("resourceClaimName", _SUBDOMAIN, shown="")


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
    for kind in ("requests", "limits"):
        before, after = (container.get("resources", {}).get(kind, {}) for container in (old, new))
        if any(resource not in after for resource in before):
            yield forbidden(f"{path}.{kind}", f"resource {kind} cannot be removed")


def _is_changed(container: Manifest, original: Manifest) -> bool:
    """Whether more changes than CPU and memory: not seen is a first list of requests or limits; without the
    claims, a container with such is always changed (dropCPUMemoryResourcesFromContainer)."""
    given, known = container.get("resources", {}), original.get("resources", {})
    resources = {}
    for kind in ("limits", "requests"):
        if amounts := known.get(kind):
            kept = {name: text for name, text in given.get(kind, {}).items() if name not in _RESIZABLE}
            resources[kind] = kept | {name: amounts[name] for name in _RESIZABLE if name in amounts}
    before = {kind: value for kind, value in known.items() if value}
    return {**container, "resources": resources} != {**original, "resources": before}

"""Validation of updates of the status of pods.

Upstream: ValidatePodStatusUpdate and what it calls in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import IMMUTABLE, check_address, check_name, parse_address
from simulator.apiserver.kinds.pods.annotations import validate_pod_annotations_update
from simulator.apiserver.shapes import each, field, filled, in_range, named_by
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid


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

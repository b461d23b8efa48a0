"""Validation of pods and pod templates, beyond their schema.

Upstream: pkg/apis/core/validation/validation.go."""

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import DNS_POLICIES, PREEMPTION_POLICIES, RESTART_POLICIES
from simulator.apiserver.field_checks import check_address, check_name
from simulator.apiserver.go_structs import core_struct
from simulator.apiserver.kinds.pods.annotations import validate_pod_annotations, validate_profiles_match
from simulator.apiserver.kinds.pods.container_validation import (
    IMAGE_OF_POD,
    validate_containers,
    validate_host_network,
)
from simulator.apiserver.kinds.pods.placement import AFFINITY, validate_spread
from simulator.apiserver.kinds.pods.security import POD_SECURITY, validate_host_users
from simulator.apiserver.kinds.pods.volumes import validate_volumes
from simulator.apiserver.resource_validation import validate_overhead, validate_pod_resources
from simulator.apiserver.selector_validation import validate_labels, validate_tolerations
from simulator.apiserver.served_features import served_features
from simulator.apiserver.shapes import (
    all_of,
    at_most,
    choice,
    each,
    field,
    filled,
    in_range,
    max_bytes,
    may_not_have,
    must_have,
    named_by,
    needed,
    one_of,
    when,
    where,
)
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, required
from simulator.objects.spec_fields import MAX_SPEC_BYTES
from simulator.versions.features import Features

MAX_VALID_SPECS: Final = 64
"""The number of specs that are known to be valid: of as many workloads whose pods are created by turns."""

_MAX_SEARCH_CHARACTERS: Final = 2048
_SEARCH_LENGTH: Final = (
    f"must not have more than {_MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list"
)
_MAX_SECONDS: Final = (1 << 31) - 1
_CLAIM_SOURCES: Final = ("resourceClaimName", "resourceClaimTemplateName")
_SOURCES: Final = {
    0: "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
    2: "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified",
}
"""What is wrong with a claim that has so many sources."""


def validate_dns_config(spec: Manifest, path: str) -> Iterable[Cause]:
    config, at = spec.get("dnsConfig"), f"{path}.dnsConfig"
    if spec.get("dnsPolicy") == "None":
        if config is None:
            return (required(at, "must provide `dnsConfig` when `dnsPolicy` is None"),)
        if not config.get("nameservers"):
            return _SERVERS(config, at)
    return () if config is None else _CONFIG(config, at)


def _option(option: Manifest, path: str) -> Iterable[Cause]:
    return () if option.get("name") else (required(path, "must not be empty"),)


def _search(search: str, path: str) -> Iterable[Cause]:
    is_root = search == "."
    return () if is_root else check_name(names.dns_subdomain_with_underscore, search.removesuffix("."), path)


_SERVERS: Final = must_have(
    "nameservers", detail="must provide at least one DNS nameserver when `dnsPolicy` is None"
)
_CONFIG: Final = all_of(
    field("nameservers", at_most(3, "nameservers")),
    each("nameservers", check_address),
    field("searches", at_most(32, "search paths")),
    field("searches", where(lambda given: len(" ".join(given)) <= _MAX_SEARCH_CHARACTERS, _SEARCH_LENGTH)),
    each("searches", _search),
    each("options", _option),
)
HOST_ALIASES: Final = each(
    "hostAliases",
    field("ip", check_address, default=""),
    each("hostnames", named_by(names.dns_subdomain)),
)


def validate_pod(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that validatePodMetadataAndSpec reports, but for the metadata that all kinds have."""
    metadata, spec = manifest["metadata"], manifest["spec"]
    yield from validate_pod_annotations(metadata.get("annotations", {}), spec, "metadata.annotations")
    if not _is_known_valid(spec):
        yield from validate_pod_spec(spec, "spec", pod_name=metadata.get("name", ""), is_pod=True)
    if not spec.get("serviceAccountName"):
        yield from _VOLUMES_WITHOUT_ACCOUNT(spec, "spec")
    yield from _IMAGES(spec, "spec")


def _is_known_valid(spec: Manifest) -> bool:
    """Whether an equal spec was validated and has no fault: the pods of a workload are validated once. Those
    on a node, and those with volumes, whose faults depend on the name of the pod, are not looked up."""
    if "nodeName" in spec or spec.get("volumes"):
        return False
    content = msgspec.json.encode(spec)
    return len(content) <= MAX_SPEC_BYTES and _is_valid(served_features(), content)


@lru_cache(MAX_VALID_SPECS)
def _is_valid(_: Features, content: bytes) -> bool:
    """Whether a spec has no fault where these features are served."""
    return not any(True for _ in validate_pod_spec(msgspec.json.decode(content), "spec", is_pod=True))


def validate_new_pod(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that a pod has only while it is created (ValidatePodCreate)."""
    spec = manifest["spec"]
    yield from _NO_EPHEMERAL_CONTAINERS(spec, "spec")
    if spec.get("nodeName") and spec.get("schedulingGates"):
        yield forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared")
    yield from validate_profiles_match(manifest["metadata"].get("annotations", {}), spec, "spec")


def validate_pod_spec(
    spec: Manifest, path: str, *, pod_name: str = "", is_pod: bool = False
) -> Iterator[Cause]:
    """Validate the spec of a pod (``is_pod``) or of a pod template (ValidatePodSpec)."""
    volumes: dict[str, Manifest] = {}
    yield from validate_volumes(spec.get("volumes") or (), f"{path}.volumes", pod_name, volumes)
    yield from _claims(spec.get("resourceClaims") or (), f"{path}.resourceClaims")
    yield from validate_containers(spec, volumes, path)
    yield from validate_pod_resources(spec, f"{path}.resources")
    yield from validate_host_network(spec, path, is_pod=is_pod)
    yield from _SPEC(spec, path)


def _windows(spec: Manifest, path: str) -> Iterable[Cause]:
    """Return the faults of a pod for Windows: only those of the namespaces of the node, as the options and
    security contexts of Windows have no rules here (validateWindows)."""
    return _NOT_OF_WINDOWS(spec, path) if spec.get("os", {}).get("name") == "windows" else ()


def _claims(claims: Sequence[Manifest], path: str) -> Iterator[Cause]:
    """Yield the faults that validatePodResourceClaims reports."""
    seen: set[str] = set()
    for index, claim in enumerate(claims):
        name, at = claim["name"], f"{path}[{index}]"
        if name in seen and name:
            yield duplicate(f"{at}.name", name)
        else:
            yield from _CLAIM_NAME(claim, at)
        seen.add(name)
        if (given := sum(field in claim for field in _CLAIM_SOURCES)) != 1:
            yield invalid(at, core_struct("PodResourceClaim", claim), _SOURCES[given], whole=True)
        yield from _CLAIM_SOURCE(claim, at)


def _scheduling_group(group: Manifest, path: str) -> Iterable[Cause]:
    """Return the faults that validateSchedulingGroup reports."""
    name, path = group.get("podGroupName"), f"{path}.podGroupName"
    if name is None:
        return (invalid(path, "", "must specify one of: `podGroupName`"),)
    return check_name(names.dns_subdomain, name, path)


_SUBDOMAIN: Final = named_by(names.dns_subdomain)
_LABEL: Final = named_by(names.dns_label)
_CLAIM_NAME: Final = needed("name", _LABEL)
_CLAIM_SOURCE: Final = all_of(*(field(name, _SUBDOMAIN) for name in _CLAIM_SOURCES))
_IMAGES: Final = all_of(
    *(each(kind, IMAGE_OF_POD) for kind in ("containers", "initContainers")),
    each("volumes", field("image", must_have("reference"))),
)
_NO_EPHEMERAL_CONTAINERS: Final = may_not_have("ephemeralContainers", detail="cannot be set on create")
_NO_ACCOUNT: Final = may_not_have(
    "serviceAccountToken", detail="must not be specified when serviceAccountName is not set", even_empty=True
)
_VOLUMES_WITHOUT_ACCOUNT: Final = each("volumes", each("projected.sources", _NO_ACCOUNT))
_NOT_OF_WINDOWS: Final = may_not_have(
    *("hostUsers", "hostPID", "hostIPC", "shareProcessNamespace"),
    detail="cannot be set for a windows pod",
    even_empty=True,
)
_SPEC: Final = all_of(
    needed("restartPolicy", one_of(RESTART_POLICIES, as_given=True)),
    needed("dnsPolicy", one_of(DNS_POLICIES, as_given=True)),
    field("nodeSelector", validate_labels),
    POD_SECURITY,
    field("affinity", AFFINITY),
    validate_dns_config,
    each("readinessGates", field("conditionType", named_by(names.qualified_name))),
    each(
        "schedulingGates",
        field("name", named_by(names.qualified_name), shown=""),
        unique="name",
        duplicate_at="",
    ),
    filled("topologySpreadConstraints", validate_spread),
    validate_host_users,
    filled("serviceAccountName", _SUBDOMAIN),
    filled("nodeName", _SUBDOMAIN),
    field("activeDeadlineSeconds", in_range(1, _MAX_SECONDS)),
    filled("hostname", _LABEL),
    filled("subdomain", _LABEL),
    field("hostnameOverride", _SUBDOMAIN, max_bytes(64)),
    when(
        lambda spec: spec.get("hostNetwork") or spec.get("setHostnameAsFQDN"),
        may_not_have(
            "hostnameOverride", detail="may not be set with hostNetwork or setHostnameAsFQDN", even_empty=True
        ),
    ),
    filled("tolerations", validate_tolerations),
    HOST_ALIASES,
    filled("priorityClassName", _SUBDOMAIN),
    field("runtimeClassName", _SUBDOMAIN),
    field("preemptionPolicy", choice(PREEMPTION_POLICIES, as_given=True)),
    field("overhead", validate_overhead),
    field("schedulingGroup", _scheduling_group),
    field(
        "os",
        needed("name", detail="cannot be empty"),
        filled("name", one_of(("linux", "windows")), shown=""),
    ),
    _windows,
)
"""What the spec of a pod is beyond its volumes and containers, in upstream's order."""

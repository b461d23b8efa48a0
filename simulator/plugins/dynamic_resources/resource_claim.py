"""ResourceClaims as the allocator reads them (staging/src/k8s.io/api/resource/v1/types.go)."""

from typing import NamedTuple

from simulator.api import Manifest
from simulator.plugins.dynamic_resources.amounts import Amounts, parse_amounts

RESOURCE_CLAIMS = "resourceclaims.resource.k8s.io"


class DeviceID(NamedTuple):
    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return "/".join(self)


class DeviceToleration(NamedTuple):
    key: str
    operator: str
    value: str
    effect: str


class DeviceRequest(NamedTuple):
    """A requested set of devices: an ``exactly``, or one entry of ``firstAvailable`` (DeviceSubRequest)."""

    name: str
    """The name of the request, or of the subrequest."""
    device_class: str
    mode: str
    """ExactCount or All."""
    number: int
    admin_access: bool
    selectors: tuple[str | None, ...]
    """CEL expressions; None for a selector without one."""
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: Amounts | None = None
    """The requested capacity; None if the request has no field ``capacity``."""


class ClaimRequest(NamedTuple):
    name: str
    alternatives: tuple[DeviceRequest, ...]
    """The entries of ``firstAvailable``, or one that is ``exactly``; empty if the request has neither."""
    first_available: bool

    def result_name(self, request: DeviceRequest) -> str:
        """Return the name of an alternative in an allocation: ``REQUEST`` or ``REQUEST/SUBREQUEST``."""
        return f"{self.name}/{request.name}" if self.first_available else request.name


class DeviceConstraint(NamedTuple):
    requests: frozenset[str]
    """Names of requests or ``REQUEST/SUBREQUEST``; empty = all requests of the claim."""
    match_attribute: str
    distinct_attribute: str

    def applies_to(self, request: ClaimRequest, alternative: DeviceRequest) -> bool:
        if not self.requests or request.name in self.requests:
            return True
        return request.first_available and request.result_name(alternative) in self.requests


class ResourceClaim(NamedTuple):
    namespace: str
    name: str
    uid: str
    requests: tuple[ClaimRequest, ...]
    constraints: tuple[DeviceConstraint, ...]
    manifest: Manifest

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}"

    @property
    def allocation(self) -> Manifest | None:
        """The value of ``status.allocation``; None if the claim is not allocated."""
        status = self.manifest.get("status") or {}
        found: Manifest | None = status.get("allocation")
        return found


def parse_claim(manifest: Manifest) -> ResourceClaim:
    metadata = manifest["metadata"]
    devices = (manifest.get("spec") or {}).get("devices") or {}
    return ResourceClaim(
        metadata.get("namespace") or "default",
        metadata["name"],
        metadata.get("uid", ""),
        tuple(_request(each) for each in devices.get("requests") or ()),
        tuple(_constraint(each) for each in devices.get("constraints") or ()),
        manifest,
    )


def _request(manifest: Manifest) -> ClaimRequest:
    name, exactly = manifest["name"], manifest.get("exactly")
    subrequests = manifest.get("firstAvailable") or ()
    given = subrequests if exactly is None else (exactly,)
    return ClaimRequest(
        name,
        tuple(_alternative(each, each.get("name", name)) for each in given),
        exactly is None,
    )


def _alternative(manifest: Manifest, name: str) -> DeviceRequest:
    capacity = manifest.get("capacity")
    return DeviceRequest(
        name,
        manifest.get("deviceClassName", ""),
        manifest.get("allocationMode") or "ExactCount",
        manifest.get("count") or 1,
        bool(manifest.get("adminAccess")),
        selector_expressions(manifest),
        tuple(_toleration(each) for each in manifest.get("tolerations") or ()),
        None if capacity is None else parse_amounts(capacity.get("requests") or {}),
    )


def _toleration(manifest: Manifest) -> DeviceToleration:
    return DeviceToleration(*(manifest.get(field) or "" for field in DeviceToleration._fields))


def selector_expressions(manifest: Manifest) -> tuple[str | None, ...]:
    """Return the CEL expressions of the ``selectors`` of a request or of a DeviceClass's spec."""
    return tuple((each.get("cel") or {}).get("expression") for each in manifest.get("selectors") or ())


def _constraint(manifest: Manifest) -> DeviceConstraint:
    return DeviceConstraint(
        frozenset(manifest.get("requests") or ()),
        manifest.get("matchAttribute") or "",
        manifest.get("distinctAttribute") or "",
    )


def request_manifest(claim: ResourceClaim, name: str) -> Manifest:
    """Return the ``exactly`` of a request, or a subrequest, by its name in an allocation."""
    request_name, _, subrequest = name.partition("/")
    requests = claim.manifest["spec"]["devices"]["requests"]
    request: Manifest = next(each for each in requests if each["name"] == request_name)
    if not subrequest:
        exactly: Manifest = request["exactly"]
        return exactly
    found: Manifest = next(each for each in request["firstAvailable"] if each["name"] == subrequest)
    return found

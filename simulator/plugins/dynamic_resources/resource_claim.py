"""ResourceClaims as the allocator reads them (staging/src/k8s.io/api/resource/v1/types.go)."""

from typing import NamedTuple

from simulator.api import Manifest

RESOURCE_CLAIMS = "resourceclaims.resource.k8s.io"


class DeviceID(NamedTuple):
    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return "/".join(self)


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


class ClaimRequest(NamedTuple):
    name: str
    alternatives: tuple[DeviceRequest, ...]
    """The entries of ``firstAvailable``, or one that is ``exactly``; empty if the request has neither."""
    first_available: bool
    has_capacity: bool
    """Whether it asks for capacity, which needs the feature DRAConsumableCapacity."""

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
        any(each.get("capacity") is not None for each in given),
    )


def _alternative(manifest: Manifest, name: str) -> DeviceRequest:
    return DeviceRequest(
        name,
        manifest.get("deviceClassName", ""),
        manifest.get("allocationMode") or "ExactCount",
        manifest.get("count") or 1,
        bool(manifest.get("adminAccess")),
        selector_expressions(manifest),
    )


def selector_expressions(manifest: Manifest) -> tuple[str | None, ...]:
    """Return the CEL expressions of the ``selectors`` of a request or of a DeviceClass's spec."""
    return tuple((each.get("cel") or {}).get("expression") for each in manifest.get("selectors") or ())


def _constraint(manifest: Manifest) -> DeviceConstraint:
    return DeviceConstraint(
        frozenset(manifest.get("requests") or ()),
        manifest.get("matchAttribute") or "",
        manifest.get("distinctAttribute") or "",
    )

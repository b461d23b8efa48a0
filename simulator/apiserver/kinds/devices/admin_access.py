"""Admin access to devices, which only a namespace with a label allows (AuthorizedForAdmin and
AuthorizedForAdminStatus in pkg/registry/resource/utils.go, v1.34)."""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.status import Cause, forbidden

_LABEL: Final = "resource.kubernetes.io/admin-access"
_NOT_ALLOWED: Final = (
    f"admin access to devices requires the `{_LABEL}: true` label on the containing namespace"
)


def check_admin_access(manifest: Manifest, spec: Manifest, overlay: Overlay) -> Iterator[Cause]:
    """Check the first request for admin access of a new claim, or of a template, of which ``spec`` is that of
    its claims."""
    requests = (spec.get("devices") or {}).get("requests") or ()
    wanted = [bool((request.get("exactly") or {}).get("adminAccess")) for request in requests]
    if any(wanted) and not _is_allowed(manifest, overlay):
        # The path of a template leaves one spec out.
        yield forbidden(f"spec.devices.requests[{wanted.index(True)}].adminAccess", _NOT_ALLOWED)


def check_admin_access_of_status(new: Manifest, old: Manifest, overlay: Overlay) -> Iterator[Cause]:
    """Check the first result with admin access of a claim's new status, unless it had one before."""
    wanted, known = _results(new), _results(old)
    if any(wanted) and not any(known) and not _is_allowed(new, overlay):
        yield forbidden(f"status.allocation.devices.results[{wanted.index(True)}].adminAccess", _NOT_ALLOWED)


def _results(claim: Manifest) -> list[bool]:
    allocation = (claim.get("status") or {}).get("allocation") or {}
    return [
        bool(result.get("adminAccess")) for result in (allocation.get("devices") or {}).get("results") or ()
    ]


def _is_allowed(manifest: Manifest, overlay: Overlay) -> bool:
    namespace = overlay.get("namespaces", manifest["metadata"].get("namespace", "")) or {}
    return ((namespace.get("metadata") or {}).get("labels") or {}).get(_LABEL) == "true"

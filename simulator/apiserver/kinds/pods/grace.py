"""The grace period of a pod that is deleted (CheckGracefulDelete in pkg/registry/core/pod/strategy.go,
v1.34)."""

from typing import Final

from simulator.api import Manifest
from simulator.apiserver.kinds.pods.spec_defaults import GRACE_SECONDS
from simulator.objects.metadata import is_terminating
from simulator.objects.status import phase_of

MAX_GRACE_SECONDS: Final = (1 << 31) - 1
"""Maximum grace period, 68 years. Longer ones of pods are shortened to it, because the end of a grace period
must be a valid time in RFC 3339."""


def pod_grace_seconds(pod: Manifest, asked: int | None) -> int | None:
    """Return the grace period of a deletion; None if the request changes nothing.

    It is 0 for a pod that is not bound or has finished: it has no running containers to stop. A further
    request changes a terminating pod if it asks for a shorter grace period, or if the grace period is 0, so
    that the pod waits for nothing but its finalizers."""
    if is_terminating(pod):
        before: int = pod["metadata"].get("deletionGracePeriodSeconds", 0)
        is_shortened = before == 0 or (asked is not None and asked < before)
        return (asked or 0) if is_shortened else None
    if not pod["spec"].get("nodeName") or phase_of(pod) in ("Succeeded", "Failed"):
        return 0
    own: int = pod["spec"].get("terminationGracePeriodSeconds", GRACE_SECONDS)
    wanted = own if asked is None else asked
    return 1 if wanted < 0 else min(wanted, MAX_GRACE_SECONDS)

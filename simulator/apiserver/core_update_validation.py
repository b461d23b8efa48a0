"""Validation of updates of the core kinds but for pods: which fields may change.

Upstream: the Validate...Update functions in pkg/apis/core/validation/validation.go, v1.34.
"""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.core_validation import check_finalizer_name
from simulator.apiserver.event_validation import validate_event
from simulator.apiserver.service_update_validation import validate_service_update
from simulator.apiserver.status import Cause
from simulator.apiserver.volume_update_validation import validate_claim_update, validate_volume_update


def validate_namespace_finalizers(new: Manifest, _: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateNamespaceFinalizeUpdate reports."""
    for index, finalizer in enumerate(new.get("spec", {}).get("finalizers") or ()):
        yield from check_finalizer_name(finalizer, f"spec.finalizers[{index}]")


def _validate_event_update(new: Manifest, _: Manifest) -> Iterator[Cause]:
    yield from validate_event(new, "v1")


CORE_UPDATE_CHECKS: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    "events": _validate_event_update,
    "persistentvolumeclaims": validate_claim_update,
    "persistentvolumes": validate_volume_update,
    "services": validate_service_update,
}

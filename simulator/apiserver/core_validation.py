"""Validation of ConfigMaps, Secrets, Namespaces, Leases and RuntimeClasses, beyond their schemas, and the
checks of further kinds that have a module of their own.

Upstream: validation.go in pkg/apis/{core,coordination,node}/validation, v1.34."""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import NOT_NEGATIVE, check_name
from simulator.apiserver.object_meta_validation import check_standard_finalizer
from simulator.apiserver.quota_validation import validate_limit_range, validate_quota
from simulator.apiserver.resource_validation import validate_overhead
from simulator.apiserver.selector_validation import validate_labels, validate_tolerations
from simulator.apiserver.service_validation import validate_service
from simulator.apiserver.status import Cause, invalid

_STRATEGIES: Final = ("OldestEmulationVersion",)


def _validate_namespace(manifest: Manifest) -> Iterator[Cause]:
    for finalizer in (manifest.get("spec") or {}).get("finalizers") or ():
        yield from check_finalizer_name(finalizer, "spec.finalizers")


def check_finalizer_name(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validateFinalizerName reports, of a Namespace."""
    yield from check_name(names.qualified_name, name, path)
    yield from check_standard_finalizer(name, path)


def _validate_lease(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateLeaseSpec reports."""
    spec = manifest.get("spec") or {}
    seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if seconds is not None and seconds <= 0:
        yield invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0")
    if transitions is not None and transitions < 0:
        yield invalid("spec.leaseTransitions", transitions, NOT_NEGATIVE)


def _validate_runtime_class(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateRuntimeClass in pkg/apis/node/validation reports."""
    yield from check_name(names.dns_label, manifest.get("handler", ""), "handler")
    overhead = (manifest.get("overhead") or {}).get("podFixed")
    if overhead:
        yield from validate_overhead(overhead, "overhead")
    scheduling = manifest.get("scheduling") or {}
    yield from validate_labels(scheduling.get("nodeSelector", {}), "scheduling.nodeSelector")
    tolerations = scheduling.get("tolerations", [])
    yield from validate_tolerations(tolerations, "scheduling.tolerations")


CORE_CHECKS: Final[dict[str, Callable[[Manifest], Iterator[Cause]]]] = {
    "leases.coordination.k8s.io": _validate_lease,
    "limitranges": validate_limit_range,
    "namespaces": _validate_namespace,
    "resourcequotas": validate_quota,
    "runtimeclasses.node.k8s.io": _validate_runtime_class,
    "services": validate_service,
}

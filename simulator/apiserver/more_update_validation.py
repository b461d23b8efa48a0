"""Validation of updates: which fields may change, of kinds with few such rules.

Upstream: the Validate...Update functions in pkg/apis/*/validation, v1.34."""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.core_update_validation import (
    CORE_UPDATE_CHECKS,
)
from simulator.apiserver.definition_validation import validate_definition_update
from simulator.apiserver.field_checks import IMMUTABLE
from simulator.apiserver.go_structs import api_struct
from simulator.apiserver.resource import CRDS
from simulator.apiserver.slice_validation import validate_slice_update
from simulator.apiserver.status import NIL, Cause, invalid
from simulator.apiserver.workload_update_validation import WORKLOAD_UPDATE_CHECKS


def _revision(new: Manifest, old: Manifest) -> Iterator[Cause]:
    yield from _immutable(new, old, "data")


def _spec_of(type_name: str) -> Callable[[Manifest, Manifest], Iterator[Cause]]:
    """Return the check of a kind whose whole spec may not change."""

    def check(new: Manifest, old: Manifest) -> Iterator[Cause]:
        after, before = (manifest.get("spec", {}) for manifest in (new, old))
        if after != before:
            yield invalid("spec", api_struct(type_name, after), IMMUTABLE, whole=True)

    return check


def _claim_template(new: Manifest, old: Manifest) -> Iterator[Cause]:
    after, before = (manifest.get("spec", {}) for manifest in (new, old))
    if after != before:
        claim = api_struct("resource.v1.ResourceClaimSpec", after.get("spec", {}))
        yield invalid("spec", {**after.get("metadata", {}), "Spec": claim}, IMMUTABLE, whole=True)


def _immutable(new: Manifest, old: Manifest, field: str) -> Iterator[Cause]:
    if new.get(field) != old.get(field):
        yield invalid(field, new.get(field, NIL), IMMUTABLE)


UPDATE_CHECKS: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    **CORE_UPDATE_CHECKS,
    "controllerrevisions.apps": _revision,
    CRDS: validate_definition_update,
    "resourceclaims.resource.k8s.io": _spec_of("resource.v1.ResourceClaimSpec"),
    "resourceclaimtemplates.resource.k8s.io": _claim_template,
    "resourceslices.resource.k8s.io": validate_slice_update,
    **WORKLOAD_UPDATE_CHECKS,
}

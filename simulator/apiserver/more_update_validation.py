"""Validation of updates: which fields may change, of kinds with few such rules.

Upstream: the Validate...Update functions in pkg/apis/*/validation, v1.34."""

from collections.abc import Callable, Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver.definition_validation import validate_definition_update
from simulator.apiserver.field_checks import IMMUTABLE
from simulator.apiserver.resource import CRDS
from simulator.apiserver.status import NIL, Cause, invalid
from simulator.apiserver.workload_update_validation import WORKLOAD_UPDATE_CHECKS


def _revision(new: Manifest, old: Manifest) -> Iterator[Cause]:
    yield from _immutable(new, old, "data")


def _immutable(new: Manifest, old: Manifest, field: str) -> Iterator[Cause]:
    if new.get(field) != old.get(field):
        yield invalid(field, new.get(field, NIL), IMMUTABLE)


UPDATE_CHECKS: Final[dict[str, Callable[[Manifest, Manifest], Iterator[Cause]]]] = {
    "controllerrevisions.apps": _revision,
    CRDS: validate_definition_update,
    **WORKLOAD_UPDATE_CHECKS,
}

"""RuntimeClasses (pkg/registry/node/runtimeclass/strategy.go, and ValidateRuntimeClass in
pkg/apis/node/validation/validation.go)."""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.printers.column import AGE, NAME, Column, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.resource_validation import validate_overhead
from simulator.apiserver.selector_validation import DEPRECATED_LABELS, validate_labels, validate_tolerations
from simulator.apiserver.shapes import all_of, field, named_by
from simulator.apiserver.status import Cause
from simulator.apiserver.strategy import Strategy
from simulator.apiserver.update_shapes import immutable

RUNTIME_CLASSES: Final = built_in("node.k8s.io/v1", "RuntimeClass", in_cluster=True)


def _overhead(overhead: Manifest, _: str) -> Iterator[Cause]:
    # Upstream leaves the last field of the path out.
    return validate_overhead(overhead, "overhead") if overhead else iter(())


def _warnings(manifest: Manifest, _: object = None) -> Iterator[str]:
    for label in (manifest.get("scheduling") or {}).get("nodeSelector") or ():
        if label in DEPRECATED_LABELS:
            yield f"scheduling.nodeSelector: {DEPRECATED_LABELS[label]}"


RUNTIME_CLASS_STRATEGY: Final = Strategy(
    resource=RUNTIME_CLASSES,
    any_finalizer=True,
    validate=all_of(
        field("handler", named_by(names.dns_label), default=""),
        field("overhead.podFixed", _overhead),
        field("scheduling.nodeSelector", validate_labels),
        field("scheduling.tolerations", validate_tolerations),
    ),
    warnings=_warnings,
    needs_version=True,
    validate_update=immutable("handler"),
    # Upstream looks for the description in the wrong type.
    printer=printer_of(NAME, Column("Handler", "", cell="handler"), AGE),
)

"""Namespaces.

Upstream: pkg/registry/core/namespace/strategy.go, SetDefaults_Namespace in pkg/apis/core/v1/defaults.go, and
the Validate...Namespace... functions in pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_name
from simulator.apiserver.object_meta_validation import check_standard_finalizer
from simulator.apiserver.printers.column import AGE, NAME, Column, printer_of
from simulator.apiserver.resource import built_in
from simulator.apiserver.status import Cause, invalid
from simulator.apiserver.strategy import Strategy, Subresource, status_strategy, with_field, without_field
from simulator.objects.metadata import is_terminating
from simulator.objects.status import phase_of

NAMESPACES: Final = built_in("v1", "Namespace", "ns", in_cluster=True, has_status=True)
BUILT_IN_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
_FINALIZER: Final = "kubernetes"
"""The finalizer in the spec. The namespace controller removes it when the namespace is empty."""


def _set_defaults(manifest: Manifest) -> None:
    name = manifest["metadata"].get("name")
    if name:
        manifest["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = name
    manifest.setdefault("spec", {})


def _prepare(manifest: Manifest, _: str) -> None:
    finalizers = manifest["spec"].get("finalizers", [])
    if _FINALIZER not in finalizers:
        manifest["spec"]["finalizers"] = [*finalizers, _FINALIZER]


def _validate(manifest: Manifest) -> Iterator[Cause]:
    for finalizer in (manifest.get("spec") or {}).get("finalizers") or ():
        yield from _finalizer(finalizer, "spec.finalizers")


def _finalizer(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validateFinalizerName reports."""
    yield from check_name(names.qualified_name, name, path)
    yield from check_standard_finalizer(name, path)


def _keep_finalizers(new: Manifest, old: Manifest) -> Manifest:
    """Return the namespace with its finalizers, which only the subresource ``finalize`` changes."""
    spec = with_field(new.get("spec", {}), old.get("spec", {}), "finalizers")
    return {**new, "spec": spec if spec.get("finalizers") else without_field(spec, "finalizers")}


def _validate_status(new: Manifest, old: Manifest) -> Iterator[Cause]:
    phase = new.get("status", {}).get("phase", "")
    if is_terminating(old) and phase != "Terminating":
        yield invalid("status.Phase", phase, "may only be 'Terminating' if `deletionTimestamp` is not empty")
    elif not is_terminating(old) and phase != "Active":
        yield invalid("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty")


def _validate_finalizers(new: Manifest, _: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateNamespaceFinalizeUpdate reports."""
    for index, finalizer in enumerate(new.get("spec", {}).get("finalizers") or ()):
        yield from _finalizer(finalizer, f"spec.finalizers[{index}]")


NAMESPACE_STRATEGY: Final = Strategy(
    resource=NAMESPACES,
    first_objects=[
        {"apiVersion": NAMESPACES.api_version, "kind": NAMESPACES.kind, "metadata": {"name": name}}
        for name in BUILT_IN_NAMESPACES
    ],
    set_defaults=_set_defaults,
    first_phase="Active",
    prepare_for_create=_prepare,
    name_rule=names.dns_label,
    validate=_validate,
    prepare_for_update=_keep_finalizers,
    subresources={
        "status": status_strategy(_validate_status),
        "finalize": Subresource(
            prepare_for_update=lambda new, old: with_field(new, old, "status"),
            validate_update=_validate_finalizers,
            update_order="UC",
        ),
    },
    undeletable=dict.fromkeys(BUILT_IN_NAMESPACES, "this namespace may not be deleted"),
    has_finalizers_in_spec=True,
    is_shown_when_deleted=True,
    printer=printer_of(
        NAME, Column("Status", "The status of the namespace", cell=lambda item, _: phase_of(item)), AGE
    ),
    fields=("status.phase",),
)

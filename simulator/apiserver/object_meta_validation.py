"""Validation of the metadata that all kinds have.

Upstream: ValidateObjectMetaAccessor in apimachinery/pkg/api/validation/objectmeta.go, v1.34."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.annotation_validation import validate_annotations
from simulator.apiserver.field_checks import NOT_NEGATIVE, NameRule, check_name
from simulator.apiserver.selector_validation import validate_labels
from simulator.apiserver.status import Cause, forbidden, invalid, required

_OWNER: Final[tuple[str, ...]] = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
_NOT_OF_TEMPLATES: Final = (
    *("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
    *("ownerReferences", "finalizers", "managedFields"),
)
"""The fields of metadata that a template of an object without pods may not have, in the order of Go."""
_EXCLUSIVE_FINALIZERS: Final = ("orphan", "foregroundDeletion")
_STANDARD_FINALIZERS: Final = ("kubernetes", *_EXCLUSIVE_FINALIZERS)


def validate_object_meta(
    metadata: dict[str, Any], rule: NameRule, *, namespaced: bool = True
) -> Iterator[Cause]:
    """Yield the faults of metadata. ``rule``: of the name."""
    yield from _meta_faults(metadata, rule, "metadata", namespaced=namespaced)


def validate_embedded_meta(metadata: dict[str, Any], path: str) -> Iterator[Cause]:
    """Yield the faults of the metadata of a resource within another one, which needs no name."""
    named = {**metadata, "name": metadata.get("name") or "fakename"}
    yield from _meta_faults(named, names.path_segment, path, namespaced=True)


def _meta_faults(metadata: dict[str, Any], rule: NameRule, path: str, *, namespaced: bool) -> Iterator[Cause]:
    yield from _names(metadata, rule, path)
    namespace = metadata.get("namespace")
    if not namespaced:
        if namespace:
            yield forbidden(f"{path}.namespace", "not allowed on this type")
    elif namespace:
        yield from check_name(names.dns_label, namespace, f"{path}.namespace")
    if metadata.get("generation", 0) < 0:
        yield invalid(f"{path}.generation", metadata["generation"], NOT_NEGATIVE)
    yield from validate_labels(metadata.get("labels", {}), f"{path}.labels")
    yield from validate_annotations(metadata.get("annotations", {}), f"{path}.annotations")
    yield from _owner_references(metadata.get("ownerReferences", ()), f"{path}.ownerReferences")
    yield from _finalizers(metadata.get("finalizers", ()), f"{path}.finalizers")


def validate_finalizers(metadata: dict[str, Any]) -> Iterator[Cause]:
    """Yield the finalizers that objects of Kubernetes may not have (ValidateObjectMeta in
    pkg/apis/core/validation/validation.go)."""
    for index, finalizer in enumerate(metadata.get("finalizers", ())):
        yield from check_standard_finalizer(finalizer, f"metadata.finalizers[{index}]")


def check_standard_finalizer(name: str, path: str) -> Iterator[Cause]:
    """Yield the faults that validateKubeFinalizerName reports."""
    if "/" not in name and name not in _STANDARD_FINALIZERS:
        yield invalid(path, name, "name is neither a standard finalizer name nor is it fully qualified")


def validate_template_metadata(
    metadata: dict[str, Any], path: str, *, as_in_go: bool = True
) -> Iterator[Cause]:
    """Yield the faults of metadata that is copied to objects, which have names of their own
    (ValidateTemplateObjectMeta in pkg/apis/core/validation/validation.go). ``as_in_go``: paths begin the
    names of the fields with a capital letter."""
    yield from validate_annotations(metadata.get("annotations", {}), f"{path}.annotations")
    yield from validate_labels(metadata.get("labels", {}), f"{path}.labels")
    for field in _NOT_OF_TEMPLATES:
        if metadata.get(field):
            shown = "uID" if field == "uid" else field
            shown = f"{shown[0].upper()}{shown[1:]}" if as_in_go else shown
            yield forbidden(f"{path}.{shown}", "cannot be set")


def _names(metadata: dict[str, Any], rule: NameRule, path: str) -> Iterator[Cause]:
    prefix, name = metadata.get("generateName", ""), metadata.get("name", "")
    if prefix:
        shown = prefix if rule is names.path_segment else names.with_masked_dash(prefix)
        yield from (invalid(f"{path}.generateName", prefix, problem) for problem in rule(shown))
    if not name:
        yield required(f"{path}.name", "name or generateName is required")
    else:
        yield from check_name(rule, name, f"{path}.name")


def _owner_references(references: Sequence[Manifest], path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateOwnerReferences reports. Upstream leaves out the index of the
    reference."""
    shown = [{field: owner[field] for field in _OWNER if field in owner} for owner in references]
    first = ""
    for reference, struct in zip(references, shown, strict=True):
        yield from _owner_reference(reference, struct, path)
        if not reference.get("controller"):
            continue
        name = f"{reference['kind']}/{reference['name']}"
        if first:
            detail = (
                'Only one reference can have Controller set to true. Found "true" in references for '
                f"{first} and {name}"
            )
            yield invalid(path, shown, detail, whole=True)
        first = first or name


def _owner_reference(reference: Manifest, struct: Manifest, path: str) -> Iterator[Cause]:
    version = reference["apiVersion"]
    # More than one slash is no version at all.
    if not version.rpartition("/")[2] or version.count("/") > 1:
        yield invalid(f"{path}.apiVersion", version, "version must not be empty")
    for field in ("kind", "name", "uid"):
        if not reference[field]:
            yield invalid(f"{path}.{field}", reference[field], "must not be empty")
    if (version, reference["kind"]) == ("v1", "Event"):
        yield invalid(path, struct, "/v1, Kind=Event is disallowed from being an owner", whole=True)


def _finalizers(finalizers: Sequence[str], path: str) -> Iterator[Cause]:
    for finalizer in finalizers:
        yield from check_name(names.qualified_name, finalizer, path)
    if all(each in finalizers for each in _EXCLUSIVE_FINALIZERS):
        first, second = _EXCLUSIVE_FINALIZERS
        yield invalid(path, finalizers, f"finalizer {first} and {second} cannot be both set")

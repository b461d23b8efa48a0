"""Validation of the metadata that all kinds have, and of its changes by an update.

Upstream: ValidateObjectMetaAccessor and ValidateObjectMetaAccessorUpdate in
apimachinery/pkg/api/validation/objectmeta.go. The annotations of schedviz (prefix ``schedviz/``) are
validated here too."""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import NOT_NEGATIVE, NameRule, check_name
from simulator.apiserver.selector_validation import validate_labels
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required, too_long
from simulator.objects.device_features import DeviceNotationError
from simulator.objects.device_notation import DEVICES, parse_devices
from simulator.objects.node_status import FAILED_SINCE
from simulator.objects.pod import FAIL_AT
from simulator.objects.timestamps import NO_TIMESTAMP, is_timestamp

MAX_ANNOTATIONS_BYTES = 256 * 1024
"""The maximum size of all annotations (TotalAnnotationSizeLimitB)."""
SECONDS_ANNOTATIONS = (
    "schedviz/run-seconds",
    "schedviz/fail-after-seconds",
    "schedviz/ready-after-seconds",
    "schedviz/stop-seconds",
    "schedviz/ttl-seconds-after-finished",
    "schedviz/provision-seconds",
)
"""Annotations of schedviz that hold seconds. The simulated kubelet and provisioner read them."""
FAULT_POINTS = (
    *("PreFilter", "Filter", "PostFilter", "PreScore", "Score"),
    *("Reserve", "Permit", "PreBind", "Bind"),
)
"""The extension points of annotations for faults. PostBind is none of them: its plugins return no status, so
a failure there would have no effect."""
_OWNER: Final[tuple[str, ...]] = ("apiVersion", "kind", "name", "uid", "controller", "blockOwnerDeletion")
_NOT_OF_TEMPLATES: Final = (
    *("name", "generateName", "namespace", "selfLink", "uid", "resourceVersion", "generation"),
    *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
    *("ownerReferences", "finalizers", "managedFields"),
)
"""The fields of metadata that a template of an object without pods may not have, in the order of Go."""
_EXCLUSIVE_FINALIZERS: Final = ("orphan", "foregroundDeletion")
_STANDARD_FINALIZERS: Final = ("kubernetes", *_EXCLUSIVE_FINALIZERS)
_DELETION: Final = ("deletionTimestamp", "deletionGracePeriodSeconds")


def validate_annotations(given: dict[str, str], path: str) -> Iterator[Cause]:
    if not given:
        return
    for key in given:
        yield from check_name(names.annotation_key, key, path)
    if sum(len(key.encode()) + len(text.encode()) for key, text in given.items()) > MAX_ANNOTATIONS_BYTES:
        yield too_long(path, MAX_ANNOTATIONS_BYTES)
    for key in SECONDS_ANNOTATIONS:
        if key in given and not re.fullmatch("[0-9]{1,9}", given[key], re.ASCII):
            yield invalid(f"{path}[{key}]", given[key], "must be a whole number of seconds")
    fail_at = given.get(FAIL_AT, "")
    if fail_at and fail_at not in FAULT_POINTS:
        yield not_supported(f"{path}[{FAIL_AT}]", fail_at, FAULT_POINTS)
    try:
        parse_devices(given.get(DEVICES, ""))
    except DeviceNotationError as error:
        yield invalid(f"{path}[{DEVICES}]", given[DEVICES], str(error))
    since = given.get(FAILED_SINCE)
    if since is not None and not is_timestamp(since):
        yield invalid(f"{path}[{FAILED_SINCE}]", since, NO_TIMESTAMP)


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


def validate_metadata_update(given: dict[str, Any], old: Manifest) -> Iterator[Cause]:
    """Yield the faults of the metadata that a client asks for."""
    yield from _new_finalizers(given, old)
    uid = given.get("uid")
    if uid and uid != old["metadata"]["uid"]:
        yield invalid("metadata.uid", uid, "field is immutable")
    yield from _deletion(given, old)


def _new_finalizers(given: dict[str, Any], old: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateNoNewFinalizers reports."""
    if "deletionTimestamp" not in old["metadata"]:
        return
    known = old["metadata"].get("finalizers", ())
    added = [name for name in given.get("finalizers") or () if name not in known]
    if added:
        shown = ", ".join(f'"{name}"' for name in sorted(added))
        yield forbidden(
            "metadata.finalizers",
            "no new finalizers can be added if the object is being deleted, found new finalizers "
            f"[]string{{{shown}}}",
        )


def _deletion(given: dict[str, Any], old: Manifest) -> Iterator[Cause]:
    """Yield the faults of the deletion time: a client cannot set it, and may leave it out."""
    for field in _DELETION:
        value, known = given.get(field), old["metadata"].get(field)
        if value is not None and value != known and (known is None or field != "deletionTimestamp"):
            yield invalid(f"metadata.{field}", value, "field is immutable")

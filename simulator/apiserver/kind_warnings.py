"""Warnings about single kinds that have nothing to do with pods (WarningsOnCreate and WarningsOnUpdate of the
strategies in pkg/registry, v1.34)."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.custom_resources.text_formats import is_known_format
from simulator.apiserver.deprecated_labels import DEPRECATED_LABELS
from simulator.apiserver.volume_warnings import claim_spec_warnings
from simulator.kernel.go_text import quote

_OF_PODS: Final = "this is used in Pod names and hostnames"
_USES_OF_NAMES: Final = {
    "pods": "this is used in the Pod's hostname",
    "cronjobs.batch": _OF_PODS,
    "deployments.apps": _OF_PODS,
    "jobs.batch": _OF_PODS,
    "replicasets.apps": _OF_PODS,
    "replicationcontrollers": _OF_PODS,
}


def name_warnings(resource_id: str, manifest: Manifest) -> Iterator[str]:
    """Yield the warning about a name that is no DNS label, of a new object that makes pods."""
    problems = names.dns_label(manifest["metadata"].get("name", ""))
    if problems and resource_id in _USES_OF_NAMES:
        yield (
            f"metadata.name: {_USES_OF_NAMES[resource_id]}, which can result in surprising behavior; "
            f"a DNS label is recommended: [{' '.join(problems)}]"
        )


def definition_warnings(manifest: Manifest, old: Manifest | None = None) -> Iterator[str]:
    """Yield the formats of texts that Kubernetes does not have; after an update of ``old``, those that are
    new."""
    known = set() if old is None else {*_formats_of(old)}
    for form in dict.fromkeys(_formats_of(manifest)):
        if form not in known:
            yield f"unrecognized format {quote(form)}"


def finalizer_warnings(manifest: Manifest, old: Manifest | None = None) -> Iterator[str]:
    """Yield a warning about each finalizer of a custom resource that others may use, too; after an update of
    ``old``, about new ones only (generateWarningsFromObj in customresource/strategy.go)."""
    known = (old or {}).get("metadata", {}).get("finalizers") or ()
    for finalizer in sorted({*(manifest["metadata"].get("finalizers") or ())} - {*known}):
        if "/" not in finalizer:
            yield (
                f"metadata.finalizers: {quote(finalizer)}: prefer a domain-qualified finalizer name "
                "including a path (/) to avoid accidental conflicts with other finalizer writers"
            )


def _formats_of(definition: Manifest) -> Iterator[str]:
    for version in definition["spec"].get("versions") or ():
        yield from _unknown_formats((version.get("schema") or {}).get("openAPIV3Schema"))


def _unknown_formats(schema: Any) -> Iterator[str]:
    """Yield the unknown formats in a schema (SchemaHas in
    apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go)."""
    if not isinstance(schema, dict):
        return
    form = schema.get("format")
    if schema.get("type") == "string" and form and not is_known_format(form):
        yield form
    for field in ("items", "allOf", "anyOf", "oneOf", "not", "additionalProperties"):
        value = schema.get(field)
        for each in value if isinstance(value, list) else (value,):
            yield from _unknown_formats(each)
    for each in (schema.get("properties") or {}).values():
        yield from _unknown_formats(each)


def _runtime_class(manifest: Manifest) -> Iterator[str]:
    for label in (manifest.get("scheduling") or {}).get("nodeSelector") or ():
        if label in DEPRECATED_LABELS:
            yield f"scheduling.nodeSelector: {DEPRECATED_LABELS[label]}"


def stateful_set_warnings(manifest: Manifest, *, is_new: bool) -> Iterator[str]:
    """Yield the warnings that are not about the template. After an update, upstream writes another path of
    the claims."""
    for index, claim in enumerate(manifest["spec"].get("volumeClaimTemplates") or ()):
        path = f"spec.volumeClaimTemplates[{index}]" + ("" if is_new else ".Spec")
        yield from claim_spec_warnings(claim.get("spec") or {}, path)
    if manifest["spec"].get("revisionHistoryLimit", 0) < 0:
        yield (
            "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is "
            "recommended"
        )


KIND_WARNINGS: Final[dict[str, Callable[[Manifest], Iterator[str]]]] = {
    "runtimeclasses.node.k8s.io": _runtime_class,
}

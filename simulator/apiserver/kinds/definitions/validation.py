"""Validation of CustomResourceDefinitions.

Upstream: ValidateCustomResourceDefinition and ValidateCustomResourceDefinitionUpdate in
apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, v1.34.
"""

from collections.abc import Iterator
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.definition_conditions import has_condition
from simulator.apiserver.field_checks import IMMUTABLE
from simulator.apiserver.go_structs import definition_struct
from simulator.apiserver.kinds.definitions.approval import approval_faults, approval_of
from simulator.apiserver.kinds.definitions.internal_spec import (
    InternalSpec,
    to_internal_spec,
)
from simulator.apiserver.kinds.definitions.versions import validate_section
from simulator.apiserver.resource import is_built_in_group
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required

_SCOPES: Final = ("Cluster", "Namespaced")
_STRATEGIES: Final = ("None", "Webhook")


def validate_definition(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults of a new definition."""
    spec = manifest["spec"]
    wanted = f"{spec['names']['plural']}.{spec['group']}"
    name = manifest["metadata"].get("name", "")
    if name != wanted:
        yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
    yield from _validate_spec(spec)
    yield from _stored_version_faults(manifest)
    yield from approval_faults(manifest)
    yield from _preservation_faults(spec)


def validate_definition_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults of an update."""
    spec, before = new["spec"], old["spec"]
    if spec != before:
        yield from _validate_spec(spec)
    fields = [
        ("group", spec["group"], before["group"]),
        ("names.plural", spec["names"]["plural"], before["names"]["plural"]),
    ]
    if has_condition(old, "Established", "True"):
        fields[:0] = [
            ("scope", spec["scope"], before["scope"]),
            ("names.kind", spec["names"]["kind"], before["names"]["kind"]),
        ]
    for field, value, known in fields:
        if value != known:
            yield invalid(f"spec.{field}", value, IMMUTABLE)
    yield from _stored_version_faults(new)
    if approval_of(new) != approval_of(old):
        yield from approval_faults(new)
    if not before.get("preserveUnknownFields"):
        yield from _preservation_faults(spec)


def validate_definition_status(new: Manifest, _: Manifest) -> Iterator[Cause]:
    """Yield the faults of an update of the status."""
    yield from _name_faults((new.get("status") or {}).get("acceptedNames") or {}, "status.acceptedNames")


def _validate_spec(spec: Manifest) -> Iterator[Cause]:
    group, scope = spec["group"], spec["scope"]
    if not group:
        yield required("spec.group")
    elif problems := names.dns_subdomain(group):
        yield invalid("spec.group", group, ",".join(problems))
    elif "." not in group:
        yield invalid("spec.group", group, "should be a domain with at least one dot")
    elif is_built_in_group(group):
        yield invalid("spec.group", group, "is a group of Kubernetes")
    if not scope:
        yield required("spec.scope")
    elif scope not in _SCOPES:
        yield not_supported("spec.scope", scope, _SCOPES)
    internal = to_internal_spec(spec)
    yield from _version_faults(spec, internal)
    yield from _missing_names(spec["names"], "spec.names")
    yield from _name_faults(spec["names"], "spec.names")
    yield from validate_section(internal.shared)
    yield from _conversion_faults(spec.get("conversion") or {}, "spec.conversion")


def _version_faults(spec: Manifest, internal: InternalSpec) -> Iterator[Cause]:
    for section in internal.versions:
        if internal.shared.schema is None and section.schema is None:
            yield required(section.schema_path, "schemas are required")
    if spec.get("preserveUnknownFields") and _has_default(spec.get("versions")):
        detail = "must be false in order to use defaults in the schema"
        yield invalid("spec.preserveUnknownFields", True, detail)
    for section in internal.versions:
        name = section.fields.get("name", "")
        if problems := names.service_name(name):
            yield invalid(f"{section.path}.name", name, ",".join(problems))
        yield from validate_section(section)
    known = [section.fields.get("name", "") for section in internal.versions]
    printed = [
        definition_struct("CustomResourceDefinitionVersion", section.fields) for section in internal.versions
    ] or None
    if len(set(known)) < len(known):
        yield invalid("spec.versions", printed, "must contain unique version names", whole=True)
    if sum(bool(section.fields.get("storage")) for section in internal.versions) != 1:
        detail = "must have exactly one version marked as storage version"
        yield invalid("spec.versions", printed, detail, whole=True)


def _has_default(value: object) -> bool:
    match value:
        case dict():
            return value.get("default") is not None or any(map(_has_default, value.values()))
        case list():
            return any(map(_has_default, value))
    return False


def _missing_names(of: Manifest, path: str) -> Iterator[Cause]:
    for field in ("plural", "singular", "kind", "listKind"):
        if not of.get(field):
            yield required(f"{path}.{field}")


def _name_faults(of: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that ValidateCustomResourceDefinitionNames reports."""
    for field in ("plural", "singular", "kind", "listKind"):
        text = of.get(field) or ""
        is_kind = field in ("kind", "listKind")
        problems = names.service_name(text.lower() if is_kind else text) if text else []
        if problems:
            prefix = "may have mixed case, but should otherwise match: " if is_kind else ""
            yield invalid(f"{path}.{field}", text, prefix + ",".join(problems))
    yield from _each_name(of, "shortNames", path)
    if of.get("kind") and of["kind"] == of.get("listKind"):
        yield invalid(f"{path}.listKind", of["kind"], "kind and listKind may not be the same")
    yield from _each_name(of, "categories", path)


def _each_name(of: Manifest, field: str, path: str) -> Iterator[Cause]:
    for index, text in enumerate(of.get(field) or ()):
        if problems := names.service_name(text):
            yield invalid(f"{path}.{field}[{index}]", text, ",".join(problems))


def _conversion_faults(conversion: Manifest, path: str) -> Iterator[Cause]:
    strategy, webhook = conversion.get("strategy", ""), conversion.get("webhook") or {}
    client, versions = webhook.get("clientConfig"), webhook.get("conversionReviewVersions") or []
    if not conversion:
        return
    if not strategy:
        yield required(f"{path}.strategy")
    elif strategy not in _STRATEGIES:
        yield not_supported(f"{path}.strategy", strategy, _STRATEGIES)
    if strategy != "Webhook":
        if client is not None:
            detail = "should not be set when strategy is not set to Webhook"
            yield forbidden(f"{path}.webhookClientConfig", detail)
        if versions:
            detail = "should not be set when strategy is not set to Webhook"
            yield forbidden(f"{path}.conversionReviewVersions", detail)
        return
    if client is None:
        yield required(f"{path}.webhookClientConfig", "required when strategy is set to Webhook")
    if not versions:
        yield required(f"{path}.conversionReviewVersions")


def _stored_version_faults(definition: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateCustomResourceDefinitionStoredVersions reports."""
    path, stored = "status.storedVersions", (definition.get("status") or {}).get("storedVersions") or []
    versions = definition["spec"].get("versions") or []
    if not stored:
        yield invalid(path, None, "must have at least one stored version")
        return
    for version in versions:
        if version.get("storage") and version["name"] not in stored:
            yield invalid(path, stored, f"must have the storage version {version['name']}")
    kept = {version["name"] for version in versions}
    for index, name in enumerate(stored):
        if name not in kept:
            detail = (
                f"missing from spec.versions; {name} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {name} and "
                f"removes {name} from status.storedVersions"
            )
            yield invalid(f"{path}[{index}]", name, detail)


def _preservation_faults(spec: Manifest) -> Iterator[Cause]:
    if spec.get("preserveUnknownFields"):
        detail = (
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema "
            "instead"
        )
        yield invalid("spec.preserveUnknownFields", True, detail)

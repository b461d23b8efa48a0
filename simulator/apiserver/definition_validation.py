"""Validation of CustomResourceDefinitions.

Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go, v1.34.
"""

from collections.abc import Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.custom_resources.rules import RULES, compile_message, compile_rule
from simulator.apiserver.field_checks import IMMUTABLE, check_name
from simulator.apiserver.resources import BUILT_IN_GROUPS
from simulator.apiserver.status import Cause, invalid, not_supported, required

_REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")


def validate_definition(manifest: Manifest) -> Iterator[Cause]:
    """Yield the faults of a definition: its names, and the rules of its schemas."""
    spec = manifest["spec"]
    group, given = spec["group"], spec["names"]
    if manifest["metadata"].get("name") != f"{given['plural']}.{group}":
        name = manifest["metadata"].get("name", "")
        yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
    if not group:
        yield required("spec.group")
    elif names.dns_subdomain(group):
        yield from check_name(names.dns_subdomain, group, "spec.group")
    elif "." not in group or group in BUILT_IN_GROUPS:
        yield invalid(
            "spec.group", group, "should be a domain with at least one dot, and not one of Kubernetes'"
        )
    for field, text in (("plural", given["plural"]), ("kind", given["kind"].lower())):
        for problem in names.service_name(text):
            yield invalid(f"spec.names.{field}", given[field], problem)
    if spec["scope"] not in ("Cluster", "Namespaced"):
        yield not_supported("spec.scope", spec["scope"], ("Cluster", "Namespaced"))
    if not spec["versions"]:
        yield required("spec.versions")
    for index, version in enumerate(spec["versions"]):
        yield from check_name(names.service_name, version["name"], f"spec.versions[{index}].name")
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if isinstance(schema, dict):
            yield from _rules(schema, f"spec.versions[{index}].schema.openAPIV3Schema")


def validate_definition_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield what of an update may not change: the names of an established definition, and the versions in
    which objects were stored."""
    spec, before = new["spec"], old["spec"]
    pairs = (
        ("scope", spec["scope"], before["scope"]),
        ("names.kind", spec["names"]["kind"], before["names"]["kind"]),
        ("group", spec["group"], before["group"]),
        ("names.plural", spec["names"]["plural"], before["names"]["plural"]),
    )
    for field, value, known in pairs:
        if value != known:
            yield invalid(f"spec.{field}", value, IMMUTABLE)
    kept = {version["name"] for version in spec["versions"]}
    for index, stored in enumerate((old.get("status") or {}).get("storedVersions") or ()):
        if stored not in kept:
            detail = (
                f"missing from spec.versions; {stored} was previously a storage version, and must remain in "
                f"spec.versions until a storage migration ensures no data remains persisted in {stored} and "
                f"removes {stored} from status.storedVersions"
            )
            yield invalid(f"status.storedVersions[{index}]", stored, detail)


def _rules(schema: dict[str, Any], path: str) -> Iterator[Cause]:
    """Yield the rules of a schema and of those below it that do not compile."""
    for index, rule in enumerate(schema.get(RULES) or ()):
        yield from _rule(schema, rule, f"{path}.{RULES}[{index}]")
    for name, field in sorted((schema.get("properties") or {}).items()):
        if isinstance(field, dict):
            yield from _rules(field, f"{path}.properties[{name}]")
    for name in ("items", "additionalProperties"):
        if isinstance(schema.get(name), dict):
            yield from _rules(schema[name], f"{path}.{name}")


def _rule(schema: dict[str, Any], rule: dict[str, Any], path: str) -> Iterator[Cause]:
    if not str(rule.get("rule", "")).strip():
        yield required(f"{path}.rule", "rule is not specified")
        return
    if "\n" in str(rule.get("message", "")).strip():
        yield invalid(f"{path}.message", rule["message"], "message must not contain line breaks")
    if rule.get("reason") not in (None, *_REASONS):
        yield not_supported(f"{path}.reason", rule["reason"], _REASONS)
    if error := compile_rule(schema, rule).error:
        yield invalid(f"{path}.rule", rule, error)
    elif rule.get("messageExpression") and (error := compile_message(schema, rule).error):
        yield invalid(f"{path}.messageExpression", rule, error)

"""Validation of CustomResourceDefinitions.

Upstream: ValidateCustomResourceDefinition and ValidateCustomResourceDefinitionUpdate in
apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go. The client of a conversion
webhook is not checked: nothing calls it.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.field_checks import NameRule
from simulator.apiserver.go_structs import definition_struct
from simulator.apiserver.kinds.definitions.conditions import approval_faults, approval_of, has_condition
from simulator.apiserver.kinds.definitions.rules import NO_EXPRESSIONS, Expressions
from simulator.apiserver.kinds.definitions.versions import (
    expressions_of,
    to_internal_spec,
    validate_section,
)
from simulator.apiserver.resource import is_built_in_group
from simulator.apiserver.shapes import (
    PartRule,
    Rule,
    all_of,
    each,
    field,
    filled,
    must_have,
    needed,
    one_of,
    wrong,
)
from simulator.apiserver.status import Cause, invalid, required
from simulator.apiserver.update_shapes import immutable


def _joined(rule: NameRule, prefix: str = "") -> PartRule:
    """A name follows a rule; all its problems are one fault."""

    def check(value: Any, path: str) -> list[Cause]:
        problems = rule(value)
        return [invalid(path, value, prefix + ",".join(problems))] if problems else []

    return check


_LABEL: Final = _joined(names.service_name)
_KIND: Final = _joined(
    lambda name: names.service_name(name.lower()), "may have mixed case, but should otherwise match: "
)


def _kinds_differ(of: Manifest, path: str) -> Iterator[Cause]:
    if of.get("kind") and of["kind"] == of.get("listKind"):
        yield invalid(f"{path}.listKind", of["kind"], "kind and listKind may not be the same")


_NAMES: Final = all_of(
    *(filled(name, _LABEL) for name in ("plural", "singular")),
    *(filled(name, _KIND) for name in ("kind", "listKind")),
    each("shortNames", _LABEL),
    _kinds_differ,
    each("categories", _LABEL),
)
"""ValidateCustomResourceDefinitionNames."""


def _check_group(group: str, path: str) -> Iterator[Cause]:
    if problems := names.dns_subdomain(group):
        yield invalid(path, group, ",".join(problems))
    elif "." not in group:
        yield invalid(path, group, "should be a domain with at least one dot")
    elif is_built_in_group(group):
        yield invalid(path, group, "is a group of Kubernetes")


def _check_versions(spec: Manifest, path: str, stored: Expressions) -> Iterator[Cause]:
    (shared, versions), path = to_internal_spec(spec, stored), f"{path}.versions"
    for section in versions:
        if shared.schema is None and section.schema is None:
            yield required(section.schema_path, "schemas are required")
    for section in versions:
        yield from _LABEL(section.fields.get("name", ""), f"{section.path}.name")
        yield from validate_section(section)
    problems = []
    if len({section.fields.get("name", "") for section in versions}) < len(versions):
        problems.append("must contain unique version names")
    if sum(bool(section.fields.get("storage")) for section in versions) != 1:
        problems.append("must have exactly one version marked as storage version")
    for problem in problems:
        structs = [
            definition_struct("CustomResourceDefinitionVersion", section.fields) for section in versions
        ]
        yield invalid(path, structs or None, problem, whole=True)


def _check_stored_versions(manifest: Manifest, _: str = "") -> Iterator[Cause]:
    """ValidateCustomResourceDefinitionStoredVersions."""
    path, stored = "status.storedVersions", (manifest.get("status") or {}).get("storedVersions") or []
    versions = manifest["spec"].get("versions") or []
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


def _check_name(manifest: Manifest, _: str) -> Iterator[Cause]:
    spec, name = manifest["spec"], manifest["metadata"].get("name", "")
    if name != f"{spec['names']['plural']}.{spec['group']}":
        yield invalid("metadata.name", name, 'must be spec.names.plural+"."+spec.group')


def _spec_rule(stored: Expressions) -> Rule:
    """Return the rule for the spec. ``stored``: the expressions of the definition that is updated."""
    return field(
        "spec",
        needed("group", _check_group),
        needed("scope", one_of(("Cluster", "Namespaced"))),
        lambda spec, path: _check_versions(spec, path, stored),
        field("names", must_have("plural", "singular", "kind", "listKind"), _NAMES),
        lambda spec, _: validate_section(to_internal_spec(spec, stored)[0]),
        field("conversion", needed("strategy", one_of(("None", "Webhook")))),
    )


_NOT_PRESERVING: Final = filled(
    "spec.preserveUnknownFields",
    wrong(
        "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema "
        "instead"
    ),
)
validate_definition: Final = all_of(
    _check_name, _spec_rule(NO_EXPRESSIONS), _check_stored_versions, approval_faults, _NOT_PRESERVING
)
_SAME_IF_ESTABLISHED: Final = immutable("spec.scope", "spec.names.kind")
_SAME: Final = immutable("spec.group", "spec.names.plural")
_STATUS: Final = field("status.acceptedNames", _NAMES)


def validate_definition_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults of an update."""
    if new["spec"] != old["spec"]:
        yield from _spec_rule(expressions_of(old["spec"]))(new)
    if has_condition(old, "Established", "True"):
        yield from _SAME_IF_ESTABLISHED(new, old)
    yield from _SAME(new, old)
    yield from _check_stored_versions(new)
    if approval_of(new) != approval_of(old):
        yield from approval_faults(new)
    if not old["spec"].get("preserveUnknownFields"):
        yield from _NOT_PRESERVING(new)


def validate_definition_status(new: Manifest, _: Manifest) -> Iterable[Cause]:
    """Return the faults of an update of the status."""
    return _STATUS(new)

"""Validation of what policies and webhooks of admission have in common: the rules that say which requests
they are about, and match conditions.

Upstream: pkg/apis/admissionregistration/validation/validation.go, v1.34.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.enumerations import OPERATIONS, SCOPES
from simulator.apiserver.field_checks import check_name, too_many
from simulator.apiserver.policies.expressions import Compiler
from simulator.apiserver.status import Cause, duplicate, invalid, not_supported, required
from simulator.cel.expression import Expression

_MAX_CONDITIONS: Final = 64


def check_one_of(value: str | None, choices: Sequence[str], path: str) -> Iterator[Cause]:
    """Yield the fault of a field that has none of the allowed values. It may be missing."""
    if value is not None and value not in choices:
        yield not_supported(path, value, choices)


def validate_rule(rule: Manifest, path: str) -> Iterator[Cause]:
    """Yield the faults that validateRuleWithOperations reports."""
    operations = rule.get("operations") or []
    if not operations:
        yield required(f"{path}.operations")
    if len(operations) > 1 and "*" in operations:
        detail = "if '*' is present, must not specify other operations"
        yield invalid(f"{path}.operations", operations, detail)
    for index, operation in enumerate(operations):
        yield from check_one_of(operation, OPERATIONS, f"{path}.operations[{index}]")
    for field, shown in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
        given = rule.get(field) or []
        if not given:
            yield required(f"{path}.{field}")
        if len(given) > 1 and "*" in given:
            yield invalid(f"{path}.{field}", given, f"if '*' is present, must not specify other {shown}")
    for index, version in enumerate(rule.get("apiVersions") or ()):
        if not version:
            yield required(f"{path}.apiVersions[{index}]")
    yield from _resources(rule.get("resources") or [], f"{path}.resources")
    yield from check_one_of(rule.get("scope"), SCOPES, f"{path}.scope")


def _resources(resources: list[str], path: str) -> Iterator[Cause]:
    """Yield the faults that validateResources reports."""
    if not resources:
        yield required(path)
    of_all_subresources: set[str] = set()
    of_all_resources: set[str] = set()
    without_subresource = False
    for index, resource in enumerate(resources):
        at = f"{path}[{index}]"
        if not resource:
            yield required(at)
            continue
        name, slash, subresource = resource.partition("/")
        if not slash:
            without_subresource = resource != "*"
            continue
        if name in of_all_subresources:
            yield invalid(at, resource, f"if '{name}/*' is present, must not specify {resource}")
        if subresource in of_all_resources:
            yield invalid(at, resource, f"if '*/{subresource}' is present, must not specify {resource}")
        if subresource == "*":
            of_all_subresources.add(name)
        if name == "*":
            of_all_resources.add(subresource)
    if len(resources) > 1 and "*/*" in resources:
        yield invalid(path, resources, "if '*/*' is present, must not specify other resources")
    if "*" in resources and without_subresource:
        detail = "if '*' is present, must not specify other resources without subresources"
        yield invalid(path, resources, detail)


def validate_match_conditions(
    conditions: Sequence[Manifest], path: str, *, has_params: bool
) -> Iterator[Cause]:
    if len(conditions) > _MAX_CONDITIONS:
        yield too_many(path, len(conditions), _MAX_CONDITIONS)
    compiler, seen = Compiler(has_params=has_params), set[str]()
    for index, condition in enumerate(conditions):
        at, name, text = (
            f"{path}[{index}]",
            condition.get("name", ""),
            condition.get("expression", "").strip(),
        )
        if not text:
            yield required(f"{at}.expression")
        else:
            yield from check_compiled(compiler.condition(text), text, f"{at}.expression")
        if not name:
            yield required(f"{at}.name")
        else:
            yield from check_name(names.qualified_name, name, f"{at}.name")
            if name in seen:
                yield duplicate(f"{at}.name", name)
            seen.add(name)


def check_compiled(compiled: Expression, shown: Any, path: str) -> Iterator[Cause]:
    """Yield the faults that convertCELErrorToValidationError reports."""
    if compiled.error.startswith("program instantiation failed"):
        yield Cause(path, f"Internal error: {compiled.error}", "InternalError")
    elif compiled.error:
        yield invalid(path, shown, compiled.error)

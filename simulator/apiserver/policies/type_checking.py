"""Checks the types in the expressions of a ValidatingAdmissionPolicy against the kinds that it matches.

Upstream: apiserver/pkg/admission/plugin/policy/validating/typechecking.go, v1.34. Kinds of custom resources
are not checked.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any, Final

from simulator.api import Manifest
from simulator.apiserver.policies.expressions import Compiler
from simulator.apiserver.policies.kind_types import types_of
from simulator.apiserver.resources import BUILT_IN, Resource
from simulator.cel.types import DYN

_MAX_KINDS: Final = 10
"""The largest number of kinds of one rule that are checked (maxTypesToCheck)."""
MAX_VALIDATIONS: Final = 100
"""The largest number of validations that are checked, and of variables: each is compiled for each kind."""
_FAILED: Final = "compilation failed: "


def expression_warnings(spec: Manifest) -> list[Manifest]:
    """Return what is wrong with the expressions, as the status shows it."""
    compilers = [(kind, _compiler(spec, kind)) for kind in kinds_to_check(spec)]
    found = []
    for index, validation in enumerate((spec.get("validations") or ())[:MAX_VALIDATIONS]):
        for field in ("expression", "messageExpression"):
            text = validation.get(field)
            warnings = [*_warnings(compilers, text)] if text else []
            if warnings:
                at = f"spec.validations[{index}].{field}"
                found.append({"fieldRef": at, "warning": "\n".join(warnings)})
    return found


def kinds_to_check(spec: Manifest) -> list[Resource]:
    """Return the built-in kinds that the rules name, at most some of each rule."""
    found: set[Resource] = set()
    for rule in (spec.get("matchConstraints") or {}).get("resourceRules") or ():
        of_rule = [*_kinds_of(rule)][:_MAX_KINDS]
        found.update(of_rule)
        if len(of_rule) == _MAX_KINDS:
            break
    return sorted(found, key=lambda each: (each.group, each.version, each.kind))


def _kinds_of(rule: dict[str, Any]) -> Iterator[Resource]:
    groups, versions = rule.get("apiGroups") or (), rule.get("apiVersions") or ()
    if any("*" in each for each in (*groups, *versions)):
        return
    plurals = [each for each in rule.get("resources") or () if not {"*", "/"} & {*each}]
    for group, version, plural in product(sorted(groups), sorted(versions), sorted(plurals)):
        for resource in BUILT_IN:
            # Upstream looks for the core group's resources in all groups.
            is_named = (resource.version, resource.plural) == (version, plural)
            if is_named and group in ("", resource.group):
                yield resource


def _warnings(compilers: list[tuple[Resource, Compiler]], expression: str) -> Iterator[str]:
    for kind, compiler in compilers:
        error = compiler.any(expression).error
        if error.startswith(_FAILED):
            yield f"{kind.group}/{kind.version}, Kind={kind.kind}: {error.removeprefix(_FAILED)}\n"


def _compiler(spec: Manifest, kind: Resource) -> Compiler:
    object_type, objects = types_of(kind)
    of_params, params_type = spec.get("paramKind"), DYN
    params = of_params and (of_params["apiVersion"], of_params["kind"])
    for resource in BUILT_IN:
        if params == (resource.api_version, resource.kind):
            params_type, fields = types_of(resource)
            objects = {**objects, **fields}
    compiler = Compiler(
        has_params=of_params is not None, object_type=object_type, params_type=params_type, objects=objects
    )
    compiler.expect_variables()
    for variable in (spec.get("variables") or ())[:MAX_VALIDATIONS]:
        compiler.add_variable(variable["name"], variable["expression"])
    return compiler

"""Validation of ValidatingAdmissionPolicies and their bindings.

Upstream: pkg/apis/admissionregistration/validation/validation.go, v1.34.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import names
from simulator.apiserver.admission_rule_validation import (
    check_compiled,
    check_one_of,
    validate_match_conditions,
    validate_rule,
)
from simulator.apiserver.condition_validation import validate_conditions
from simulator.apiserver.enumerations import FAILURE_POLICIES, MATCH_POLICIES, VALIDATION_ACTIONS
from simulator.apiserver.field_checks import check_choice, check_name
from simulator.apiserver.policies.expressions import Compiler
from simulator.apiserver.policies.request import POLICIES, POLICY_BINDINGS
from simulator.apiserver.selector_validation import validate_label_selector
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid, not_supported, required

_NOT_FOUND_ACTIONS: Final = ("Deny", "Allow")
_REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_MAX_ANNOTATIONS: Final = 20
_MAX_ANNOTATION_EXPRESSION: Final = 5 * 1024
_ONE_ITEM: Final = "validations or auditAnnotations must contain at least one item"
_DENY_AND_WARN: Final = (
    "must not contain both Deny and Warn (repeating the same validation failure information in the API "
    "response and headers serves no purpose)"
)
_EXCLUSIVE: Final = "name and selector are mutually exclusive"
_IDENTIFIER: Final = re.compile("[_a-zA-Z][_a-zA-Z0-9]*")
_RESERVED: Final = frozenset(
    (
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function"),
        *("if", "import", "let", "loop", "package", "namespace", "return", "var", "void", "while"),
    )
)
_LINE_BREAK: Final = re.compile(r"[\n\r]")


def _policy(manifest: Manifest) -> Iterator[Cause]:
    spec, param_kind = manifest["spec"], manifest["spec"].get("paramKind")
    yield from check_choice(spec.get("failurePolicy") or "", FAILURE_POLICIES, "spec.failurePolicy")
    if param_kind is not None:
        yield from _param_kind(param_kind, "spec.paramKind")
    constraints = spec.get("matchConstraints")
    if constraints is None:
        yield required("spec.matchConstraints")
    else:
        yield from _match_resources(constraints, "spec.matchConstraints")
        if not constraints.get("resourceRules"):
            yield required("spec.matchConstraints.resourceRules")
    conditions, path = spec.get("matchConditions") or (), "spec.matchConditions"
    yield from validate_match_conditions(conditions, path, has_params=param_kind is not None)
    compiler = Compiler(has_params=param_kind is not None)
    if spec.get("variables"):
        compiler.expect_variables()
    for index, variable in enumerate(spec.get("variables") or ()):
        yield from _variable(compiler, variable, f"spec.variables[{index}]")
    validations, annotations = spec.get("validations") or (), spec.get("auditAnnotations") or ()
    if not validations and not annotations:
        yield required("spec.validations", _ONE_ITEM)
        yield required("spec.auditAnnotations", _ONE_ITEM)
        return
    for index, validation in enumerate(validations):
        yield from _validation(compiler, validation, f"spec.validations[{index}]")
    yield from _annotations(compiler, manifest["metadata"].get("name", ""), annotations)


def _param_kind(kind: Manifest, path: str) -> Iterator[Cause]:
    given, name = kind.get("apiVersion", ""), kind.get("kind", "")
    if not given:
        yield required(f"{path}.apiVersion")
    elif given.count("/") > 1:
        yield invalid(f"{path}.apiVersion", given, f"unexpected GroupVersion string: {given}")
    else:
        group, _, version = given.rpartition("/")
        if group and (problems := names.dns_subdomain(group)):
            yield invalid(f"{path}.apiVersion", group, ",".join(problems))
        if not version:
            yield invalid(f"{path}.apiVersion", given, "version must be specified")
        elif problems := names.service_name(version):
            yield invalid(f"{path}.apiVersion", version, ",".join(problems))
    if not name:
        yield required(f"{path}.kind")
    elif problems := names.service_name(name.lower()):
        detail = f"may have mixed case, but should otherwise match: {','.join(problems)}"
        yield invalid(f"{path}.kind", name, detail)


def _match_resources(resources: Manifest, path: str) -> Iterator[Cause]:
    yield from check_choice(resources.get("matchPolicy") or "", MATCH_POLICIES, f"{path}.matchPolicy")
    for field in ("namespaceSelector", "objectSelector"):
        if resources.get(field) is None:
            yield required(f"{path}.{field}")
        else:
            yield from validate_label_selector(resources[field], f"{path}.{field}")
    for field in ("resourceRules", "excludeResourceRules"):
        for index, rule in enumerate(resources.get(field) or ()):
            yield from _named_rule(rule, f"{path}.{field}[{index}]")


def _named_rule(rule: Manifest, path: str) -> Iterator[Cause]:
    seen: set[str] = set()
    for index, name in enumerate(rule.get("resourceNames") or ()):
        at = f"{path}.resourceNames[{index}]"
        yield from check_name(names.path_segment, name, at)
        if name in seen:
            yield duplicate(at, name)
        seen.add(name)
    yield from validate_rule(rule, path)


def _variable(compiler: Compiler, variable: Manifest, path: str) -> Iterator[Cause]:
    name, expression = variable.get("name", ""), variable.get("expression", "")
    if not name.strip():
        yield required(f"{path}.name", "name is not specified")
    elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
        yield invalid(f"{path}.name", name, "name is not a valid CEL identifier")
    if not expression.strip():
        yield required(f"{path}.expression", "expression is not specified")
    else:
        yield from check_compiled(compiler.add_variable(name, expression), expression, f"{path}.expression")


def _validation(compiler: Compiler, validation: Manifest, path: str) -> Iterator[Cause]:
    expression, message = validation.get("expression", ""), validation.get("message", "")
    if not expression.strip():
        yield required(f"{path}.expression", "expression is not specified")
    else:
        yield from check_compiled(compiler.condition(expression), expression, f"{path}.expression")
    of_message, at = validation.get("messageExpression", ""), f"{path}.messageExpression"
    if of_message and not of_message.strip():
        yield invalid(at, of_message, "must be non-empty if specified")
    elif of_message:
        yield from check_compiled(compiler.message(of_message), of_message, at)
    if message and not message.strip():
        yield invalid(f"{path}.message", message, "message must be non-empty if specified")
    elif _LINE_BREAK.search(message.strip()):
        yield invalid(f"{path}.message", message, "message must not contain line breaks")
    yield from check_one_of(validation.get("reason"), _REASONS, f"{path}.reason")


def _annotations(compiler: Compiler, name: str, annotations: Sequence[Manifest]) -> Iterator[Cause]:
    path, seen = "spec.auditAnnotations", set[str]()
    if len(annotations) > _MAX_ANNOTATIONS:
        yield invalid(path, annotations, f"must not have more than {_MAX_ANNOTATIONS} auditAnnotations")
    for index, annotation in enumerate(annotations):
        key, given = annotation.get("key", ""), annotation.get("valueExpression", "")
        at, text = f"{path}[{index}]", given.strip()
        if name:
            yield from check_name(names.qualified_name, f"{name}/{key}", f"{at}.key")
        else:
            yield invalid(f"{at}.key", key, "requires metadata.name be non-empty")
        if not text:
            yield required(f"{at}.valueExpression", "valueExpression is not specified")
        elif len(text.encode()) > _MAX_ANNOTATION_EXPRESSION:
            detail = f"must not exceed {_MAX_ANNOTATION_EXPRESSION} bytes in length"
            yield required(f"{at}.valueExpression", detail)
        else:
            yield from check_compiled(compiler.annotation(text), given, f"{at}.valueExpression")
        if key in seen:
            yield duplicate(f"{at}.key", key)
        seen.add(key)


def _binding(manifest: Manifest) -> Iterator[Cause]:
    spec = manifest["spec"]
    if not spec.get("policyName"):
        yield required("spec.policyName")
    else:
        yield from check_name(names.dns_subdomain, spec["policyName"], "spec.policyName")
    if spec.get("paramRef") is not None:
        yield from _param_ref(spec["paramRef"], "spec.paramRef")
    if spec.get("matchResources") is not None:
        yield from _match_resources(spec["matchResources"], "spec.matchResources")
    yield from _actions(spec.get("validationActions") or [], "spec.validationActions")


def _param_ref(reference: Manifest, path: str) -> Iterator[Cause]:
    name, selector = reference.get("name", ""), reference.get("selector")
    if name:
        yield from check_name(names.path_segment, name, f"{path}.name")
        if selector is not None:
            yield forbidden(f"{path}.name", _EXCLUSIVE)
    if selector is not None:
        yield from validate_label_selector(selector, f"{path}.selector")
        if name:
            yield forbidden(f"{path}.selector", _EXCLUSIVE)
    if not name and selector is None:
        yield required(path, "one of name or selector must be specified")
    action, at = reference.get("parameterNotFoundAction") or "", f"{path}.parameterNotFoundAction"
    yield from check_choice(action, _NOT_FOUND_ACTIONS, at, as_given=True)


def _actions(actions: list[str], path: str) -> Iterator[Cause]:
    for index, action in enumerate(actions):
        if action not in VALIDATION_ACTIONS:
            yield not_supported(f"{path}[{index}]", action, VALIDATION_ACTIONS)
        if action in actions[:index]:
            yield duplicate(f"{path}[{index}]", action)
    if "Deny" in actions and "Warn" in actions:
        yield invalid(path, actions, _DENY_AND_WARN)
    if not actions:
        yield required(path, "at least one validation action is required")


def validate_policy_status(new: Manifest, _old: Manifest) -> Iterator[Cause]:
    status = new.get("status") or {}
    warnings = (status.get("typeChecking") or {}).get("expressionWarnings") or ()
    for index, warning in enumerate(warnings):
        at = f"status.typeChecking.expressionWarnings[{index}]"
        if not warning.get("warning"):
            yield required(f"{at}.warning")
        if not warning.get("fieldRef", "").strip():
            yield required(f"{at}.fieldRef")
    yield from validate_conditions(status.get("conditions") or (), "status.conditions")


POLICY_CHECKS: Final[dict[str, Callable[[Manifest], Iterator[Cause]]]] = {
    POLICIES: _policy,
    POLICY_BINDINGS: _binding,
}

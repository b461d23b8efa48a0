"""The expressions of admission policies: what they may name, and of which types it is.

Upstream: apiserver/pkg/admission/plugin/cel/{compile,composition}.go, v1.34.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from simulator.api import Manifest
from simulator.cel.expression import Expression, compile_exactly
from simulator.cel.object_types import ObjectTypes
from simulator.cel.types import BOOL, DYN, INT, STRING, Type, parse_type

Variables = tuple[tuple[str, Type], ...]

_TEXTS: Final = Type("list", (STRING,))
_TEXT_MAP: Final = Type("map", (STRING, STRING))
_KIND: Final = Type("kubernetes.GroupVersionKind")
_RESOURCE: Final = Type("kubernetes.GroupVersionResource")
_TIMESTAMP: Final = Type("timestamp")
_VARIABLES: Final = "kubernetes.variables"
_OBJECTS: Final = ObjectTypes(
    {
        "kubernetes.AdmissionRequest": {
            "kind": _KIND,
            "resource": _RESOURCE,
            "subResource": STRING,
            "requestKind": _KIND,
            "requestResource": _RESOURCE,
            "requestSubResource": STRING,
            "name": STRING,
            "namespace": STRING,
            "operation": STRING,
            "userInfo": Type("kubernetes.UserInfo"),
            "dryRun": BOOL,
            "options": DYN,
        },
        _KIND.name: {"group": STRING, "version": STRING, "kind": STRING},
        _RESOURCE.name: {"group": STRING, "version": STRING, "resource": STRING},
        "kubernetes.UserInfo": {
            "username": STRING,
            "uid": STRING,
            "groups": _TEXTS,
            "extra": parse_type("map(string, list(string))"),
        },
        "kubernetes.Namespace": {
            "metadata": Type("kubernetes.NamespaceMetadata"),
            "spec": Type("kubernetes.NamespaceSpec"),
            "status": Type("kubernetes.NamespaceStatus"),
        },
        "kubernetes.NamespaceMetadata": {
            "name": STRING,
            "generateName": STRING,
            "namespace": STRING,
            "labels": _TEXT_MAP,
            "annotations": _TEXT_MAP,
            "UID": STRING,
            "creationTimestamp": _TIMESTAMP,
            "deletionGracePeriodSeconds": INT,
            "deletionTimestamp": _TIMESTAMP,
            "generation": INT,
            "resourceVersion": STRING,
            "finalizers": _TEXTS,
        },
        "kubernetes.NamespaceSpec": {"finalizers": _TEXTS},
        "kubernetes.NamespaceStatus": {
            "conditions": Type("list", (Type("kubernetes.NamespaceCondition"),)),
            "phase": STRING,
        },
        "kubernetes.NamespaceCondition": {
            "status": STRING,
            "type": STRING,
            "lastTransitionTime": _TIMESTAMP,
            "message": STRING,
            "reason": STRING,
        },
    }
)
_NO_TYPES: Final[Mapping[str, Mapping[str, Type]]] = {}
_ALWAYS: Final[Variables] = (
    ("namespaceObject", Type("kubernetes.Namespace")),
    ("request", Type("kubernetes.AdmissionRequest")),
)
_AUTHORIZER: Final[Variables] = (
    ("authorizer", Type("kubernetes.authorization.Authorizer")),
    ("authorizer.requestResource", Type("kubernetes.authorization.ResourceCheck")),
)
_CONDITION: Final = ("bool",)
_TEXT: Final = ("string",)
_ANNOTATION: Final = ("string", "null_type")
_SIMPLE: Final = ("bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint", "any", "null")
"""Types that a variable keeps for the expressions that name it; so do lists and maps
(convertCelTypeToDeclType)."""


class Compiler:
    """Compiles the expressions of one policy, or of one webhook."""

    def __init__(
        self,
        *,
        has_params: bool,
        object_type: Type = DYN,
        params_type: Type = DYN,
        objects: Mapping[str, Mapping[str, Type]] = _NO_TYPES,
    ) -> None:
        """``objects``: the fields of the types of the object and of the parameter."""
        self._names: Variables = (("object", object_type), ("oldObject", object_type), *_ALWAYS)
        if has_params:
            self._names += (("params", params_type),)
        self._objects = {**_OBJECTS.fields, **objects}
        self._variables: dict[str, Type] | None = None
        """The types of the variables so far; None = the policy has none."""

    def add_variable(self, name: str, expression: str) -> Expression:
        """Compile a variable, which the expressions after it may name."""
        if self._variables is None:
            self._variables = {}
        compiled = self._compile(expression, (), authorizer=True)
        self._variables[name] = _kept(compiled.result) if not compiled.error else DYN
        return compiled

    def expect_variables(self) -> None:
        """Let expressions name ``variables``, even before there is one."""
        if self._variables is None:
            self._variables = {}

    def condition(self, expression: str) -> Expression:
        return self._compile(expression, _CONDITION, authorizer=True)

    def message(self, expression: str) -> Expression:
        return self._compile(expression, _TEXT, authorizer=False)

    def annotation(self, expression: str) -> Expression:
        return self._compile(expression, _ANNOTATION, authorizer=True)

    def any(self, expression: str) -> Expression:
        """Compile an expression whose result may be anything."""
        return self._compile(expression, (), authorizer=True)

    def _compile(self, expression: str, results: tuple[str, ...], *, authorizer: bool) -> Expression:
        names = self._names + (_AUTHORIZER if authorizer else ())
        objects = self._objects
        if self._variables is not None:
            names += (("variables", Type(_VARIABLES)),)
            objects = {**objects, _VARIABLES: {**self._variables}}
        return compile_exactly(expression, names, results, ObjectTypes(objects))


def _kept(kind: Type) -> Type:
    if kind.name in _SIMPLE:
        return kind
    if kind.name in ("list", "map"):
        return Type(kind.name, tuple(map(_kept, kind.parameters)))
    return DYN


class CompiledPolicy(NamedTuple):
    """The expressions of a ValidatingAdmissionPolicy, in the order of its fields."""

    variables: dict[str, Expression]
    match_conditions: list[Expression]
    validations: list[Expression]
    messages: list[Expression | None]
    annotations: list[Expression]


def compile_policy(spec: Manifest) -> CompiledPolicy:
    """Compile a stored policy. All of its expressions may name its variables."""
    compiler = Compiler(has_params=spec.get("paramKind") is not None)
    compiler.expect_variables()
    variables = {
        each["name"]: compiler.add_variable(each["name"], each["expression"])
        for each in spec.get("variables") or ()
    }
    validations = spec.get("validations") or ()
    return CompiledPolicy(
        variables,
        [compiler.condition(text) for text in _texts(spec.get("matchConditions"), "expression")],
        [compiler.condition(text) for text in _texts(validations, "expression")],
        [
            compiler.message(each["messageExpression"]) if each.get("messageExpression") else None
            for each in validations
        ],
        [compiler.annotation(text) for text in _texts(spec.get("auditAnnotations"), "valueExpression")],
    )


def _texts(items: Iterable[Manifest] | None, field: str) -> list[str]:
    return [each[field] for each in items or ()]

"""Kubernetes' CEL library of authorization checks (apiserver/pkg/cel/library/authz.go).

All checks return yes: a client whose request is admitted may do everything in a sandbox."""

from dataclasses import dataclass
from typing import Final

from simulator.cel.functions import Function
from simulator.cel.values import Opaque, Value

_PREFIX: Final = "kubernetes.authorization"


@dataclass(frozen=True, slots=True)
class Authorizer(Opaque):
    """The value of ``authorizer``, and the base of the checks that it builds."""

    type_name = f"{_PREFIX}.Authorizer"
    go_name = "library.authorizerVal"

    def equals(self, other: Value) -> bool | None:
        return self is other


class _PathCheck(Authorizer):
    __slots__ = ()
    type_name = f"{_PREFIX}.PathCheck"


class _GroupCheck(Authorizer):
    __slots__ = ()
    type_name = f"{_PREFIX}.GroupCheck"


class ResourceCheck(Authorizer):
    __slots__ = ()
    type_name = f"{_PREFIX}.ResourceCheck"


class _Decision(Authorizer):
    __slots__ = ()
    type_name = f"{_PREFIX}.Decision"


_A: Final = Authorizer.type_name
_P: Final = _PathCheck.type_name
_G: Final = _GroupCheck.type_name
_R: Final = ResourceCheck.type_name
_D: Final = _Decision.type_name
FUNCTIONS: Final = (
    Function("path", f"{_A}.(string) -> {_P}", lambda *_: _PathCheck()),
    Function("group", f"{_A}.(string) -> {_G}", lambda *_: _GroupCheck()),
    Function("serviceAccount", f"{_A}.(string, string) -> {_A}", lambda *_: Authorizer()),
    Function("resource", f"{_G}.(string) -> {_R}", lambda *_: ResourceCheck()),
    *(
        Function(name, f"{_R}.(string) -> {_R}", lambda check, _: check)
        for name in ("subresource", "namespace", "name", "fieldSelector", "labelSelector")
    ),
    Function("check", f"{_P}.(string) -> {_D}", lambda *_: _Decision()),
    Function("check", f"{_R}.(string) -> {_D}", lambda *_: _Decision()),
    Function("allowed", f"{_D}.() -> bool", lambda _: True),
    Function("errored", f"{_D}.() -> bool", lambda _: False),
    Function("error", f"{_D}.() -> string", lambda _: ""),
    Function("reason", f"{_D}.() -> string", lambda _: ""),
)

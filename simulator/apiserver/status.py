"""Refusals as the API server words them: every error of the write path is a Kubernetes ``Status``.

Upstream: apimachinery/pkg/api/errors/errors.go and apimachinery/pkg/util/validation/field/errors.go, v1.34.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from simulator.api import Manifest


class Cause(msgspec.Struct, frozen=True):
    """One fault of a field. ``field`` is its path: ``spec.containers[0].image``."""

    field: str
    message: str
    reason: str = "FieldValueInvalid"

    def __str__(self) -> str:
        if not self.field or f'"{self.field}"' in self.message:
            return self.message
        return f"{self.field}: {self.message}"


def required(field: str, detail: str = "") -> Cause:
    return Cause(field, f"Required value: {detail}" if detail else "Required value", "FieldValueRequired")


def invalid(field: str, value: object, detail: str) -> Cause:
    return Cause(field, f"Invalid value: {_shown(value)}: {detail}")


def not_supported(field: str, value: object, supported: Iterable[str]) -> Cause:
    choices = ", ".join(f'"{choice}"' for choice in sorted(supported))
    message = f"Unsupported value: {_shown(value)}: supported values: {choices}"
    return Cause(field, message, "FieldValueNotSupported")


def forbidden(field: str, detail: str) -> Cause:
    return Cause(field, f"Forbidden: {detail}", "FieldValueForbidden")


def duplicate(field: str, value: object) -> Cause:
    return Cause(field, f"Duplicate value: {_shown(value)}", "FieldValueDuplicate")


SHOWN_LENGTH = 200
"""A wrong value is echoed only so far: it may be a megabyte, and the message goes into pages and logs."""


def _shown(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN_LENGTH else text[:SHOWN_LENGTH] + "..."


class StatusError(Exception):
    """A request was refused. ``status()`` is the answer's body, ``code`` its HTTP status."""

    code = 500
    reason = "InternalError"

    def __init__(
        self, message: str, *, kind: str = "", group: str = "", name: str = "", causes: Sequence[Cause] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.group = group
        self.name = name
        self.causes = tuple(causes)

    def status(self) -> Manifest:
        """The ``Status`` manifest (meta/v1)."""
        details: dict[str, Any] = {
            key: value
            for key, value in (("name", self.name), ("group", self.group), ("kind", self.kind))
            if value
        }
        if self.causes:
            details["causes"] = [msgspec.to_builtins(cause) for cause in self.causes]
        status: Manifest = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "code": self.code,
        }
        if details:
            status["details"] = details
        return status


class BadRequest(StatusError):
    code, reason = 400, "BadRequest"


class Forbidden(StatusError):
    """Admission says no. ``resource`` is the group-resource form."""

    code, reason = 403, "Forbidden"

    def __init__(self, resource: str, name: str, detail: str, causes: Sequence[Cause] = ()) -> None:
        plural, _, group = resource.partition(".")
        super().__init__(
            f'{resource} "{name}" is forbidden: {detail}', kind=plural, group=group, name=name, causes=causes
        )


class NotFound(StatusError):
    code, reason = 404, "NotFound"

    def __init__(self, resource: str, name: str) -> None:
        plural, _, group = resource.partition(".")
        super().__init__(f'{resource} "{name}" not found', kind=plural, group=group, name=name)


class NoSuchPath(StatusError):
    """The path names no resource that is served."""

    code, reason = 404, "NotFound"

    def __init__(self, message: str = "the server could not find the requested resource") -> None:
        super().__init__(message)


class MethodNotAllowed(StatusError):
    code, reason = 405, "MethodNotAllowed"

    def __init__(self) -> None:
        super().__init__("the server does not allow this method on the requested resource")


class AlreadyExists(StatusError):
    code, reason = 409, "AlreadyExists"

    def __init__(self, resource: str, name: str) -> None:
        plural, _, group = resource.partition(".")
        super().__init__(f'{resource} "{name}" already exists', kind=plural, group=group, name=name)


class Conflict(StatusError):
    code, reason = 409, "Conflict"

    MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"

    def __init__(self, resource: str, name: str, detail: str = MODIFIED) -> None:
        plural, _, group = resource.partition(".")
        super().__init__(
            f'Operation cannot be fulfilled on {resource} "{name}": {detail}',
            kind=plural,
            group=group,
            name=name,
        )


class Expired(StatusError):
    """The resourceVersion lies outside the watch log: list again."""

    code, reason = 410, "Expired"


class TooLarge(StatusError):
    code, reason = 413, "RequestEntityTooLarge"


class UnsupportedMediaType(StatusError):
    code, reason = 415, "UnsupportedMediaType"


class Invalid(StatusError):
    """The object breaks the rules of its kind; ``causes`` says where."""

    code, reason = 422, "Invalid"

    def __init__(self, kind: str, group: str, name: str, causes: Sequence[Cause]) -> None:
        faults = list(dict.fromkeys(str(cause) for cause in causes))
        text = faults[0] if len(faults) == 1 else "[" + ", ".join(faults) + "]"
        qualified = f"{kind}.{group}" if group else kind
        super().__init__(
            f'{qualified} "{name}" is invalid: {text}', kind=kind, group=group, name=name, causes=causes
        )


class TooManyRequests(StatusError):
    code, reason = 429, "TooManyRequests"


class ServiceUnavailable(StatusError):
    code, reason = 503, "ServiceUnavailable"

"""Errors of the API: every error is answered with a Kubernetes ``Status``.

Upstream: apimachinery/pkg/api/errors/errors.go and apimachinery/pkg/util/validation/field/errors.go.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from simulator.api import Manifest
from simulator.apiserver.shown_values import shown_value
from simulator.kernel.containment import Refusal


class Cause(msgspec.Struct, frozen=True):
    """One invalid field (field.Error). ``field`` is its path: ``spec.containers[0].image``."""

    field: str
    message: str
    reason: str = "FieldValueInvalid"

    def __str__(self) -> str:
        if not self.field or f'"{self.field}"' in self.message:
            return self.message
        return f"{self.field}: {self.message}"


MAX_CAUSES: Final = 1_000
MAX_CAUSE_CHARACTERS: Final = 1 << 18
"""How many faults of an object are looked for, and how much their messages may have together. Upstream has no
such bound, and an answer of gigabytes for a list whose items each name all others."""


def first_causes(causes: Iterable[Cause]) -> list[Cause]:
    """Return the causes of an answer. Those beyond its bounds are not computed; a last one says so."""
    found: list[Cause] = []
    written = 0
    for cause in causes:
        if len(found) == MAX_CAUSES or written > MAX_CAUSE_CHARACTERS:
            found.append(Cause("", "further faults are not listed"))
            break
        found.append(cause)
        written += len(cause.field) + len(cause.message)
    return found


def required(field: str, detail: str = "") -> Cause:
    return Cause(field, f"Required value: {detail}" if detail else "Required value", "FieldValueRequired")


def invalid(field: str, value: object, detail: str, *, whole: bool = False) -> Cause:
    """Return the cause for an invalid value. ``whole``: a struct of upstream, of which up to STRUCT_LENGTH
    characters are written, in the order of its fields."""
    shown = shown_value(value, is_struct=whole)
    return Cause(field, f"Invalid value: {shown}" + (f": {detail}" if detail else ""))


def not_supported(
    field: str, value: object, supported: Iterable[str], *, as_given: bool = False, whole: bool = False
) -> Cause:
    """Return the cause for an unsupported value. ``as_given``: list the supported values in the given order
    instead of sorted. ``whole``: as :func:`invalid`."""
    choices = ", ".join(f'"{choice}"' for choice in (supported if as_given else sorted(supported)))
    shown = shown_value(value, is_struct=whole)
    message = f"Unsupported value: {shown}: supported values: {choices}"
    return Cause(field, message, "FieldValueNotSupported")


def forbidden(field: str, detail: str) -> Cause:
    return Cause(field, f"Forbidden: {detail}", "FieldValueForbidden")


def duplicate(field: str, value: object, detail: str = "", *, whole: bool = False) -> Cause:
    """Return the cause for a duplicate value. With a ``detail`` or ``whole``, the value is a struct of
    upstream."""
    shown = shown_value(value, is_struct=bool(detail) or whole)
    shown += f": {detail}" if detail else ""
    return Cause(field, f"Duplicate value: {shown}", "FieldValueDuplicate")


def too_long(field: str, max_bytes: int) -> Cause:
    return Cause(field, f"Too long: may not be more than {max_bytes} bytes", "FieldValueTooLong")


def not_found(field: str, value: str, detail: str = "") -> Cause:
    message = f"Not found: {shown_value(value)}" + (f": {detail}" if detail else "")
    return Cause(field, message, "FieldValueNotFound")


def wrong_type(field: str, value: object, detail: str) -> Cause:
    """Return a cause that differs from :func:`invalid` only in its reason (field.TypeInvalid)."""
    return Cause(field, f"Invalid value: {shown_value(value)}: {detail}", "FieldValueTypeInvalid")


def invalid_without_value(field: str, detail: str) -> Cause:
    """Return a cause that does not say the value (field.OmitValueType)."""
    return Cause(field, f"Invalid value: {detail}")


NIL: Final = "null"
"""A pointer to nothing, as a wrong value: Go writes it as text."""


class StatusError(Refusal):
    """A refused request. ``status()`` is the body of the response, ``code`` its HTTP status code."""

    code = 500
    reason = "InternalError"
    retry_after_seconds = 0
    """Seconds after which the client may retry; 0 = not stated."""
    has_details = False
    """Whether the response has ``details`` even if they are empty: kubectl debug requires them."""

    def __init__(
        self, message: str, *, kind: str = "", group: str = "", name: str = "", causes: Sequence[Cause] = ()
    ) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.group = group
        self.name = name
        self.causes = tuple(causes)
        self.document = 0
        """The index of the refused document of the request, from 0."""
        self.warnings: list[str] = []
        """Warnings about the request, which the response has beside the error."""

    def status(self) -> Manifest:
        """Return the ``Status`` manifest (meta/v1)."""
        details: dict[str, Any] = {
            key: value
            for key, value in (("name", self.name), ("group", self.group), ("kind", self.kind))
            if value
        }
        if self.causes:
            details["causes"] = [_cause_fields(cause) for cause in self.causes]
        if self.retry_after_seconds:
            details["retryAfterSeconds"] = self.retry_after_seconds
        status: Manifest = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
        }
        if self.reason:
            status["reason"] = self.reason
        if details or self.has_details:
            status["details"] = details
        return {**status, "code": self.code}


def _cause_fields(cause: Cause) -> dict[str, str]:
    return {key: value for key, value in msgspec.to_builtins(cause).items() if value}


class PlainError(StatusError):
    """An error of Go that is not a Status: it is answered with 500, and its text is the message
    (ErrorToAPIStatus in apiserver/pkg/endpoints/handlers/responsewriters/status.go)."""

    reason = ""


class BadRequest(StatusError):
    code, reason = 400, "BadRequest"


class Forbidden(StatusError):
    """Admission refuses the request. ``resource`` is a :attr:`Resource.id`. The causes, which say to a form
    which field was refused, are not in the Status: admission upstream has none."""

    code, reason = 403, "Forbidden"
    shows_causes = False

    def __init__(self, resource: str, name: str, detail: str, causes: Sequence[Cause] = ()) -> None:
        plural, _, group = resource.partition(".")
        super().__init__(
            f'{resource} "{name}" is forbidden: {detail}', kind=plural, group=group, name=name, causes=causes
        )

    def status(self) -> Manifest:
        status = super().status()
        if not self.shows_causes:
            status["details"].pop("causes", None)
        return status


class NamespaceTerminating(Forbidden):
    """The error for a creation in a namespace that is being deleted (plugin NamespaceLifecycle,
    apiserver/pkg/admission/plugin/namespace/lifecycle/admission.go)."""

    shows_causes = True

    def __init__(self, resource: str, name: str, namespace: str) -> None:
        detail = f"unable to create new content in namespace {namespace} because it is being terminated"
        cause = Cause(
            "metadata.namespace", f"namespace {namespace} is being terminated", "NamespaceTerminating"
        )
        super().__init__(resource, name, detail, [cause])


class NotFound(StatusError):
    code, reason = 404, "NotFound"

    def __init__(self, resource: str, name: str) -> None:
        plural, _, group = resource.partition(".")
        super().__init__(f'{resource} "{name}" not found', kind=plural, group=group, name=name)


class AlreadyExists(StatusError):
    code, reason = 409, "AlreadyExists"

    def __init__(self, resource: str, name: str, prefix: str = "") -> None:
        plural, _, group = resource.partition(".")
        super().__init__(f'{prefix}{resource} "{name}" already exists', kind=plural, group=group, name=name)


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


class Invalid(StatusError):
    """The object is not valid; ``causes`` are its faults."""

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

"""The body of a server-side apply: a PATCH with the content type ``application/apply-patch+yaml``.

Upstream: applyPatcher in apiserver/pkg/endpoints/handlers/patch.go.
"""

from functools import partial

from django.http import HttpRequest

from schedviz.api import body
from simulator.apiserver.request_decoding.decode_request import strict_warnings
from simulator.apiserver.request_decoding.read_object import UnreadableBody, YamlBody, read_yaml_body
from simulator.apiserver.status import BadRequest
from simulator.apiserver.updated_objects import Intent
from simulator.kernel.go_text import go_type_error


def intent_of(request: HttpRequest) -> Intent:
    """Return the object that is applied. Raises StatusError."""
    applied, repeated = body.parsed(_read_applied, request)
    return Intent(applied, partial(_warn_of_repeated, request, repeated))


def _read_applied(data: bytes) -> YamlBody:
    try:
        value, repeated = read_yaml_body(data.decode(errors="replace"))
    except UnreadableBody as error:
        raise BadRequest(f"error decoding YAML: error converting YAML to JSON: {error}") from None
    if value is not None and not isinstance(value, dict):
        detail = go_type_error(value, "map[string]interface {}")
        raise BadRequest(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: {detail}")
    return YamlBody(value or {}, repeated)


def _warn_of_repeated(request: HttpRequest, repeated: str) -> list[str]:
    """Return warnings about keys that the applied object repeats. Raises BadRequest if the request is
    strict."""
    validation = request.GET.get("fieldValidation", "")
    if not repeated or validation == "Ignore":
        return []
    if validation == "Strict":
        raise BadRequest(f"error strict decoding YAML: error converting YAML to JSON: {repeated}")
    return strict_warnings([repeated])

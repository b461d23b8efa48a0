"""Decodes the body of a request for an object of a resource, and the metadata of the resources within a
custom resource (transformDecodeError in apiserver/pkg/endpoints/handlers/rest.go, Coerce in
apiextensions-apiserver/pkg/apiserver/schema/objectmeta/algorithm.go).
"""

from typing import Any, Final, NamedTuple

from simulator.api import Manifest
from simulator.apiserver.bounds import MAX_TEXT_DEPTH, ManifestError, count_values
from simulator.apiserver.custom_resources.resource_schema import embedded_resources, prune_custom
from simulator.apiserver.decoding import stored_form
from simulator.apiserver.object_type import missing_kind, with_type
from simulator.apiserver.protobuf import decode_envelope, read_envelope
from simulator.apiserver.request_decoding.read_object import (
    YAML_ERRORS,
    RecordedObject,
    UnreadableBody,
    read_json_body,
    read_yaml_body,
)
from simulator.apiserver.request_decoding.typed_values import TypedValues
from simulator.apiserver.resource import Resource
from simulator.apiserver.status import BadRequest, invalid
from simulator.apiserver.structural_schema import EMBEDDED, structural_schema
from simulator.apiserver.types.api_types import OBJECT_META, api_types
from simulator.apiserver.types.schema_types import decoded_type
from simulator.kernel.go_text import json_kind

SHOWN_BYTES: Final = 30
_META_TYPE: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
)


class Embedded(NamedTuple):
    strict_errors: list[str]
    """The fields that ObjectMeta does not have, which were dropped."""
    error: str
    """The error of a type field or of metadata with another type; "" if there is none."""


def decode_embedded(schema_text: str, manifest: Manifest) -> Embedded:
    """Decode the metadata of all embedded resources, in place."""
    strict: list[str] = []
    if EMBEDDED not in schema_text:
        return Embedded(strict, "")
    for path, resource in embedded_resources(structural_schema(schema_text), manifest):
        for field in ("apiVersion", "kind"):
            if not isinstance(resource.get(field, ""), str):
                return Embedded(strict, str(invalid(f"{path}.{field}", resource[field], "must be a string")))
        if "metadata" not in resource:
            continue
        at, given = f"{path}.metadata", resource["metadata"] or {}
        decoder = TypedValues()
        decoded = decoder.decode(api_types().struct(OBJECT_META), given, at)
        if decoder.error:
            return Embedded(strict, str(invalid(at, given, decoder.error)))
        # The fields that the text repeats were noted before.
        strict += [error for error in decoder.strict if error.startswith("unknown")]
        resource["metadata"] = stored_form(OBJECT_META, decoded)
    return Embedded(sorted(strict), "")


class DecodedRequest(NamedTuple):
    manifest: Manifest
    """The object without the fields that the type does not have."""
    strict_errors: list[str]
    """Unknown and repeated fields: ``unknown field "spec.imagee"``."""


def decode_request(resource: Resource, data: bytes, *, is_yaml: bool, also: str = "") -> DecodedRequest:
    """Decode a body that must be an object of the resource. ``also``: a further apiVersion that is accepted.
    Raises BadRequest, and ManifestError beyond the bounds of a request."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ManifestError("not UTF-8") from None
    try:
        value, repeated = read_yaml_body(text) if is_yaml else (read_json_body(text, MAX_TEXT_DEPTH), "")
        value = {} if value is None else value
        check_type_fields(value)
    except UnreadableBody as error:
        raise BadRequest(
            f"the object provided is unrecognized (must be of type {resource.kind}): "
            f"{error} ({_summary(data)})"
        ) from None
    if resource.schema_text and not value.get("kind"):
        raise BadRequest(
            f"the object provided is unrecognized (must be of type {resource.kind}): "
            f"{missing_kind(text)} ({_summary(data)})"
        )
    manifest = with_type(resource, value, also=also)
    typed = decode_object(resource, _with_repeated(manifest, value))
    if typed.error:
        raise BadRequest(cannot_be_handled(resource, typed.error))
    count_values(typed.manifest)
    return DecodedRequest(typed.manifest, [*filter(None, [repeated]), *typed.strict_errors])


def decode_protobuf_request(resource: Resource, data: bytes, *, also: str = "") -> Manifest:
    """Decode a body in Protocol Buffers, an object of the resource. ``also``: a further apiVersion
    that is accepted. Raises BadRequest, and ManifestError beyond the bounds of a request."""
    try:
        envelope = read_envelope(data, (resource.api_version, resource.kind))
    except ManifestError as error:
        raise BadRequest(
            f"the object provided is unrecognized (must be of type {resource.kind}): "
            f"{error} ({_summary(data)})"
        ) from None
    if resource.schema_text:
        detail = (
            "object *unstructured.Unstructured does not implement the protobuf marshalling interface and "
            "cannot be encoded to a protobuf message"
        )
        raise BadRequest(cannot_be_handled(resource, detail))
    given = with_type(resource, {"apiVersion": envelope.api_version, "kind": envelope.kind}, also=also)
    try:
        return given | decode_envelope(envelope)
    except ManifestError as error:
        raise BadRequest(cannot_be_handled(resource, str(error))) from None


class TypedObject(NamedTuple):
    manifest: Manifest
    error: str
    """The error of a value that does not have the type; "" if it has it."""
    strict_errors: list[str]


def decode_object(resource: Resource, value: Manifest) -> TypedObject:
    decoder = TypedValues()
    decoded = decoder.decode(decoded_type(resource), value)
    if decoder.error or not resource.schema_text:
        return TypedObject(decoded, decoder.error, decoder.strict)
    pruned = prune_custom(resource, decoded)
    embedded = decode_embedded(resource.schema_text, pruned.value)
    unknown = [f'unknown field "{path}"' for path in pruned.unknown] + embedded.strict_errors
    # The fields that the text repeats are found before the object is decoded.
    strict = sorted(decoder.strict, key=lambda error: not error.startswith("duplicate"))
    return TypedObject(pruned.value, embedded.error, [*strict, *unknown])


def cannot_be_handled(resource: Resource, detail: str) -> str:
    return f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: {detail}'


def strict_decoding_error(errors: list[str]) -> str:
    """Return the text of several strict errors (runtime.NewStrictDecodingError)."""
    return f"strict decoding error: {', '.join(errors)}"


def strict_warnings(errors: list[str]) -> list[str]:
    """Return the warnings about strict errors: one for each line of those of YAML (parseYAMLWarnings)."""
    found = []
    for error in errors:
        first, *lines = error.split("\n")
        found += [line.strip() for line in lines] if first.endswith(YAML_ERRORS) else [error]
    return found


def check_type_fields(value: Any) -> None:
    """Check apiVersion and kind as upstream's decoder does that finds them. Raises UnreadableBody."""
    prefix = "couldn't get version/kind; json parse error: json: cannot unmarshal"
    if not isinstance(value, dict):
        raise UnreadableBody(f"{prefix} {json_kind(value)} into Go value of type {_META_TYPE}")
    for field in ("apiVersion", "kind"):
        given = value.get(field)
        if given is not None and not isinstance(given, str):
            raise UnreadableBody(f"{prefix} {json_kind(given)} into Go struct field .{field} of type string")
    api_version = value.get("apiVersion") or ""
    if api_version.count("/") > 1:
        raise UnreadableBody(f"unexpected GroupVersion string: {api_version}")


def _with_repeated(manifest: Manifest, value: Any) -> Manifest:
    """Return the manifest with the repeated keys of ``value``, from which it was made."""
    repeated = getattr(value, "repeated", ())
    if not repeated:
        return manifest
    recorded = RecordedObject(manifest)
    recorded.repeated = repeated
    return recorded


def _summary(data: bytes) -> str:
    """Return the beginning of a body, in hexadecimal if it does not begin with a brace (summarizeData)."""
    if not data:
        return "<empty>"
    shown = data[:SHOWN_BYTES]
    text = shown.decode(errors="replace") if data.startswith(b"{") else shown.hex()
    return f"{text} ..." if len(data) > SHOWN_BYTES else text

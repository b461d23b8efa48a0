"""Applies the patch in a request's body to an object, and writes the patched object in messages: Go's JSON of
it, in which an object that the patch leaves alone has its fields in the order of its Go struct, and one that
it changes sorted by name (gopkg.in/evanphx/json-patch.v4 decodes only what it changes).

Upstream: jsonPatcher and smpPatcher in apiserver/pkg/endpoints/handlers/patch.go."""

import json
from typing import Any, Final, Literal, NamedTuple, get_args

from simulator.api import Manifest
from simulator.apiserver.bounds import ManifestError
from simulator.apiserver.object_type import custom_type_faults, missing_kind, type_error
from simulator.apiserver.patches.json_patch import (
    PatchDoesNotApply,
    apply_json_patch,
    apply_merge_patch,
    parse_pointer,
)
from simulator.apiserver.patches.json_patch_operations import (
    check_operations,
    repeated_fields,
    strict_faults,
)
from simulator.apiserver.patches.strategic_merge_patch import apply_strategic_merge_patch
from simulator.apiserver.patches.unstructured_conversion import from_unstructured
from simulator.apiserver.request_decoding.decode_request import decode_object, strict_decoding_error
from simulator.apiserver.request_decoding.read_object import UnreadableBody, read_json_value
from simulator.apiserver.request_decoding.typed_values import TypedValues
from simulator.apiserver.request_errors import (
    TooLarge,
    UnprocessablePatch,
    UnsupportedMediaType,
    UnsupportedPatchType,
)
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import BUILT_IN_GROUPS
from simulator.apiserver.status import BadRequest, Cause, Invalid
from simulator.apiserver.types.api_types import api_types
from simulator.apiserver.types.model import ANYTHING, ListType, StructType, Type, field_type
from simulator.apiserver.types.schema_types import decoded_type
from simulator.kernel.go_text import escaped, go_json, go_type_error, plain, quote

PatchType = Literal[
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
]
PATCH_TYPES: Final[tuple[PatchType, ...]] = get_args(PatchType)
MAX_OPERATIONS: Final = 10_000
"""Maximum number of operations in one JSON patch, as upstream."""


class Patched(NamedTuple):
    """The result of a patch."""

    manifest: Manifest
    """The manifest with the fields of its type only."""
    warnings: list[str]
    """About unknown and repeated fields."""


class PatchBody(NamedTuple):
    """A patch as it was sent."""

    type: str
    """The content type of the patch."""
    data: bytes
    field_validation: str
    """``Strict``, ``Warn`` (also ""), or ``Ignore``."""


def patched_object(resource: Resource, body: PatchBody, subject: Manifest) -> Patched:
    """Apply a patch to an object of the resource. Raises StatusError, and ManifestError beyond the bounds of
    a request."""
    check_patch_type(resource, body.type)
    match body.type:
        case "application/json-patch+json":
            return _json_patched(resource, body, subject)
        case "application/merge-patch+json":
            return _merged(resource, body, subject)
    return _strategically_merged(resource, body, subject)


def check_patch_type(resource: Resource, media_type: str) -> None:
    """Check that a content type is one of a patch of the resource, or of its subresources, other than an
    apply. Raises UnsupportedMediaType or UnsupportedPatchType."""
    if resource.group in BUILT_IN_GROUPS:
        if media_type not in PATCH_TYPES:
            raise UnsupportedPatchType()
    elif media_type not in PATCH_TYPES[:2]:
        raise UnsupportedMediaType(
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
        )


def _json_patched(resource: Resource, body: PatchBody, subject: Manifest) -> Patched:
    typed = body.field_validation != "Ignore"
    operations = check_operations(_read(body, "error decoding patch: " if typed else ""), typed=typed)
    if len(operations) > MAX_OPERATIONS:
        raise TooLarge(
            f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(operations)}"
        )
    try:
        result = apply_json_patch(subject, operations)
    except PatchDoesNotApply as error:
        raise UnprocessablePatch(str(error)) from None
    strict = [f"json patch {fault}" for fault in strict_faults(operations)]
    return _decoded(resource, body, result, _changed_by(operations), strict)


def _merged(resource: Resource, body: PatchBody, subject: Manifest) -> Patched:
    patch = _read(body, "error decoding patch: ")
    if patch is None:
        # The decoder takes it for a map without keys, the library that merges does not.
        raise BadRequest("Invalid JSON Patch")
    if not isinstance(patch, dict):
        raise BadRequest(f"error decoding patch: {go_type_error(patch, 'map[string]interface {}')}")
    result = apply_merge_patch(subject, patch)
    return _decoded(resource, body, result, patch, repeated_fields(patch))


def _strategically_merged(resource: Resource, body: PatchBody, subject: Manifest) -> Patched:
    patch = _read(body, "")
    if patch is None:
        patch = {}  # to Go's decoder, null is a map without keys
    if not isinstance(patch, dict):
        raise BadRequest(go_type_error(patch, "map[string]interface {}"))
    result = apply_strategic_merge_patch(decoded_type(resource), subject, patch)
    decoded, error, unknown = from_unstructured(resource, result)
    if not error:
        # The converter takes the type from Go, and not from the patch.
        decoded = {**decoded, "apiVersion": resource.api_version, "kind": resource.kind}
    strict = [*repeated_fields(patch), *unknown]
    return _checked(body, decoded, error, strict, plain(patch))


def _decoded(resource: Resource, body: PatchBody, result: Any, changed: Any, strict: list[str]) -> Patched:
    """Decode the JSON of a patched object, as that of a request."""
    if not isinstance(result, dict):
        error = go_type_error(result, "struct")
        return _checked(body, {}, error, [], patched_object_text(ANYTHING, result, None))
    if resource.group not in BUILT_IN_GROUPS:
        return _decoded_custom(resource, body, result, strict)
    given = str(result.get("apiVersion") or ""), str(result.get("kind") or resource.kind)
    if given == (resource.api_version, resource.kind):
        decoded, error, unknown = decode_object(resource, result)
    else:
        decoder, of = TypedValues(), api_types().of_kind(*given)
        decoded = decoder.decode(of, result) if of else result
        error, unknown = decoder.error or type_error(resource, *given), []
    text = patched_object_text(decoded_type(resource), result, changed)
    return _checked(body, decoded, error, [*strict, *unknown], text)


def _decoded_custom(resource: Resource, body: PatchBody, result: Manifest, strict: list[str]) -> Patched:
    text = go_json(result)
    if not result.get("kind"):
        return _checked(body, {}, missing_kind(text), [], text)
    decoded, error, unknown = decode_object(resource, result)
    other_type = None if error else custom_type_faults(resource, decoded)
    if other_type:
        raise other_type
    return _checked(body, decoded, error, [*strict, *unknown], text)


def _checked(body: PatchBody, decoded: Any, error: str, strict: list[str], shown: str) -> Patched:
    """Refuse what does not fit the type, and, as the request asks, unknown and repeated fields."""
    if not error and strict and body.field_validation == "Strict":
        error = strict_decoding_error(strict)
    if error:
        cause = Cause("patch", f"Invalid value: {quote(shown)}: {error}")
        raise Invalid("", "", "", [cause])
    return Patched(decoded, [] if body.field_validation == "Ignore" else strict)


def _read(body: PatchBody, prefix: str) -> Any:
    try:
        return read_json_value(body.data.decode())
    except UnicodeDecodeError:
        raise ManifestError("not UTF-8") from None
    except UnreadableBody as error:
        raise BadRequest(f"{prefix}{error}") from None


def _changed_by(operations: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the parts of an object that operations change, as nested dicts."""
    changed: dict[str, Any] = {}
    for operation in operations:
        for field in ("from", "path"):
            path = operation.get(field)
            if not isinstance(path, str) or "/" not in path:
                continue  # it is not used: the operation applies
            *parents, last = parse_pointer(path)
            inside = changed
            for part in parents:
                below = inside.setdefault(part, {})
                if not isinstance(below, dict):
                    break
                inside = below
            else:
                inside[last] = None
    return changed


def patched_object_text(of: Type, value: Any, changed: Any) -> str:
    """Return the JSON of a patched object. ``changed``: the parts that the patch changes, as nested dicts."""
    return escaped(json.dumps(_in_order(of, value, changed), separators=(",", ":"), ensure_ascii=False))


def _in_order(of: Type, value: Any, changed: Any) -> Any:
    match value:
        case list():
            items = of.items if isinstance(of, ListType) else ANYTHING
            return [_in_order(items, item, None) for item in value]
        case dict():
            names = sorted(value) if isinstance(changed, dict) else _struct_order(of, value)
            return {name: _field(of, name, value[name], changed) for name in names}
    return value


def _field(of: Type, name: str, value: Any, changed: Any) -> Any:
    below = None
    if isinstance(changed, dict) and name in changed:
        below = changed[name]
        if not isinstance(below, dict):
            return value
    return _in_order(field_type(of, name) or ANYTHING, value, below)


def _struct_order(of: Type, value: dict[str, Any]) -> list[str]:
    order = of.fields if isinstance(of, StructType) else ()
    places = {name: place for place, name in enumerate(order)}
    return sorted(value, key=lambda name: (places.get(name, len(places)), name))

"""Server-side apply: a PATCH with the content type ``application/apply-patch+yaml``.

Upstream: applyPatcher in apiserver/pkg/endpoints/handlers/patch.go, v1.34.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse

from schedviz.api import body
from schedviz.api.admitted_write import write_admitted
from schedviz.api.definitions import accept_names, groups_defined_by
from schedviz.api.place import check_place
from schedviz.api.representation import Representation, is_custom
from schedviz.api.target import Target
from schedviz.api.warning_header import with_warnings
from schedviz.api.write import existing_object, source_of_write
from schedviz.cache import Current
from schedviz.store import Sandbox
from simulator.api import Manifest
from simulator.apiserver import admission
from simulator.apiserver.admission import Admission
from simulator.apiserver.managed_fields.field_writes import FieldWrite, apply_manifest
from simulator.apiserver.managed_fields.scale_entries import (
    managed_fields_after_scale,
    managed_fields_of_scale,
)
from simulator.apiserver.metadata_update import version_of_update
from simulator.apiserver.query import boolean_parameter
from simulator.apiserver.request_decoding.decode_request import strict_warnings
from simulator.apiserver.request_decoding.read_object import (
    UnreadableBody,
    YamlBody,
    read_yaml_body,
)
from simulator.apiserver.resource import SCALES, Resource
from simulator.apiserver.scale import scale_of, with_scale
from simulator.apiserver.served_versions import to_served, to_stored
from simulator.apiserver.status import BadRequest, Conflict, NotFound
from simulator.apiserver.update import admit_update
from simulator.apiserver.warnings import warnings_of, warnings_of_update
from simulator.kernel.go_text import go_type_error
from simulator.objects.timestamps import timestamp


def apply_object(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    """Create the object, or merge the applied one into it. Raises StatusError."""
    form = Representation.of(request, custom=is_custom(resource))
    dry_run = body.is_dry_run(request)
    force = _is_forced(request)
    applied, repeated = body.parsed(_read_applied, request)
    old: Manifest | None = None
    warnings: list[str] = []

    def decide(current: Current) -> Admission:
        nonlocal old
        now = current.now()
        by = FieldWrite(body.field_manager(request), timestamp(now), target.subresource, is_applied=True)
        old = current.get(resource.id, target.key(resource))
        if old is None and target.subresource:
            raise NotFound(resource.id, target.name)
        live = None if old is None else to_served(resource, old)
        new = apply_manifest(resource, live, applied, by, force=force)
        warnings.extend(_warn_of_repeated(request, repeated))
        if old is None:
            _check_no_uid(resource, new["metadata"])
            version_of_update(new["metadata"])
        check_place(resource, target, new["metadata"])
        if old is not None:
            kind, changed = to_stored(resource, new)
            part = target.subresource
            return admit_update(kind, old, changed, current, subresource=part, write=by, served=resource)
        return admission.admit(
            [new],
            current,
            now,
            source=source_of_write(sandbox, current, dry_run=dry_run),
            namespace=target.namespace or "default",
            entry="api",
            write=by,
            dry_run=dry_run,
        )

    again = ("Conflict", "AlreadyExists")
    written = write_admitted(sandbox, decide, dry_run=dry_run, again=again, warnings=warnings)
    if not dry_run:
        for group in groups_defined_by(written):
            accept_names(sandbox, group)
    result = written[0] if written else old
    assert result is not None  # without a change there is an object
    response = body.answer(form.one(resource, result, sandbox.now), 200 if old else 201)
    if old is None:
        found = warnings_of(resource, result)
    else:
        found = warnings_of_update(resource, result, old, target.subresource)
    return with_warnings(response, [*warnings, *found])


def apply_scale(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    """Merge the applied Scale into that of the object. Raises StatusError."""
    form = Representation.of(request)
    force = _is_forced(request)
    applied, repeated = body.parsed(_read_applied, request)
    by = FieldWrite(body.field_manager(request), "", "scale", is_applied=True)
    old: Manifest = {}
    dry_run, warnings = body.is_dry_run(request), list[str]()

    def decide(current: Current) -> Admission:
        nonlocal old
        old = existing_object(current, resource, target.key(resource))
        live = scale_of(resource, old)
        live["metadata"]["managedFields"] = managed_fields_of_scale(resource, old)
        scale = apply_manifest(SCALES, live, applied, by, force=force)
        warnings.extend(_warn_of_repeated(request, repeated))
        check_place(resource, target, scale.get("metadata") or {})
        new = with_scale(resource, old, scale)
        owners = managed_fields_after_scale(resource, old, scale["metadata"]["managedFields"])
        new["metadata"]["managedFields"] = owners
        return admit_update(resource, old, new, current, subresource="scale", write=by)

    written = write_admitted(sandbox, decide, dry_run=dry_run, again=("Conflict",), warnings=warnings)
    result = written[0] if written else old
    return with_warnings(body.answer(form.one(SCALES, scale_of(resource, result), sandbox.now)), warnings)


def _is_forced(request: HttpRequest) -> bool:
    return boolean_parameter(body.query(request), "force")


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


def _check_no_uid(resource: Resource, metadata: dict[str, Any]) -> None:
    """Raise Conflict for an object that is to be created and has a UID."""
    if metadata.get("uid"):
        detail = (
            f"uid mismatch: the provided object specified uid {metadata['uid']}, "
            "and no existing object was found"
        )
        raise Conflict(resource.id, metadata.get("name", ""), detail)

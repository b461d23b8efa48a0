"""The subresource ``scale``: get, replace and patch."""

from django.http import HttpRequest, HttpResponse

from schedviz.api import body, write
from schedviz.api.apply import apply_scale
from schedviz.api.place import check_place
from schedviz.api.representation import Representation
from schedviz.api.requested_write import edit_requested
from schedviz.api.target import Target
from schedviz.api.warning_header import with_warnings
from schedviz.cache import read_current
from schedviz.store import Sandbox
from simulator.api import Manifest
from simulator.apiserver.decoding import decode_body
from simulator.apiserver.managed_fields.scale_entries import managed_fields_of_scale
from simulator.apiserver.patches.patch_request import check_patch_type
from simulator.apiserver.preconditions import check_missing_identity, check_stored_identity
from simulator.apiserver.resource import SCALES, Resource
from simulator.apiserver.scale import scale_of, with_scale
from simulator.apiserver.status import NotFound
from simulator.apiserver.types.api_types import SCALE


def get_scale(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    form = Representation.of(request)
    source = read_current(sandbox)
    found = source.get(resource.id, target.key(resource))
    if found is None:
        raise NotFound(resource.id, target.name)
    return body.answer(form.one(SCALES, scale_of(resource, found), source.now))


def replace_scale(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    given, warnings = body.object_of(request, SCALES)
    scale = decode_body(SCALE, given)
    check_place(resource, target, scale.get("metadata") or {})
    uid = scale["metadata"].get("uid", "")
    if read_current(sandbox).get(resource.id, target.key(resource)) is None:
        check_missing_identity(resource, target.namespace, target.name, uid)

    def change(_: Resource, old: Manifest) -> Manifest:
        check_stored_identity(resource, old, uid)
        return with_scale(resource, old, scale)

    return _written(request, sandbox, resource, target, change, warnings=warnings)


def patch_scale(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    """Apply a patch of the Scale, not of the object."""
    if body.content_type(request) == body.APPLY:
        return apply_scale(request, sandbox, resource, target)
    check_patch_type(resource, body.content_type(request))
    warnings: list[str] = []

    def change(_: Resource, old: Manifest) -> Manifest:
        scale = scale_of(resource, old)
        owners = managed_fields_of_scale(resource, old)
        if owners:
            scale["metadata"]["managedFields"] = owners
        given, found = body.patched(request, SCALES, scale)
        warnings.extend(found)
        scale = decode_body(SCALE, given)
        check_place(resource, target, scale.get("metadata") or {})
        return with_scale(resource, old, scale)

    return _written(request, sandbox, resource, target, change, warnings=warnings)


def _written(
    request: HttpRequest,
    sandbox: Sandbox,
    resource: Resource,
    target: Target,
    change: write.Edit,
    *,
    warnings: list[str],
) -> HttpResponse:
    form = Representation.of(request)
    dry_run = body.is_dry_run(request)
    new = edit_requested(request, sandbox, resource, target, change, warnings=warnings, dry_run=dry_run)
    return with_warnings(body.answer(form.one(SCALES, scale_of(resource, new), sandbox.now)), warnings)

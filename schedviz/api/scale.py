"""The subresource ``scale``: get, replace and patch."""

from django.http import HttpRequest, HttpResponse

from schedviz.api import body, write
from schedviz.api.representation import Representation
from schedviz.api.target import Target
from schedviz.cache import read_current
from schedviz.store import Sandbox
from simulator.api import Manifest
from simulator.apiserver.decoding import decode_body
from simulator.apiserver.managed_fields.scale_entries import managed_fields_of_scale
from simulator.apiserver.resources import SCALES, Resource
from simulator.apiserver.scale import scale_of, with_scale
from simulator.apiserver.schema import type_name_of
from simulator.apiserver.status import BadRequest, NotFound


def get_scale(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    form = Representation.of(request)
    source = read_current(sandbox)
    found = source.get(resource.id, target.key(resource))
    if found is None:
        raise NotFound(resource.id, target.name)
    return body.answer(form.one(SCALES, scale_of(resource, found), source.now))


def replace_scale(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    given, warnings = body.object_of(request, SCALES)
    scale = decode_body(type_name_of(SCALES), given)
    _check_place(scale, target)

    def change(_: Resource, old: Manifest) -> Manifest:
        return with_scale(resource, old, scale)

    return body.with_warnings(_written(request, sandbox, resource, target, change), warnings)


def patch_scale(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    """The patch is one of the Scale, not of the object."""
    warnings: list[str] = []

    def change(_: Resource, old: Manifest) -> Manifest:
        scale = scale_of(resource, old)
        owners = managed_fields_of_scale(resource, old)
        if owners:
            scale["metadata"]["managedFields"] = owners
        given, found = body.patched(request, SCALES, scale)
        warnings[:] = found
        scale = decode_body(type_name_of(SCALES), given)
        _check_place(scale, target)
        return with_scale(resource, old, scale)

    return body.with_warnings(_written(request, sandbox, resource, target, change), warnings)


def _written(
    request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target, change: write.Edit
) -> HttpResponse:
    form = Representation.of(request)
    new = write.edit(
        sandbox,
        resource.id,
        target.key(resource),
        change,
        subresource="scale",
        dry_run=body.is_dry_run(request),
        manager=body.field_manager(request),
    )
    return body.answer(form.one(SCALES, scale_of(resource, new), sandbox.now))


def _check_place(scale: Manifest, target: Target) -> None:
    """Check that the Scale has the name of the path, and no other namespace (checkName in
    apiserver/pkg/endpoints/handlers/rest.go). Raises BadRequest."""
    metadata = scale.get("metadata", {})
    name, namespace = metadata.get("name", ""), metadata.get("namespace", "")
    if not name:
        raise BadRequest(
            f"the name of the object ({target.name} based on URL) was undeterminable: name must be provided"
        )
    if name != target.name:
        raise BadRequest(
            f"the name of the object ({name}) does not match the name on the URL ({target.name})"
        )
    if target.namespace and namespace and namespace != target.namespace:
        raise BadRequest(
            f"the namespace of the object ({namespace}) does not match the namespace on the request "
            f"({target.namespace})"
        )

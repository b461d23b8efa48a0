"""The subresources of pods that are created: ``binding`` and ``eviction``."""

from django.http import HttpRequest, HttpResponse
from msgspec.structs import replace

from schedviz.api import body
from schedviz.api.admitted_write import write_admitted
from schedviz.api.target import Target
from schedviz.api.warning_header import with_warnings
from schedviz.store import Sandbox
from simulator.api import Manifest
from simulator.apiserver.decoding import decode_body
from simulator.apiserver.request_options import DeleteOptions
from simulator.apiserver.resource import BINDINGS, EVICTIONS, Resource
from simulator.apiserver.status import PlainError
from simulator.apiserver.types.api_types import BINDING, EVICTION


def create_binding(
    request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target
) -> HttpResponse:
    """Assign a pod to a node."""
    given, warnings = body.object_of(request, BINDINGS)
    binding, place = decode_body(BINDING, given), target.place(resource)
    options = body.write_options(request)
    write_admitted(sandbox, lambda server: server.bind(place, binding), options)
    return with_warnings(body.answer(body.CREATED, 201), warnings)


def create_eviction(
    request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target
) -> HttpResponse:
    """Delete a pod if its disruption budgets allow it."""
    given, warnings = body.object_of(request, EVICTIONS, also="policy/v1beta1")
    eviction, place = decode_body(EVICTION, given), target.place(resource)
    options: Manifest = eviction.get("deleteOptions") or {}
    dry_run = _is_dry_run(request, options)
    asked = replace(DeleteOptions.of(options), dry_run=dry_run)
    write_admitted(sandbox, lambda server: server.evict(place, asked, eviction), asked)
    return with_warnings(body.answer(body.CREATED, 201), warnings)


def _is_dry_run(request: HttpRequest, options: Manifest) -> bool:
    """Whether the eviction is a dry run, by the query or by its DeleteOptions, which must not say otherwise
    (propagateDryRun in pkg/registry/core/pod/storage/eviction.go). Raises StatusError."""
    asked, given = request.GET.getlist("dryRun"), options.get("dryRun") or []
    if asked and given and asked != given:
        shown = [f"[{' '.join(map(str, values))}]" for values in (asked, given)]
        raise PlainError(f"Non-matching dry-run options in request and content: {shown[0]} and {shown[1]}")
    return body.is_dry_run(request) or bool(given)

"""The subresources of pods that are created: ``binding`` and ``eviction``."""

from typing import Any

from django.http import HttpRequest, HttpResponse

from schedviz.api import body, removal
from schedviz.api.admitted_write import write_admitted
from schedviz.api.target import Target
from schedviz.api.warning_header import with_warnings
from schedviz.api.write import existing_object
from schedviz.cache import Current, read_current
from schedviz.store import Sandbox
from simulator.api import Manifest
from simulator.apiserver.admission import Admission
from simulator.apiserver.admission_plugins.namespace_lifecycle import check_namespace
from simulator.apiserver.binding import admit_binding
from simulator.apiserver.decoding import decode_body
from simulator.apiserver.delete_options import (
    check_delete_options,
    requested_grace_seconds,
    requested_propagation,
)
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.resource import BINDINGS, EVICTIONS, Resource
from simulator.apiserver.resources import PODS
from simulator.apiserver.status import BadRequest, PlainError
from simulator.apiserver.types.api_types import BINDING, EVICTION


def create_binding(
    request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target
) -> HttpResponse:
    """Assign a pod to a node."""
    given, warnings = body.object_of(request, BINDINGS)
    binding = decode_body(BINDING, given)
    _check_namespace(sandbox, target, binding)
    key = f"{target.namespace}/{_named(binding, 'Binding', target)}"
    dry_run = body.is_dry_run(request)
    body.field_manager(request)  # it must be valid

    def decide(current: Current) -> Admission:
        pod = existing_object(current, PODS, key)
        change = admit_binding(pod, binding, current.now())
        return Admission([change], {})

    write_admitted(sandbox, decide, dry_run=dry_run, again=("Conflict",), warnings=warnings)
    return with_warnings(body.answer(body.CREATED, 201), warnings)


def create_eviction(
    request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target
) -> HttpResponse:
    """Delete a pod if its disruption budgets allow it."""
    given, warnings = body.object_of(request, EVICTIONS, also="policy/v1beta1")
    eviction = decode_body(EVICTION, given)
    _check_namespace(sandbox, target, eviction)
    _named(eviction, "Eviction", target)
    options: Manifest = eviction.get("deleteOptions") or {}
    is_dry_run = _is_dry_run(request, options)
    check_delete_options(options)
    preconditions = options.get("preconditions") or {}
    removal.evict(
        sandbox,
        target.key(resource),
        warnings=warnings,
        grace_seconds=requested_grace_seconds(options),
        propagation=requested_propagation(options),
        uid=preconditions.get("uid", ""),
        version=preconditions.get("resourceVersion", ""),
        dry_run=is_dry_run,
    )
    return with_warnings(body.answer(body.CREATED, 201), warnings)


def _check_namespace(sandbox: Sandbox, target: Target, manifest: Manifest) -> None:
    """Bindings and evictions are created, so their namespace must be there, and not end. Raises NotFound or
    NamespaceTerminating."""
    name = target.name or manifest.get("metadata", {}).get("name", "")
    check_namespace(PODS, target.namespace, name, Overlay(read_current(sandbox)))


def _is_dry_run(request: HttpRequest, options: Manifest) -> bool:
    """Whether the eviction is a dry run, by the query or by its DeleteOptions, which must not say otherwise
    (propagateDryRun in pkg/registry/core/pod/storage/eviction.go). Raises StatusError."""
    asked, given = request.GET.getlist("dryRun"), options.get("dryRun") or []
    if asked and given and asked != given:
        shown = [f"[{' '.join(map(str, values))}]" for values in (asked, given)]
        raise PlainError(f"Non-matching dry-run options in request and content: {shown[0]} and {shown[1]}")
    return body.is_dry_run(request) or bool(given)


def _named(manifest: Any, kind: str, target: Target) -> str:
    """Return the name of the pod in the body of a subresource. It must be that of the path if this has one,
    and the namespace, if the body has one, that of the path
    (EnsureObjectNamespaceMatchesRequestNamespace)."""
    metadata = manifest.get("metadata", {})
    name: str = metadata.get("name", "")
    if metadata.get("namespace") not in (None, "", target.namespace):
        raise BadRequest(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if target.name and name != target.name:
        raise BadRequest(f"name in URL does not match name in {kind} object")
    return name

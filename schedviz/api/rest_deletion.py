"""DELETE of an object, and of those that selectors select."""

from django.http import HttpRequest, HttpResponse

from schedviz.api import body
from schedviz.api.admitted_write import SandboxStorage, write_admitted
from schedviz.api.lists import page
from schedviz.api.representation import Representation, is_custom
from schedviz.api.target import Target
from schedviz.api.warning_header import with_warnings
from schedviz.store import Sandbox
from simulator.apiserver import commit, selection
from simulator.apiserver.deletion import is_shown_when_deleted
from simulator.apiserver.list_options import ListOptions
from simulator.apiserver.request_errors import MethodNotAllowed
from simulator.apiserver.request_options import DeleteOptions
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NAMESPACES


def delete(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    form = Representation.of(request, custom=is_custom(resource))
    given, place = body.delete_options(request), target.place(resource)
    options = DeleteOptions.of(given)
    deleted = write_admitted(sandbox, lambda server: server.delete(place, options), options)
    if deleted.is_gone and not is_shown_when_deleted(resource):
        response = body.answer(body.success(resource, deleted.object))
    else:
        waits = not deleted.is_gone and given.get("orphanDependents") is False
        response = body.answer(form.one(resource, deleted.object, sandbox.now), 202 if waits else 200)
    return with_warnings(response, options.warnings)


def delete_collection(
    request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target
) -> HttpResponse:
    """Delete the selected objects one by one, as upstream; the first error ends it. The response contains the
    objects as they were before."""
    if resource == NAMESPACES or (resource.namespaced and not target.namespace):
        raise MethodNotAllowed()
    form = Representation.of(request, custom=is_custom(resource))
    list_options = ListOptions.of(body.query(request))
    selected = selection.selection_predicate(
        resource, list_options.label_selector, list_options.field_selector
    )
    options = DeleteOptions.of(body.delete_options(request))
    found = page(sandbox, resource, list_options, namespace=target.namespace, selected=selected)
    items = {target.named(item).place(resource): item for item in found.items}
    deleted = commit.delete_collection(SandboxStorage(sandbox), resource, items, options)
    shown = form.list(resource, (items.pop(place) for place in deleted), found.metadata, sandbox.now)
    response = body.ListResponse(shown)
    return with_warnings(response, options.warnings)

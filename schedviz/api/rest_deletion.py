"""DELETE of an object, and of those that selectors select."""

from django.http import HttpRequest, HttpResponse

from schedviz.api import body
from schedviz.api.admitted_write import write_admitted
from schedviz.api.lists import page
from schedviz.api.representation import Representation, is_custom
from schedviz.api.target import Target
from schedviz.api.warning_header import with_warnings
from schedviz.store import Sandbox
from simulator.api import Manifest
from simulator.apiserver import selection
from simulator.apiserver.commit import Written
from simulator.apiserver.delete_options import DeleteOptions, check_delete_options, requested_propagation
from simulator.apiserver.deletion import is_shown_when_deleted
from simulator.apiserver.list_options import ListOptions
from simulator.apiserver.place import Place
from simulator.apiserver.request_errors import MethodNotAllowed
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NAMESPACES
from simulator.apiserver.status import NotFound
from simulator.apiserver.write_options import WriteOptions
from simulator.kernel.work import check_waiting

JOB_WARNING = (
    "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove "
    "them or set propagationPolicy=Orphan to suppress this warning"
)


def delete(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    form = Representation.of(request, custom=is_custom(resource))
    options = body.delete_options(request)
    deleted = _delete(sandbox, target.place(resource), options)
    if deleted.is_gone and not is_shown_when_deleted(resource):
        response = body.answer(body.success(resource, deleted.object))
    else:
        waits = not deleted.is_gone and options.get("orphanDependents") is False
        response = body.answer(form.one(resource, deleted.object, sandbox.now), 202 if waits else 200)
    return with_warnings(response, _job_warnings(resource, options))


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
    options = body.delete_options(request)
    check_delete_options(options)
    found = page(sandbox, resource, list_options, namespace=target.namespace, selected=selected)
    deleted = []
    for item in found.items:
        check_waiting()
        try:
            _delete(sandbox, target.named(item).place(resource), options)
        except NotFound:
            continue  # another client deleted it meanwhile
        deleted.append(item)
    response = body.answer(form.list(resource, deleted, found.metadata, sandbox.now))
    return with_warnings(response, _job_warnings(resource, options))


def _delete(sandbox: Sandbox, place: Place, options: Manifest) -> Written:
    asked, dry_run = DeleteOptions.of(options), bool(options.get("dryRun"))
    return write_admitted(
        sandbox, lambda server: server.delete(place, asked, dry_run=dry_run), WriteOptions(dry_run=dry_run)
    )


def _job_warnings(resource: Resource, options: Manifest) -> list[str]:
    """Return the warning that a deleted Job leaves its pods, unless the request has a propagation policy
    (pkg/registry/batch/job/storage/storage.go)."""
    is_silent = resource.id != "jobs.batch" or requested_propagation(options) is not None
    return [] if is_silent else [JOB_WARNING]

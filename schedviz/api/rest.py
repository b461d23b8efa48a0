"""The verbs of Kubernetes' API on a sandbox: list, get, create, replace, patch, delete, and subresources."""

from collections.abc import Callable
from functools import partial

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from schedviz.access.asker import asker_of
from schedviz.access.standing import Standing
from schedviz.api import body
from schedviz.api.admitted_write import write_admitted
from schedviz.api.applied_body import intent_of
from schedviz.api.discovery import is_served
from schedviz.api.lists import page
from schedviz.api.pod_processes import PROCESS_SUBRESOURCES, get_log, refuse_process
from schedviz.api.pod_subresources import create_binding, create_eviction
from schedviz.api.representation import Representation, is_custom
from schedviz.api.rest_deletion import delete, delete_collection
from schedviz.api.served import find_served
from schedviz.api.service_account_token import refuse_token
from schedviz.api.target import Target, resource_at
from schedviz.api.warning_header import with_warnings
from schedviz.api.watch import watch
from schedviz.cache import read_current
from schedviz.limits.requester import requester_of
from schedviz.store import Sandbox
from simulator.apiserver import selection
from simulator.apiserver.commit import Written
from simulator.apiserver.list_options import ListOptions
from simulator.apiserver.patches.patch_request import check_patch_type
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.query import boolean_parameter, check_timeout, parse_resource_version
from simulator.apiserver.request_errors import MethodNotAllowed, NoSuchGroup, NoSuchPath, VersionTooLarge
from simulator.apiserver.request_options import WriteOptions
from simulator.apiserver.resource import SCALES, Resource
from simulator.apiserver.resources import NAMESPACES, PODS, find_by_kind
from simulator.apiserver.scale import scale_of
from simulator.apiserver.status import NotFound, StatusError

Handler = Callable[[HttpRequest, Sandbox, Resource, Target], HttpResponseBase]


def respond(request: HttpRequest, sandbox: Sandbox, target: Target) -> HttpResponseBase:
    """Handle a request to the path of a resource. Raises StatusError."""
    method = request.method or ""
    if not _is_long_running(request, target):
        check_timeout(body.query(request))
    if (target.group, target.plural) == ("", "bindings") and target.namespace and not target.name:
        if method != "POST":
            raise MethodNotAllowed()
        return create_binding(request, sandbox, PODS, target)
    resource = resource_at(sandbox, target)
    if resource is None and method == "POST" and not target.name:
        resource = _resource_of_body(request, target)
    if resource is None:
        raise NoSuchPath() if is_served(find_served(read_current(sandbox)), target.group) else NoSuchGroup()
    if target.subresource:
        handlers = _subresource(resource, target.subresource)
    elif target.watch:
        handlers = {"GET": list_objects}
    else:
        handlers = OBJECT if target.name else COLLECTION
    handler = handlers.get(method)
    if handler is None or (method == "POST" and resource.namespaced and not target.namespace):
        raise MethodNotAllowed()
    if not resource.deprecation:
        return handler(request, sandbox, resource, target)
    try:
        return with_warnings(handler(request, sandbox, resource, target), [resource.deprecation])
    except StatusError as error:
        error.warnings = [resource.deprecation, *error.warnings]
        raise


def list_objects(
    request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target
) -> HttpResponseBase:
    form = Representation.of(request, custom=is_custom(resource))
    options = ListOptions.of(body.query(request))
    selected = selection.selection_predicate(resource, options.label_selector, options.field_selector)
    if options.watch or target.watch:
        form = form.of_stream(resource)
        standing, requester = Standing(sandbox.name, asker_of(request)), requester_of(request)
        return watch(
            sandbox,
            resource,
            target,
            options,
            selected=selected,
            form=form,
            standing=standing,
            requester=requester,
        )
    found = page(sandbox, resource, options, namespace=target.namespace, selected=selected)
    return body.ListResponse(form.list(resource, found.items, found.metadata, sandbox.now))


def get(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponseBase:
    form = Representation.of(request, custom=is_custom(resource))
    wanted = parse_resource_version(request.GET.get("resourceVersion", ""))
    source = read_current(sandbox)
    if wanted > source.version():
        raise VersionTooLarge(wanted, source.version())
    found = source.get(resource.id, target.key(resource))
    if found is None:
        raise NotFound(resource.id, target.name)
    return body.answer(form.one(resource, found, source.now))


def create(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    form, options = Representation.of(request, custom=is_custom(resource)), body.write_options(request)
    given, warnings = body.object_of(request, resource)
    options.warnings.extend(warnings)
    place = target.place(resource)
    written = write_admitted(sandbox, lambda server: server.create(place, given, options), options)
    return _answer(form, place, sandbox, written, options)


def replace(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    form, options = _form(request, resource, target), body.write_options(request)
    place = target.place(resource)
    given, warnings = body.object_of(request, SCALES if place.subresource == "scale" else resource)
    options.warnings.extend(warnings)
    written = write_admitted(sandbox, lambda server: server.replace(place, given, options), options)
    return _answer(form, place, sandbox, written, options)


def patch(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    place = target.place(resource)
    if body.content_type(request) == body.APPLY:
        form, options, intent = (
            _form(request, resource, target),
            body.write_options(request),
            intent_of(request),
        )
        written = write_admitted(sandbox, lambda server: server.apply(place, intent, options), options)
    else:
        check_patch_type(resource, body.content_type(request))
        form, options = _form(request, resource, target), body.write_options(request)
        patcher = partial(body.patched, request)
        written = write_admitted(sandbox, lambda server: server.patch(place, patcher, options), options)
    return _answer(form, place, sandbox, written, options)


def get_scale(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    form = Representation.of(request)
    source = read_current(sandbox)
    found = source.get(resource.id, target.key(resource))
    if found is None:
        raise NotFound(resource.id, target.name)
    return body.answer(form.one(SCALES, scale_of(resource, found), source.now))


def _form(request: HttpRequest, resource: Resource, target: Target) -> Representation:
    """Return the form of the response to a write: a Scale is no custom resource."""
    return Representation.of(request, custom=is_custom(resource) and target.subresource != "scale")


def _answer(
    form: Representation, place: RequestPlace, sandbox: Sandbox, written: Written, options: WriteOptions
) -> HttpResponse:
    """Return the response to a write: the object, or its Scale."""
    resource, manifest = place.resource, written.object
    if place.subresource == "scale":
        resource, manifest = SCALES, scale_of(resource, manifest)
    shown = form.one(resource, manifest, sandbox.now)
    return with_warnings(body.answer(shown, 201 if written.is_created else 200), options.warnings)


COLLECTION: dict[str, Handler] = {"GET": list_objects, "POST": create, "DELETE": delete_collection}
OBJECT: dict[str, Handler] = {"GET": get, "PUT": replace, "PATCH": patch, "DELETE": delete}
STATUS: dict[str, Handler] = {"GET": get, "PUT": replace, "PATCH": patch}
SCALE: dict[str, Handler] = {"GET": get_scale, "PUT": replace, "PATCH": patch}


def _subresource(resource: Resource, subresource: str) -> dict[str, Handler]:
    if subresource == "status" and resource.has_status:
        return STATUS
    if resource == PODS and subresource in ("ephemeralcontainers", "resize"):
        return STATUS
    if resource.id == "certificatesigningrequests.certificates.k8s.io" and subresource == "approval":
        return STATUS
    if resource == NAMESPACES and subresource == "finalize":
        return {"PUT": replace}
    if subresource == "scale" and resource.scale:
        return SCALE
    if resource == PODS and subresource == "binding":
        return {"POST": create_binding}
    if resource == PODS and subresource == "log":
        return {"GET": get_log}
    if resource == PODS and subresource in PROCESS_SUBRESOURCES:
        return dict.fromkeys(("GET", "POST"), refuse_process)
    if resource == PODS and subresource == "eviction":
        return {"POST": create_eviction}
    if resource.id == "serviceaccounts" and subresource == "token":
        return {"POST": refuse_token}
    raise NoSuchPath()


def _is_long_running(request: HttpRequest, target: Target) -> bool:
    """Whether the request may last (BasicLongRunningRequestCheck in apiserver/pkg/server/filters)."""
    watches = target.watch or (not target.name and boolean_parameter(body.query(request), "watch"))
    return watches or target.subresource in ("log", *PROCESS_SUBRESOURCES)


def _resource_of_body(request: HttpRequest, target: Target) -> Resource | None:
    """Return the resource of the body's kind, if it matches the path. Used to create the first object of a
    kind of which the sandbox has no object yet."""
    kind = body.manifest_of(request).get("kind")
    if not isinstance(kind, str):
        return None
    api_version = f"{target.group}/{target.version}" if target.group else target.version
    resource = find_by_kind(api_version, kind)
    return resource if resource and resource.plural == target.plural else None

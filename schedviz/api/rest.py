"""The verbs of Kubernetes' API on a sandbox: list, get, create, replace, patch, delete, and subresources."""

import base64
import binascii
import time
from collections.abc import Callable
from functools import partial

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from schedviz.api import body, write
from schedviz.api.target import Target, resource_at
from schedviz.api.watch import watch
from schedviz.store import Sandbox
from simulator.api import Manifest
from simulator.apiserver import selection
from simulator.apiserver.deletion import propagation_of
from simulator.apiserver.event_versions import served, to_store
from simulator.apiserver.resources import PODS, Resource, of_kind
from simulator.apiserver.status import BadRequest, MethodNotAllowed, NoSuchPath, NotFound
from simulator.apiserver.table import table

Handler = Callable[[HttpRequest, Sandbox, Resource, Target], HttpResponseBase]


def respond(request: HttpRequest, sandbox: Sandbox, target: Target) -> HttpResponseBase:
    """The answer of a resource's path. Raises StatusError."""
    method = "GET" if request.method == "HEAD" else request.method or ""
    if target.plural == "bindings" and not target.group and method == "POST":
        return create_binding(request, sandbox, PODS, target)
    resource = resource_at(sandbox, target)
    if resource is None and method == "POST" and not target.name:
        resource = _resource_of_body(request, target)
    if resource is None:
        raise NoSuchPath()
    if target.subresource:
        handlers = _subresource(resource, target.subresource)
    else:
        handlers = OBJECT if target.name else COLLECTION
    handler = handlers.get(method)
    if handler is None or (method == "POST" and resource.namespaced and not target.namespace):
        raise MethodNotAllowed()
    return handler(request, sandbox, resource, target)


def list_objects(
    request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target
) -> HttpResponseBase:
    selected = _predicate(request, resource)
    if body.flag(request, "watch"):
        return _watched(request, sandbox, resource, target)
    listing = sandbox.list(resource.id)
    items = [
        item for item in listing.items if _in_namespace(item, target) and (not selected or selected(item))
    ]
    metadata: Manifest = {"resourceVersion": str(listing.version)}
    items = _page(request, resource, items, metadata)
    if _wants_table(request):
        return body.answer(table(resource, items, metadata, write.simulated_time(sandbox)))
    items = [served(resource, item) for item in items]
    return body.answer(
        {
            "kind": f"{resource.kind}List",
            "apiVersion": resource.api_version,
            "metadata": metadata,
            "items": items,
        }
    )


def get(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponseBase:
    if body.flag(request, "watch"):
        return _watched(request, sandbox, resource, target)
    found = sandbox.get(resource.id, target.key(resource))
    if found is None:
        raise NotFound(resource.id, target.name)
    if _wants_table(request):
        return body.answer(table(resource, [found], {}, write.simulated_time(sandbox)))
    return body.answer(served(resource, found))


def create(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    manifest = _typed(body.manifest_of(request), resource)
    metadata = manifest.get("metadata")
    given = metadata.get("namespace") if isinstance(metadata, dict) else None
    if resource.namespaced and given not in (None, "", target.namespace):
        raise BadRequest(
            f"the namespace of the provided object ({given}) does not match the namespace sent on the "
            f"request ({target.namespace})"
        )
    dry_run = body.is_dry_run(request)
    (created,) = write.create(sandbox, [manifest], namespace=target.namespace or "default", dry_run=dry_run)
    return body.answer(served(resource, created), 201)


def replace(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    _, manifest = to_store(resource, _typed(body.manifest_of(request), resource))
    replaced = write.replace(
        sandbox,
        resource.id,
        target.key(resource),
        manifest,
        subresource=target.subresource,
        dry_run=body.is_dry_run(request),
    )
    return body.answer(served(resource, replaced))


def patch(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    def changed(_: Resource, old: Manifest) -> Manifest:
        return to_store(resource, body.patched(request, resource, served(resource, old)))[1]

    patched = write.edit(
        sandbox,
        resource.id,
        target.key(resource),
        changed,
        subresource=target.subresource,
        dry_run=body.is_dry_run(request),
    )
    return body.answer(served(resource, patched))


def delete(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponse:
    options = body.delete_options(request)
    deleted = _delete(request, sandbox, resource, target.key(resource), options)
    # Pods are shown as they were or are now; other objects, once gone, are only named.
    if resource == PODS or "deletionTimestamp" in deleted["metadata"]:
        return body.answer(deleted)
    return body.answer(body.success(resource, deleted))


def delete_collection(
    request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target
) -> HttpResponse:
    """One by one, as upstream: what cannot be deleted stops it."""
    if resource.namespaced and not target.namespace:
        raise MethodNotAllowed()
    options = body.delete_options(request)
    selected = _predicate(request, resource)
    deleted = []
    for item in sandbox.list(resource.id).items:
        if _in_namespace(item, target) and (not selected or selected(item)):
            key = resource.key(target.namespace, item["metadata"]["name"])
            try:
                deleted.append(served(resource, _delete(request, sandbox, resource, key, options)))
            except NotFound:
                continue  # somebody else deleted it meanwhile
    return body.answer(
        {"kind": f"{resource.kind}List", "apiVersion": resource.api_version, "metadata": {}, "items": deleted}
    )


def create_binding(
    request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target
) -> HttpResponse:
    binding = body.manifest_of(request)
    name = target.name or (binding.get("metadata") or {}).get("name", "")
    write.bind(sandbox, f"{target.namespace}/{name}", binding, dry_run=body.is_dry_run(request))
    return body.answer(body.success(resource, {"metadata": {"name": name}}), 201)


def create_eviction(
    request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target
) -> HttpResponse:
    options = body.manifest_of(request).get("deleteOptions") or {}
    grace = options.get("gracePeriodSeconds")
    if grace is not None and not isinstance(grace, int):
        raise BadRequest("deleteOptions.gracePeriodSeconds must be a number")
    write.evict(sandbox, target.key(resource), grace_seconds=grace, dry_run=body.is_dry_run(request, options))
    return body.answer(body.success(resource, {"metadata": {"name": target.name}}), 201)


COLLECTION: dict[str, Handler] = {"GET": list_objects, "POST": create, "DELETE": delete_collection}
OBJECT: dict[str, Handler] = {"GET": get, "PUT": replace, "PATCH": patch, "DELETE": delete}
STATUS: dict[str, Handler] = {"GET": get, "PUT": replace, "PATCH": patch}


def _subresource(resource: Resource, subresource: str) -> dict[str, Handler]:
    if subresource == "status" and resource.has_status:
        return STATUS
    if resource == PODS and subresource == "binding":
        return {"POST": create_binding}
    if resource == PODS and subresource == "eviction":
        return {"POST": create_eviction}
    raise NoSuchPath()


def _delete(
    request: HttpRequest, sandbox: Sandbox, resource: Resource, key: str, options: Manifest
) -> Manifest:
    preconditions = options.get("preconditions", {})
    return write.delete(
        sandbox,
        resource.id,
        key,
        grace_seconds=options.get("gracePeriodSeconds"),
        propagation=propagation_of(options),
        uid=preconditions.get("uid", ""),
        version=preconditions.get("resourceVersion", ""),
        dry_run=body.is_dry_run(request, options),
    )


def _resource_of_body(request: HttpRequest, target: Target) -> Resource | None:
    """The resource that the first object of its kind makes, if its kind goes with the path."""
    kind = body.manifest_of(request).get("kind")
    if not isinstance(kind, str):
        return None
    api_version = f"{target.group}/{target.version}" if target.group else target.version
    resource = of_kind(api_version, kind)
    return resource if resource and resource.plural == target.plural else None


def _typed(manifest: Manifest, resource: Resource) -> Manifest:
    """The manifest with its type, which the path says where the body does not."""
    manifest = {"apiVersion": resource.api_version, "kind": resource.kind} | manifest
    given = (manifest["apiVersion"], manifest["kind"])
    if given != (resource.api_version, resource.kind):
        raise BadRequest(
            f"{resource.kind} of {resource.api_version} is expected here, not {given[1]} of {given[0]}"
        )
    return manifest


def _wants_table(request: HttpRequest) -> bool:
    """kubectl asks for a Table first, and takes plain objects too."""
    first = request.headers.get("Accept", "").split(",")[0]
    return {"as=Table", "v=v1"} <= {part.strip() for part in first.split(";")}


def _watched(request: HttpRequest, sandbox: Sandbox, resource: Resource, target: Target) -> HttpResponseBase:
    clock = sandbox.clock()

    def as_table(manifest: Manifest) -> Manifest:
        version = {"resourceVersion": manifest["metadata"]["resourceVersion"]}
        return table(resource, [manifest], version, clock.now(time.time()))

    shown = as_table if _wants_table(request) else partial(served, resource)
    return watch(request, sandbox, resource, target, selected=_predicate(request, resource), shown=shown)


def _predicate(request: HttpRequest, resource: Resource) -> selection.Predicate | None:
    return selection.predicate(
        resource, request.GET.get("labelSelector", ""), request.GET.get("fieldSelector", "")
    )


def _in_namespace(item: Manifest, target: Target) -> bool:
    return not target.namespace or item["metadata"].get("namespace") == target.namespace


def _page(
    request: HttpRequest, resource: Resource, items: list[Manifest], metadata: Manifest
) -> list[Manifest]:
    """``limit`` and ``continue``: the token is the last key shown; each page is of objects as they are."""
    limit = body.whole_number(request, "limit", 0)
    token = request.GET.get("continue", "")
    if token:
        try:
            last = base64.urlsafe_b64decode(token.encode()).decode()
        except (binascii.Error, UnicodeError):
            raise BadRequest("continue key is not valid") from None
        items = [item for item in items if _key(resource, item) > last]
    if not limit or len(items) <= limit:
        return items
    metadata["continue"] = base64.urlsafe_b64encode(_key(resource, items[limit - 1]).encode()).decode()
    metadata["remainingItemCount"] = len(items) - limit
    return items[:limit]


def _key(resource: Resource, item: Manifest) -> str:
    return resource.key(item["metadata"].get("namespace", ""), item["metadata"]["name"])

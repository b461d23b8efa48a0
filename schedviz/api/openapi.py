"""The part of the OpenAPI v3 documents that kubectl reads before it writes.

kubectl validates manifests itself, unless the document of their group says that PATCH has the parameter
``fieldValidation``. Then the server validates them; this one is always strict.
"""

from collections.abc import Iterable

from schedviz.api.discovery import VERSION, sandbox_resources
from schedviz.store.past import Readable
from simulator.api import Manifest
from simulator.apiserver.resources import Resource
from simulator.apiserver.status import NoSuchPath


def index(sandbox: Readable) -> Manifest:
    """``/openapi/v3``: the URL of the document of each group and version."""
    roots = {_root(resource) for resource in sandbox_resources(sandbox)}
    return {
        "paths": {
            root: {"serverRelativeURL": f"/s/{sandbox.name}/openapi/v3/{root}"} for root in sorted(roots)
        }
    }


def document(sandbox: Readable, root: str) -> Manifest:
    """``/openapi/v3/api/v1``, ``/openapi/v3/apis/<group>/<version>``. Raises NoSuchPath."""
    found = [resource for resource in sandbox_resources(sandbox) if _root(resource) == root]
    if not found:
        raise NoSuchPath()
    return {
        "openapi": "3.0.0",
        "info": {"title": "schedviz", "version": VERSION["gitVersion"]},
        "paths": {f"/{root}/{path}": item for resource in found for path, item in _paths(resource)},
    }


def _paths(resource: Resource) -> Iterable[tuple[str, Manifest]]:
    place = f"namespaces/{{namespace}}/{resource.plural}" if resource.namespaced else resource.plural
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    parameters = [
        {"name": name, "in": "query", "schema": {"type": "string"}} for name in ("dryRun", "fieldValidation")
    ]
    operation = {
        "x-kubernetes-group-version-kind": kind,
        "parameters": parameters,
        "responses": {"200": {"description": "OK"}},
    }
    yield place, {"post": operation}
    yield f"{place}/{{name}}", {"put": operation, "patch": operation}


def _root(resource: Resource) -> str:
    return f"{'apis' if resource.group else 'api'}/{resource.api_version}"

"""The OpenAPI documents of a sandbox, which kubectl reads to explain, to complete and to validate.

kubectl validates manifests itself, unless the document of their group says that PATCH has the parameter
``fieldValidation``. Then the server validates them.
"""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import Any

import msgspec

from schedviz.api.discovery import VERSION, sandbox_resources
from schedviz.api.openapi_protobuf import encode_swagger
from schedviz.store.past import Readable
from simulator.api import Manifest
from simulator.apiserver.openapi_components import components_of
from simulator.apiserver.request_errors import NoSuchPath
from simulator.apiserver.resources import BUILT_IN, Resource

_VERBS = {"get": "read", "put": "replace", "patch": "patch", "delete": "delete"}
_LIST_VERBS = {"get": "list", "post": "create", "delete": "deleteCollection"}
_ACTIONS = {"read": "get", "replace": "put", "create": "post", "deleteCollection": "deletecollection"}
_INFO = {"title": "Kubernetes", "version": VERSION["gitVersion"]}
_VERSION_PATH = "version"


def index(sandbox: Readable) -> Manifest:
    """Return the document of ``/openapi/v3``: the URL of the document of each group and version. Clients
    resolve it against the root of the server, not against that of the sandbox: there are the documents that
    all sandboxes have."""
    built_in = _by_root(BUILT_IN)
    paths = {_VERSION_PATH: _url("", _VERSION_PATH, _version_document())}
    for root, resources in _by_root(sandbox_resources(sandbox)).items():
        at = "" if resources == built_in.get(root) else f"/s/{sandbox.name}"
        paths[root] = _url(at, root, _document(root, resources))
    return {"paths": dict(sorted(paths.items()))}


def document(sandbox: Readable, root: str) -> bytes:
    """Return a document ``/openapi/v3/api/v1`` or ``/openapi/v3/apis/<group>/<version>`` of a sandbox. Raises
    NoSuchPath."""
    return _find_document(sandbox_resources(sandbox), root)


def built_in_document(root: str) -> bytes:
    """Return the document of the server, with the resources of all sandboxes. Raises NoSuchPath."""
    return _find_document(BUILT_IN, root)


def _find_document(resources: Iterable[Resource], root: str) -> bytes:
    if root == _VERSION_PATH:
        return _version_document()
    found = _by_root(resources).get(root)
    if found is None:
        raise NoSuchPath()
    return _document(root, found)


def swagger(sandbox: Readable, *, protobuf: bool) -> bytes:
    """Return the document of ``/openapi/v2``: the types only, without paths. Clients of this form look up
    types."""
    return _swagger(
        tuple(resource for found in _by_root(sandbox_resources(sandbox)).values() for resource in found),
        protobuf,
    )


@lru_cache(16)
def _swagger(resources: tuple[Resource, ...], protobuf: bool) -> bytes:
    definitions = {name: _in_version_2(schema) for name, schema in components_of([*resources]).items()}
    document = {"swagger": "2.0", "info": _INFO, "paths": {}, "definitions": definitions}
    return encode_swagger(document) if protobuf else msgspec.json.encode(document)


def _in_version_2(schema: Any) -> Any:
    """Return a schema as OpenAPI v2 has it: a reference is not in ``allOf``, and has no default beside it."""
    match schema:
        case {"allOf": [{"$ref": str(reference)}]}:
            name = reference.rpartition("/")[2]
            kept = {key: value for key, value in schema.items() if key not in ("allOf", "default")}
            return {**kept, "$ref": f"#/definitions/{name}"}
        case dict():
            return {key: _in_version_2(value) for key, value in schema.items()}
        case list():
            return [_in_version_2(value) for value in schema]
    return schema


def _by_root(resources: Iterable[Resource]) -> dict[str, tuple[Resource, ...]]:
    found: dict[str, list[Resource]] = {}
    for resource in resources:
        found.setdefault(_root(resource), []).append(resource)
    return {root: tuple(resources) for root, resources in found.items()}


def _url(at: str, root: str, content: bytes) -> Manifest:
    return {"serverRelativeURL": f"{at}/openapi/v3/{root}?hash={tag_of(content)}"}


@lru_cache(256)
def tag_of(document: bytes) -> str:
    return sha256(document).hexdigest().upper()


@lru_cache(256)
def _document(root: str, resources: tuple[Resource, ...]) -> bytes:
    return msgspec.json.encode(
        {
            "openapi": "3.0.0",
            "info": _INFO,
            "paths": {f"/{root}/{path}": item for resource in resources for path, item in _paths(resource)},
            "components": {"schemas": components_of([*resources])},
        }
    )


def _version_document() -> bytes:
    operation = {"operationId": "getCodeVersion", "responses": {"200": {"description": "OK"}}}
    return msgspec.json.encode(
        {"openapi": "3.0.0", "info": _INFO, "paths": {"/version/": {"get": operation}}, "components": {}}
    )


def _paths(resource: Resource) -> Iterable[tuple[str, Manifest]]:
    place = f"namespaces/{{namespace}}/{resource.plural}" if resource.namespaced else resource.plural
    yield place, {verb: _operation(resource, verb, name) for verb, name in _LIST_VERBS.items()}
    yield (
        f"{place}/{{name}}",
        {verb: _operation(resource, verb, name) for verb, name in _VERBS.items()},
    )


def _operation(resource: Resource, verb: str, name: str) -> Manifest:
    written = ("dryRun", "fieldManager", "fieldValidation") if verb in ("post", "put", "patch") else ()
    names = (*written, *(("force",) if verb == "patch" else ()))
    return {
        "operationId": _operation_id(resource, name),
        "parameters": [{"name": each, "in": "query", "schema": {"type": "string"}} for each in names],
        "responses": {"200": {"description": "OK"}},
        "x-kubernetes-action": _ACTIONS.get(name, name),
        "x-kubernetes-group-version-kind": {
            "group": resource.group,
            "version": resource.version,
            "kind": resource.kind,
        },
    }


def _operation_id(resource: Resource, name: str) -> str:
    """Return the id of an operation: ``readCoreV1NamespacedPod``,
    ``deleteSchedulingV1CollectionPriorityClass``."""
    group = resource.group.removesuffix(".k8s.io").removesuffix(".authorization") or "core"
    words = "".join(part[:1].upper() + part[1:] for part in group.replace("-", ".").split("."))
    version = resource.version[:1].upper() + resource.version[1:]
    verb, collection = ("delete", "Collection") if name == "deleteCollection" else (name, "")
    scope = "Namespaced" if resource.namespaced else ""
    return f"{verb}{words}{version}{collection}{scope}{resource.kind}"


def _root(resource: Resource) -> str:
    return f"{'apis' if resource.group else 'api'}/{resource.api_version}"

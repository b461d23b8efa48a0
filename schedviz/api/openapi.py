"""The OpenAPI documents of a sandbox, which kubectl reads to explain, to complete and to validate.

kubectl validates manifests itself, unless the document of their group says that PATCH has the parameter
``fieldValidation``. Then the server validates them.
"""

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec

from schedviz.api.discovery import version_info
from schedviz.api.kept_documents import Document, KeptDocuments
from schedviz.api.openapi_protobuf import encode_swagger
from schedviz.api.served import digest_of, find_served, root_of
from schedviz.store.past import Readable
from simulator.api import Manifest
from simulator.apiserver.lookup import find_other_resources, find_resource
from simulator.apiserver.openapi_components import components_of
from simulator.apiserver.request_errors import NoSuchPath
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import BUILT_IN
from simulator.apiserver.served_features import once_per_version, served_version

_VERBS = {"get": "read", "put": "replace", "patch": "patch", "delete": "delete"}
_LIST_VERBS = {"get": "list", "post": "create", "delete": "deleteCollection"}
_ACTIONS = {"read": "get", "replace": "put", "create": "post", "deleteCollection": "deletecollection"}
_VERSION_PATH = "version"
KEPT_BYTES: Final = 32_000_000
"""The size of the documents with custom resources that a process keeps: all of 50 real definitions."""


_kept: Final = KeptDocuments(KEPT_BYTES)


def index(sandbox: Readable) -> bytes:
    """Return the document of ``/openapi/v3``: the URL of the document of each group and version. Clients
    resolve it against the root of the server, not against that of the sandbox: there are the documents that
    all sandboxes have."""
    served = find_served(sandbox)
    return served.document(
        ("openapi", served_version().patch), lambda: msgspec.json.encode(_index(sandbox.name, served.digests))
    )


def _index(sandbox: str, digests: Mapping[str, str]) -> Manifest:
    urls = {
        root: _url("", root, built_in_document(root).tag) for root in (_VERSION_PATH, *_by_root(BUILT_IN))
    }
    urls |= {root: _url(f"/s/{sandbox}", root, _tag(digest)) for root, digest in digests.items()}
    return {"paths": dict(sorted(urls.items()))}


def document(sandbox: Readable, root: str) -> Document:
    """Return a document ``/openapi/v3/api/v1`` or ``/openapi/v3/apis/<group>/<version>`` of a sandbox. Raises
    NoSuchPath."""
    _, _, place = root.partition("/")
    group, _, version = place.rpartition("/")
    named = find_served(sandbox).groups.get(group, {}).get(version, ())
    others = [each for each in named if each not in BUILT_IN and root_of(each) == root]
    if not others:
        return built_in_document(root)
    # The definitions are read again for their schemas: those of this group only.
    found = (find_resource(sandbox, each.group, each.plural, each.version) for each in others)
    whole = tuple(each for each in found if each is not None)
    tag = _tag(digest_of(whole))
    return _kept.find(tag) or _kept.keep(Document(_encoded(root, whole), tag))


@once_per_version()
def built_in_document(root: str) -> Document:
    """Return the document of the server, with the resources of all sandboxes of the version that is served.
    Raises NoSuchPath."""
    if root == _VERSION_PATH:
        content = _version_document()
    elif root in (found := _by_root(BUILT_IN)):
        content = _encoded(root, found[root])
    else:
        raise NoSuchPath()
    return Document(content, sha256(content).hexdigest().upper())


def swagger(sandbox: Readable, *, protobuf: bool) -> Document:
    """Return the document of ``/openapi/v2``: the types only, without paths. Clients of this form look up
    types."""
    digests = find_served(sandbox).digests
    kept = _kept.find(_swagger_tag(digests, protobuf))
    if kept is not None:
        return kept
    others = find_other_resources(sandbox)
    digests = {root: digest_of(found) for root, found in _by_root(others).items()}
    found = components_of([*BUILT_IN, *others])
    definitions = {name: _in_version_2(schema) for name, schema in found.items()}
    content = {"swagger": "2.0", "info": _info(), "paths": {}, "definitions": definitions}
    encoded = encode_swagger(content) if protobuf else msgspec.json.encode(content)
    return _kept.keep(Document(encoded, _swagger_tag(digests, protobuf)))


def _swagger_tag(digests: Mapping[str, str], protobuf: bool) -> str:
    return _tag(repr((sorted(digests.items()), protobuf)))


def _tag(digest: str) -> str:
    """Return the tag of a document with resources that are not built in. It changes with them, and with the
    form of all documents."""
    return sha256(f"{built_in_document('api/v1').tag} {digest}".encode()).hexdigest().upper()


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


def _by_root(resources: Iterable[Resource]) -> dict[str, list[Resource]]:
    found: dict[str, list[Resource]] = {}
    for resource in resources:
        found.setdefault(root_of(resource), []).append(resource)
    return found


def _url(at: str, root: str, tag: str) -> Manifest:
    return {"serverRelativeURL": f"{at}/openapi/v3/{root}?hash={tag}"}


def _encoded(root: str, resources: Sequence[Resource]) -> bytes:
    return msgspec.json.encode(
        {
            "openapi": "3.0.0",
            "info": _info(),
            "paths": {f"/{root}/{path}": item for resource in resources for path, item in _paths(resource)},
            "components": {"schemas": components_of([*resources])},
        }
    )


def _info() -> Manifest:
    return {"title": "Kubernetes", "version": version_info()["gitVersion"]}


def _version_document() -> bytes:
    operation = {"operationId": "getCodeVersion", "responses": {"200": {"description": "OK"}}}
    return msgspec.json.encode(
        {"openapi": "3.0.0", "info": _info(), "paths": {"/version/": {"get": operation}}, "components": {}}
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

"""The discovery documents: which API groups, versions and resources a sandbox serves."""

from collections.abc import Iterable

from schedviz.api import reviews
from schedviz.api.refused import REVIEWS
from schedviz.store.past import Readable
from simulator.api import Manifest
from simulator.apiserver.lookup import find_other_resources
from simulator.apiserver.resources import BUILT_IN, PODS, Resource
from simulator.apiserver.status import NoSuchPath

VERSION: Manifest = {
    "major": "1",
    "minor": "34",
    "gitVersion": "v1.34.0+schedviz",
    "gitCommit": "",
    "gitTreeState": "",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "schedviz",
}
"""The body of ``/version``: the Kubernetes version that the simulator models."""

VERBS = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"]


def core_versions() -> Manifest:
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def groups(sandbox: Readable) -> Manifest:
    """``/apis``."""
    found = sorted({resource.group for resource in sandbox_resources(sandbox)} - {""} | {*REVIEWS})
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group(sandbox, name) for name in found]}


def group(sandbox: Readable, name: str) -> Manifest:
    """``/apis/<group>``."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(sandbox, name)}


def resources(sandbox: Readable, name: str, version: str) -> Manifest:
    """``/api/v1`` and ``/apis/<group>/<version>``."""
    if name in REVIEWS and version == reviews.VERSION:
        return reviews.resource_list(name)
    found = [r for r in sandbox_resources(sandbox) if (r.group, r.version) == (name, version)]
    if not found:
        raise NoSuchPath()
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": found[0].api_version,
        "resources": [entry for resource in found for entry in _entries(resource)],
    }


def sandbox_resources(sandbox: Readable) -> Iterable[Resource]:
    """The built-in resources, those that a CustomResourceDefinition defines, and those of stored objects."""
    return [*BUILT_IN, *find_other_resources(sandbox)]


def _group(sandbox: Readable, name: str) -> Manifest:
    found = (r.version for r in sandbox_resources(sandbox) if r.group == name)
    versions = [reviews.VERSION] if name in REVIEWS else list(dict.fromkeys(found))
    if not versions:
        raise NoSuchPath()
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _entries(resource: Resource) -> Iterable[Manifest]:
    entry: Manifest = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": VERBS,
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource == PODS:
        entry["categories"] = ["all"]
    yield entry
    subresources: list[tuple[str, Manifest]] = []
    if resource.has_status:
        subresources.append(("status", {"kind": resource.kind, "verbs": ["get", "patch", "update"]}))
    if resource == PODS:
        eviction = {"group": "policy", "version": "v1", "kind": "Eviction", "verbs": ["create"]}
        subresources += [("binding", {"kind": "Binding", "verbs": ["create"]}), ("eviction", eviction)]
    for name, what in subresources:
        place = {"name": f"{resource.plural}/{name}", "singularName": "", "namespaced": resource.namespaced}
        yield {**place, **what}

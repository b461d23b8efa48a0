"""The discovery documents: which API groups, versions and resources a sandbox serves.

Those of all groups are made once for each change of the definitions (:mod:`schedviz.api.served`)."""

from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256

from schedviz.api import reviews
from schedviz.api.discovery_tables import (
    CATEGORIES,
    CUSTOM_VERBS,
    FIRST_STORED_IN,
    GROUPS,
    OTHERS,
    SCALE,
    STATUS,
    STORED_IN,
    SUBRESOURCES,
    VERBS,
)
from schedviz.api.refused import REVIEWS
from schedviz.api.served import Served
from simulator.api import Manifest
from simulator.apiserver.request_errors import NoSuchGroup, NoSuchPath
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import BUILT_IN_GROUPS, find_built_in, version_order
from simulator.apiserver.served_features import served_version


def version_info() -> Manifest:
    """Return the body of ``/version``."""
    version = served_version()
    major, minor = version.name.removeprefix("v").split(".")
    return {
        "major": major,
        "minor": minor,
        "emulationMajor": major,
        "emulationMinor": minor,
        "minCompatibilityMajor": major,
        "minCompatibilityMinor": str(int(minor) - 1),
        "gitVersion": f"{version.git_version}+schedviz",
        "gitCommit": "",
        "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "",
        "platform": "schedviz",
    }


def core_versions() -> Manifest:
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def groups(served: Served) -> Manifest:
    """Return the document of ``/apis``."""
    return served.document("groups", lambda: _groups(served))


def _groups(served: Served) -> Manifest:
    found = [_group(served, name) for name in _group_names(served)]
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": found}


def _group_names(served: Served) -> list[str]:
    """Return the groups but the core group, in their order."""
    found = served.groups.keys() - {""} | {*REVIEWS}
    places = {name: place for place, name in enumerate(GROUPS)}
    return sorted(found, key=lambda name: (places.get(name, len(places)), name))


def group(served: Served, name: str) -> Manifest:
    """Return the document of ``/apis/<group>``."""
    return {"kind": "APIGroup", "apiVersion": "v1", **_group(served, name)}


def resources(served: Served, name: str, version: str) -> Manifest:
    """Return the document of ``/api/v1`` and ``/apis/<group>/<version>``."""
    if name in REVIEWS and version == reviews.VERSION:
        return reviews.resource_list(name)
    found = served.groups.get(name, {}).get(version)
    if not found:
        _group(served, name)
        raise NoSuchPath()
    return {
        "kind": "APIResourceList",
        **({"apiVersion": "v1"} if name else {}),
        "groupVersion": found[0].api_version,
        "resources": _sorted_entries(found),
    }


def _sorted_entries(found: Iterable[Resource]) -> list[Manifest]:
    entries = [entry for resource in found for entry in _entries(resource)]
    others = OTHERS if any(entry["name"] == "pods" for entry in entries) else []
    return sorted([*entries, *others], key=lambda entry: str(entry["name"]))


def aggregated(served: Served, *, core: bool) -> Manifest:
    """Return ``/api`` and ``/apis`` as one document of all groups and resources (APIGroupDiscoveryList)."""
    names = [""] if core else _group_names(served)
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [_aggregated_group(served, name) for name in names],
    }


def _aggregated_group(served: Served, name: str) -> Manifest:
    versions = ["v1"] if not name else [each["version"] for each in _group(served, name)["versions"]]
    return {
        "metadata": {"name": name} if name else {},
        "versions": [
            {
                "version": version,
                "resources": _aggregated_resources(
                    resources(served, name, version)["resources"], _place_of_kinds(name, version)
                ),
                "freshness": "Current",
            }
            for version in versions
        ],
    }


def _place_of_kinds(group: str, version: str) -> dict[str, str]:
    """Return the group and the version of a group's kinds, which upstream writes for custom resources
    only."""
    if group in BUILT_IN_GROUPS or group in REVIEWS:
        return {"group": "", "version": ""}
    return {"group": group, "version": version}


def _aggregated_resources(entries: Iterable[Manifest], place: dict[str, str]) -> list[Manifest]:
    """Return the entries of an APIResourceList, subresources within their resources. ``place``: the group and
    the version of a kind that has no others."""
    found: dict[str, Manifest] = {}
    for entry in entries:
        name, _, subresource = entry["name"].partition("/")
        given: dict[str, str] = {field: entry[field] for field in ("group", "version") if field in entry}
        kind = {**place, **given, "kind": entry["kind"]}
        if subresource:
            shown = {"subresource": subresource, "responseKind": kind, "verbs": entry["verbs"]}
            found[name].setdefault("subresources", []).append(shown)
            continue
        found[name] = {
            "resource": name,
            "responseKind": kind,
            "scope": "Namespaced" if entry["namespaced"] else "Cluster",
            "singularResource": entry["singularName"],
            "verbs": entry["verbs"],
            **{field: entry[field] for field in ("shortNames", "categories") if field in entry},
        }
    return [*found.values()]


def is_served(served: Served, name: str) -> bool:
    """Whether there are resources of an API group."""
    return name in REVIEWS or name in served.groups


def _group(served: Served, name: str) -> Manifest:
    found = served.groups.get(name, {})
    versions = [reviews.VERSION] if name in REVIEWS else sorted(found, key=version_order)
    if not versions:
        raise NoSuchGroup()
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _entries(resource: Resource) -> Iterable[Manifest]:
    """Yield the resource and its subresources."""
    entry: Manifest = {
        "name": resource.plural,
        "singularName": resource.singular,
        "namespaced": resource.namespaced,
        "kind": resource.kind,
        "verbs": _verbs(resource),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    for category, ids in CATEGORIES.items():
        if resource.id in ids:
            entry["categories"] = [category]
    yield {**entry, "storageVersionHash": storage_version_hash(resource)}
    found = {"status": STATUS} if resource.has_status else {}
    found |= {"scale": SCALE} if resource.scale else {}
    for name, (kind, verbs) in sorted((found | SUBRESOURCES.get(resource.id, {})).items()):
        group, _, short = kind.rpartition("/")
        typed = {"group": group.partition("/")[0], "version": group.partition("/")[2]} if group else {}
        yield {
            "name": f"{resource.plural}/{name}",
            "singularName": "",
            "namespaced": resource.namespaced,
            **typed,
            "kind": short or resource.kind,
            "verbs": verbs.split(),
        }


def _verbs(resource: Resource) -> list[str]:
    if find_built_in(resource.group, resource.plural) is None:
        return CUSTOM_VERBS
    return [verb for verb in VERBS if resource.id != "namespaces" or verb != "deletecollection"]


def storage_version_hash(resource: Resource) -> str:
    """Return the hash of the stored version (StorageVersionHash in
    apiserver/pkg/endpoints/discovery/storageversionhash.go)."""
    stored_in = STORED_IN if served_version().stores_newest_versions else {**FIRST_STORED_IN, **STORED_IN}
    version = stored_in.get(resource.id, f"{resource.group}/{resource.version}")
    digest = sha256(f"{version}/{resource.kind}".encode()).digest()
    return b64encode(digest[:8]).decode()

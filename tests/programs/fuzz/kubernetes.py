"""Requests to the Kubernetes API of a sandbox: all kinds, all verbs, valid and not."""

from collections.abc import Callable
from random import Random
from typing import Any
from urllib.parse import quote, urlencode

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import PODS
from simulator.apiserver.types.schema_types import type_of
from tests.programs.fuzz import bodies, objects, values
from tests.programs.fuzz.request import Request

Made = tuple[str, str, str, list[tuple[str, str]], bytes]
"""Method, path below the sandbox, query, headers, body."""

PARAMETERS: dict[str, tuple[str, ...]] = {
    "limit": ("0", "1", "2", "500", "-1", "9" * 18, "9" * 19),
    "continue": ("", "ZGVmYXVsdC9h", "/w==", "a", "ZGVmYXVsdC9h====", "é"),
    "resourceVersion": ("", "0", "1", "20", "100000", "9" * 18, "9" * 25, "-1", "a"),
    "resourceVersionMatch": ("NotOlderThan", "Exact", "a"),
    "labelSelector": ("app=web", "app in (web,db)", "!app", "app!=web,disk", "a in (", "=", ",,,", "a=b=c"),
    "fieldSelector": (
        "metadata.name=fuzz", "spec.nodeName=node-1", "status.phase!=Running", "spec.unschedulable=true",
        "involvedObject.name=fuzz", "spec.containers[0].name=main", "metadata.labels=a", "=", "a\\,b=c",
    ),
    "gracePeriodSeconds": ("0", "1", "30", "-1", "86400", "1000000000000", "9" * 18, "9" * 30, "1.5", "a"),
    "propagationPolicy": ("Orphan", "Background", "Foreground", "Sometimes", ""),
    "orphanDependents": ("true", "false", "a"),
    "dryRun": ("All", "None", "", "all"),
    "fieldManager": ("fuzz", "", "a" * 200, "\0"),
    "fieldValidation": ("Strict", "Warn", "Ignore", "a"),
    "force": ("true", "false", "a"),
    "pretty": ("true", "a"),
    "includeObject": ("None", "Metadata", "Object", "a"),
    "allowWatchBookmarks": ("true", "1", "a"),
    "sendInitialEvents": ("true", "false", "a"),
}  # fmt: skip

OFTEN = {"dryRun": 0.04, "fieldSelector": 0.1}
"""How often a parameter is given, where that is not one time in five."""

ACCEPT = (
    "application/json", "*/*", "", "application/yaml", "application/vnd.kubernetes.protobuf", ";;;,",
    "a" * 3000, "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
)  # fmt: skip

SUBRESOURCES = (
    "status", "binding", "eviction", "scale", "log", "exec", "ephemeralcontainers", "resize", "token",
    "finalize", "proxy", "approve", "",
)  # fmt: skip

OTHER_PATHS = (
    "api", "api/v1", "api/v2", "apis", "apis/apps", "apis/apps/v1", "apis/apps/v2",
    "apis/nothing.example.com/v1", "apis/example.com/v1", "version", "version/", "openapi/v3",
    "openapi/v3/api/v1", "openapi/v3/apis/apps/v1", "openapi/v3/apis/a/b/c", "openapi/v2", "trace",
    "trace?after=0", "trace?after=100000", "trace?after=-1", "trace?after=a", "recording",
    "api/v1/namespaces/default/bindings", "api/v1/componentstatuses", "healthz", "api//v1", "api/v1/",
    "apis/metrics.k8s.io/v1beta1/nodes", "api/v1/namespaces/default/status",
    "api/v1/namespaces/default/finalize", "apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
    "api/v1/nodes/node-1/proxy/metrics", "api/v1/pods/fuzz",
)  # fmt: skip


def request(rng: Random, number: int, base: str) -> Request:
    """``base``: the path of the sandbox, "/s/fuzz-0"."""
    resource, manifest = rng.choice(objects.kinds())
    if rng.random() < 0.4:  # what the loop works with
        resource, manifest = rng.choice([pair for pair in objects.kinds() if pair[0].kind in LOOP_KINDS])
    make = rng.choices([*VERBS], [*VERBS.values()])[0]
    method, path, query, headers, body = make(rng, resource, manifest)
    if rng.random() < 0.1:
        headers = [*headers, ("Accept", rng.choice(ACCEPT))]
    if rng.random() < 0.01:
        method = rng.choice(("OPTIONS", "TRACE", "FUZZ", "HEAD", "PUT", "PATCH", "DELETE", "POST"))
    full = f"{base}/{path}" + (("&" if "?" in path else "?") + query if query else "")
    hangs_up = "watch=" in query and ("timeoutSeconds=1" not in query or rng.random() < 0.9)
    return Request(number, method, full, headers, body, "first" if hangs_up else "whole")


LOOP_KINDS = {
    "Pod", "Node", "Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob",
    "PodDisruptionBudget", "PersistentVolumeClaim", "PersistentVolume", "Timetable",
}  # fmt: skip


def create(rng: Random, resource: Resource, manifest: Manifest) -> Made:
    if rng.random() < 0.15:
        manifest = values.of_type(rng, type_of(resource))
        if isinstance(manifest, dict):
            manifest |= {"apiVersion": resource.api_version, "kind": resource.kind}
            manifest["metadata"] = {"name": rng.choice(values.NAMES)}
    else:
        manifest = subject(rng, resource, manifest)
    path = objects.collection(resource, namespace(rng, manifest, 0.02))
    return (
        "POST",
        path,
        query(rng, "dryRun", "fieldManager", "fieldValidation"),
        *bodies.manifest(rng, manifest),
    )


def replace(rng: Random, resource: Resource, manifest: Manifest) -> Made:
    path = place(rng, resource, manifest)
    changed = subject(rng, resource, manifest, rename=False)
    return "PUT", path, query(rng, "dryRun", "fieldManager"), *bodies.manifest(rng, changed)


def patch(rng: Random, resource: Resource, manifest: Manifest) -> Made:
    path = place(rng, resource, manifest)
    headers, body = bodies.patch(rng, manifest, type_of(resource))
    return "PATCH", path, query(rng, "dryRun", "fieldManager", "force"), headers, body


def get(rng: Random, resource: Resource, manifest: Manifest) -> Made:
    return (
        rng.choice(("GET", "GET", "HEAD")),
        place(rng, resource, manifest),
        query(rng, "resourceVersion"),
        [],
        b"",
    )


def list_(rng: Random, resource: Resource, manifest: Manifest) -> Made:
    asked = query(
        rng, "limit", "continue", "resourceVersion", "labelSelector", "fieldSelector", "includeObject"
    )
    return "GET", objects.collection(resource, namespace(rng, manifest, 0.5)), asked, [], b""


def watch(rng: Random, resource: Resource, manifest: Manifest) -> Made:
    asked = query(
        rng, "resourceVersion", "labelSelector", "fieldSelector", "allowWatchBookmarks", "sendInitialEvents"
    )
    path = objects.collection(resource, namespace(rng, manifest, 0.5))
    if rng.random() < 0.2:
        path = place(rng, resource, manifest)
    seconds = rng.choice(("1", "1", "1", "0", "-1", "a", "9" * 18))
    return "GET", path, f"watch={rng.choice(('1', 'true'))}&timeoutSeconds={seconds}&{asked}", [], b""


def delete(rng: Random, resource: Resource, manifest: Manifest) -> Made:
    headers, body = bodies.delete_options(rng)
    asked = query(rng, "gracePeriodSeconds", "propagationPolicy", "dryRun", "orphanDependents")
    return "DELETE", place(rng, resource, manifest), asked, headers, body


def delete_collection(rng: Random, resource: Resource, manifest: Manifest) -> Made:
    headers, body = bodies.delete_options(rng)
    asked = query(rng, "labelSelector", "fieldSelector", "gracePeriodSeconds", "limit", "propagationPolicy")
    return "DELETE", objects.collection(resource, namespace(rng, manifest, 0.1)), asked, headers, body


def subresource(rng: Random, resource: Resource, manifest: Manifest) -> Made:
    """Those of pods mostly, which do something; then any of any kind."""
    name = rng.choice(SUBRESOURCES)
    sort = rng.random()
    if sort < 0.6:
        name = "binding" if sort < 0.3 else "eviction"
        make = bodies.binding if name == "binding" else bodies.eviction
        path = objects.collection(PODS, rng.choice(("default", "default", "team")))
        given = make(rng, name_of(rng, manifest))
        path = f"{path}/{name_of(rng, manifest)}/{name}"
        return "POST", path, query(rng, "dryRun", "gracePeriodSeconds"), *bodies.manifest(rng, given)
    changed = subject(rng, resource, manifest, rename=False)
    method = rng.choice(("GET", "PUT", "PUT", "PATCH", "PATCH", "POST", "DELETE"))
    headers, body = bodies.manifest(rng, changed)
    if method == "PATCH":
        headers, body = bodies.patch(rng, manifest, type_of(resource))
    return method, f"{place(rng, resource, manifest)}/{name}", query(rng, "dryRun"), headers, body


def other(rng: Random, resource: Resource, manifest: Manifest) -> Made:
    path = rng.choice(OTHER_PATHS)
    if rng.random() < 0.3:
        path = "/".join(quote(values.text(rng)[:300], safe="%") for _ in range(rng.randrange(1, 7)))
        path = f"{rng.choice(('api', 'apis', 'api/v1', 'apis/apps/v1'))}/{path}"
    if rng.random() < 0.8:
        return "GET", path, "", [], b""
    return rng.choice(("POST", "PUT", "DELETE")), path, "", *bodies.manifest(rng, manifest)


VERBS: dict[Callable[[Random, Resource, Manifest], Made], int] = {
    create: 34,
    replace: 8,
    patch: 16,
    get: 5,
    list_: 8,
    watch: 4,
    delete: 7,
    delete_collection: 1,
    subresource: 12,
    other: 5,
}


def subject(rng: Random, resource: Resource, manifest: Manifest, *, rename: bool = True) -> Manifest:
    """The valid object, a changed one mostly, under one of a few names."""
    if rng.random() < 0.6:
        manifest = values.changed(rng, manifest, type_of(resource))
    metadata = manifest.get("metadata")
    if rename and isinstance(metadata, dict) and metadata.get("name") == "fuzz":
        manifest = {**manifest, "metadata": {**metadata, "name": rng.choice(values.NAMES)}}
    return manifest


def place(rng: Random, resource: Resource, manifest: Manifest) -> str:
    """The path of an object."""
    return f"{objects.collection(resource, namespace(rng, manifest, 0.02))}/{name_of(rng, manifest)}"


def name_of(rng: Random, manifest: Manifest) -> str:
    sort = rng.random()
    if sort < 0.75:
        return str(manifest["metadata"].get("name", "fuzz"))
    return rng.choice(values.NAMES) if sort < 0.97 else quote(values.text(rng)[:300], safe="")


def namespace(rng: Random, manifest: Manifest, none: float) -> str:
    """The manifest's mostly; ``none``: how often it is none."""
    metadata = manifest.get("metadata") if isinstance(manifest, dict) else None
    own = metadata.get("namespace") if isinstance(metadata, dict) else None
    sort = rng.random()
    if sort < none:
        return ""
    return own if isinstance(own, str) and sort < 0.93 else rng.choice(values.NAMESPACES)


def query(rng: Random, *parameters: str) -> str:
    """Some of the parameters, and now and then one more, of which values may be wrong."""
    given: list[tuple[str, Any]] = [
        (name, values.text(rng) if rng.random() < 0.1 else rng.choice(PARAMETERS[name]))
        for name in parameters
        if rng.random() < OFTEN.get(name, 0.2)
    ]
    if rng.random() < 0.05:
        given.append((rng.choice([*PARAMETERS]), values.text(rng)))
    return urlencode([(name, str(each)[:2000]) for name, each in given], errors="replace")

"""From manifests to changes, as the API server's write path goes: decode, default, admit, validate.

Pure: nothing is written. The caller commits the changes, under the condition that the collections which
admission read (``unchanged``) were not written since, and asks again where they were.
"""

import copy
import hashlib
import uuid
from collections.abc import Sequence
from typing import Any

import msgspec

from simulator.api import Change, Manifest, Micros
from simulator.apiserver import decoding, priority, resources
from simulator.apiserver.defaults import complete, qos_class, set_defaults
from simulator.apiserver.event_versions import to_store
from simulator.apiserver.overlay import NewCluster, Overlay, Reader
from simulator.apiserver.resources import NAMESPACES, PODS, PRIORITY_CLASSES, Resource
from simulator.apiserver.status import (
    AlreadyExists,
    BadRequest,
    Forbidden,
    Invalid,
    NotFound,
    TooLarge,
)
from simulator.apiserver.timestamps import timestamp
from simulator.apiserver.validation import GENERATED_SUFFIX, SYSTEM_CLASSES, validate

BUILT_IN_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
MAX_COPIES = 1_000
"""Objects of one request: they are stored in one commit, which holds everybody else up."""
NAME_ATTEMPTS = 8
"""Suffixes tried for generateName, as upstream."""
NAME_ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""No vowels, no look-alikes (apimachinery/pkg/util/rand/rand.go)."""
MAX_GENERATED_PREFIX = 63 - GENERATED_SUFFIX

_UIDS = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")
"""The ISO OID name space of RFC 4122: any fixed one serves, the names under it are ours."""
SERVER_FIELDS = ("resourceVersion", "uid", "creationTimestamp", "managedFields", "selfLink", "generation")
DELETION_FIELDS = ("deletionTimestamp", "deletionGracePeriodSeconds")
"""Which no writer may set."""
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


class Admission(msgspec.Struct, frozen=True):
    """What to commit, and under which condition."""

    changes: list[Change]
    unchanged: dict[str, int]
    """Resource -> version at which admission read that collection."""


def admit(
    documents: Sequence[Manifest], reader: Reader, now: Micros, *, source: str, namespace: str = "default"
) -> Admission:
    """Create the objects of these manifests, all or none; each may rely on those before it.

    ``source`` names the request, uniquely in the sandbox: uids and generated names are drawn from it, so the
    same request gives the same objects. ``namespace`` is where objects go that name none. Raises a
    StatusError.
    """
    if len(documents) > MAX_COPIES:
        raise TooLarge(f"{len(documents)} objects in one request; at most {MAX_COPIES} are taken")
    overlay = Overlay(reader)
    for index, document in enumerate(documents):
        # The copies that a form asks for are one document, many times: it is decoded once.
        if index == 0 or document is not documents[index - 1]:
            resource, decoded = _decoded(document, overlay)
        number = f"{source}/{index}"
        _create(resource, copy.deepcopy(decoded), overlay, now, source=number, namespace=namespace)
    return Admission(overlay.changes, overlay.versions)


def new_cluster(documents: Sequence[Manifest], now: Micros) -> list[Change]:
    """A cluster with the objects of these manifests, in one commit. Nothing but the arguments goes into it:
    the same scenario gives the same names and uids wherever it is run."""
    changes = bootstrap(now)
    return changes + admit(documents, NewCluster(changes), now, source="new").changes


def bootstrap(now: Micros) -> list[Change]:
    """What every cluster begins with: its namespaces and the system priority classes."""
    built_in = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in BUILT_IN_NAMESPACES
    ] + [priority.system_class(name) for name in SYSTEM_CLASSES]
    return admit(built_in, NewCluster(), now, source="bootstrap").changes


def resource_of(manifest: Manifest, reader: Reader | Overlay) -> Resource:
    """The resource of a manifest. Raises BadRequest for a kind that there is not."""
    api_version, kind = manifest.get("apiVersion", ""), manifest.get("kind", "")
    if not isinstance(api_version, str) or not isinstance(kind, str) or not kind or not api_version:
        raise BadRequest("the manifest must have an apiVersion and a kind")
    known = resources.of_kind(api_version, kind)
    if known and known.group in resources.BUILT_IN_GROUPS:
        return known
    overlay = reader if isinstance(reader, Overlay) else Overlay(reader)
    known = resources.of_kind(api_version, kind, overlay.list(resources.CRDS))
    if known is None:
        hint = resources.meant(api_version[:100], kind[:100])
        raise BadRequest(
            f'no matches for kind "{kind[:100]}" in version "{api_version[:100]}"'
            + (f"; did you mean {hint}?" if hint else "")
        )
    return known


def _decoded(document: Manifest, overlay: Overlay) -> tuple[Resource, Manifest]:
    resource = resource_of(document, overlay)
    manifest, causes = decoding.decode(resource, document)
    if causes:
        raise Invalid(resource.kind, resource.group, _given_name(manifest), causes)
    return to_store(resource, manifest)


def _create(
    resource: Resource, manifest: Manifest, overlay: Overlay, now: Micros, *, source: str, namespace: str
) -> None:
    """Completes the manifest, and lays its creation over what there is."""
    metadata = manifest.setdefault("metadata", {})
    for field in (*SERVER_FIELDS, *DELETION_FIELDS):
        metadata.pop(field, None)
    if resource.namespaced:
        metadata.setdefault("namespace", namespace)
    _generate_name(resource, metadata, overlay, source)
    name = metadata.get("name", "")
    key = resource.key(metadata.get("namespace", ""), name)
    metadata["uid"] = str(uuid.uuid5(_UIDS, f"{source}/{resource.id}/{key}"))
    set_defaults(resource, manifest)
    complete(resource, manifest, timestamp(now))
    if resource == PODS:
        priority.resolve(manifest, overlay)
        manifest["status"] = _initial_status(manifest, now)
    if resource.id == "persistentvolumeclaims":
        _default_storage_class(manifest, overlay)
    causes = validate(resource, manifest)
    if causes:
        raise Invalid(resource.kind, resource.group, name, causes)
    if resource.namespaced:
        _check_namespace(resource, metadata, overlay)
    if resource == PRIORITY_CLASSES:
        priority.check_global_default(manifest, overlay)
    if (resource.id, key) in overlay.changed:
        raise AlreadyExists(resource.id, name)
    metadata["creationTimestamp"] = timestamp(now)
    overlay.put(Change(resource.id, key, manifest, expected=0))


def _given_name(manifest: Manifest) -> str:
    """The name that a manifest with faults gives its object; empty where there is none."""
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    return name if isinstance(name, str) else ""


def _generate_name(resource: Resource, metadata: dict[str, Any], overlay: Overlay, source: str) -> None:
    prefix = metadata.get("generateName", "")
    if metadata.get("name") or not prefix:
        return
    for attempt in range(NAME_ATTEMPTS):
        digest = hashlib.sha256(f"{source}/{attempt}".encode()).digest()
        suffix = "".join(NAME_ALPHABET[byte % len(NAME_ALPHABET)] for byte in digest[:GENERATED_SUFFIX])
        metadata["name"] = prefix[:MAX_GENERATED_PREFIX] + suffix
        key = resource.key(metadata.get("namespace", ""), metadata["name"])
        if (resource.id, key) not in overlay.changed:
            break


def _initial_status(pod: Manifest, now: Micros) -> Manifest:
    """A new pod is Pending. One that is bound already comes from elsewhere (a scenario, a dump of a cluster)
    and keeps the status that it came with. Upstream: pkg/registry/core/pod/strategy.go PrepareForCreate."""
    spec = pod["spec"]
    status: Manifest = dict(pod.get("status", {})) if spec.get("nodeName") else {}
    status.setdefault("phase", "Pending")
    status["qosClass"] = qos_class(pod)
    if spec.get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
                "lastTransitionTime": timestamp(now),
            }
        ]
    return status


def _default_storage_class(claim: Manifest, overlay: Overlay) -> None:
    """A claim that names no class gets the default one, the newest where there are several.

    Upstream: plugin/pkg/admission/storage/storageclass/setdefault/admission.go."""
    if "storageClassName" in claim["spec"]:
        return
    defaults = [
        item
        for item in overlay.list("storageclasses.storage.k8s.io")
        if item["metadata"].get("annotations", {}).get(_DEFAULT_CLASS) == "true"
    ]
    if defaults:
        newest = max(defaults, key=lambda item: item["metadata"]["creationTimestamp"])
        claim["spec"]["storageClassName"] = newest["metadata"]["name"]


def _check_namespace(resource: Resource, metadata: dict[str, Any], overlay: Overlay) -> None:
    name = metadata["namespace"]
    namespace = overlay.get(NAMESPACES.id, name)
    if namespace is None and name not in BUILT_IN_NAMESPACES:
        raise NotFound(NAMESPACES.id, name)
    if namespace and "deletionTimestamp" in namespace["metadata"]:
        detail = f"unable to create new content in namespace {name} because it is being terminated"
        raise Forbidden(resource.id, metadata.get("name", ""), detail)

"""The objects of a running cluster, from the pages of the lists of its API server.

They are those that an import makes of a dump, but only what the scheduler reads is decoded. The pods of a
template share its spec, which is redacted, fitted to its type and completed once: a cluster has 50,000 pods
and some hundred templates.
"""

from collections.abc import Collection, Iterator
from sys import intern
from types import GenericAlias
from typing import Any, Final

import msgspec
from msgspec import UNSET

from simulator.api import Manifest, Micros
from simulator.apiserver import resources
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NODES, PODS
from simulator.dumps.fitting import Unfit
from simulator.dumps.imported import Import, ImportReport
from simulator.dumps.redaction import (
    KEPT_CONTAINER_FIELDS,
    KEPT_POD_FIELDS,
    KEPT_VOLUME_FIELDS,
    redact_metadata,
)
from simulator.kernel.prepared_types import prepared
from simulator.versions.features import Features

PODS_AT_MOST: Final = 200_000
"""Maximum number of pods: more than the 150,000 for which Kubernetes is made."""
REPLICA_SETS: Final = "replicasets.apps"
OWN_FIELDS: Final = ("affinity", "volumes")
"""The fields of a spec in which pods of one owner differ: each pod of a DaemonSet has an affinity to its
node, each of a StatefulSet a claim."""
UNREAD_FIELDS: Final = ("hostname", "subdomain")
"""Fields that an import keeps for the kubelet."""
ANY_SPEC: Final = {"containers": [{"name": "any", "image": "any"}]}
READ_CONDITIONS: Final = ("PodScheduled", "PodResizePending", "DisruptionTarget")


class ListFault(ValueError):
    """A page is no list of Kubernetes, or there are too many objects. The message is one line."""


# What is decoded. The fields have the names of the API.


def _struct(name: str, fields: Collection[str], **typed: Any) -> Any:
    """Return a struct with these fields, of any type but the ``typed`` ones. A field that is missing is
    UNSET."""
    types = {**dict.fromkeys(sorted(fields), Any), **typed}
    return msgspec.defstruct(
        name, [(field, kind | msgspec.UnsetType, UNSET) for field, kind in types.items()]
    )


def _list_of(kind: Any) -> Any:
    return GenericAlias(list, (kind,)) | None


_Containers: Final = _list_of(_struct("ReadContainer", KEPT_CONTAINER_FIELDS))
_Spec: Final = _struct(
    "ReadPodSpec",
    KEPT_POD_FIELDS.difference(UNREAD_FIELDS),
    containers=_Containers,
    initContainers=_Containers,
    volumes=_list_of(_struct("ReadVolume", KEPT_VOLUME_FIELDS)),
)
CONTAINER_STATUS_FIELDS: Final = ("name", "resources", "allocatedResources")
_Metadata: Final = _struct(
    "ReadMetadata",
    {
        *("name", "namespace", "uid", "labels", "annotations", "ownerReferences"),
        *("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
    },
)


def pod_type(container_status_fields: Collection[str] = CONTAINER_STATUS_FIELDS) -> Any:
    """Return the struct of a pod, with what is read of the status of its containers."""
    containers = _list_of(_struct("ReadContainerStatus", container_status_fields))
    status = _struct(
        "ReadPodStatus",
        {
            *("phase", "startTime", "nominatedNodeName", "resources", "allocatedResources"),
            *("nodeAllocatableResourceClaimStatuses", "resourceClaimStatuses", "extendedResourceClaimStatus"),
        },
        conditions=_list_of(
            _struct("ReadCondition", ("type", "status", "reason", "message", "lastTransitionTime"))
        ),
        containerStatuses=containers,
        initContainerStatuses=containers,
    )
    return _struct("ReadPod", (), metadata=_Metadata, spec=_Spec, status=status)


_Pods: Final = _struct("ReadPods", (), items=_list_of(pod_type()))
_ReplicaSets: Final = _struct(
    "ReadReplicaSets",
    (),
    items=_list_of(
        _struct("ReadReplicaSet", (), metadata=_Metadata, spec=_struct("ReadOwnerSpec", ("selector",)))
    ),
)
"""Of a ReplicaSet only the selector is read. Most are those of old revisions, each with a template."""
_Objects: Final = _struct("ReadObjects", (), items=_list_of(Manifest))
_Metadatas: Final = _struct("ReadList", (), metadata=_struct("ReadListMeta", ("continue",)))


def continue_token(page: bytes) -> str:
    """Return the token with which a list goes on after a page; "" = it is the last one. Raises ListFault."""
    metadata = msgspec.to_builtins(_decode(page, _Metadatas)).get("metadata") or {}
    return str(metadata.get("continue") or "")


def _decode(page: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(page, type=prepared(kind))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as failure:
        raise ListFault(f"not a list of Kubernetes: {failure}") from None


class ListedObjects:
    """Takes the pages, and yields the objects."""

    def __init__(self, now: Micros, salt: bytes, features: Features) -> None:
        """The arguments are those of :class:`simulator.dumps.imported.Import`."""
        self._import = Import(now, salt, features)
        self._images: dict[str, Any] = {}
        """The images of each node; nodes have the same ones."""
        self._replica_sets: list[Manifest] = []
        self.pods: dict[str, Manifest] = {}
        """The pods by their keys."""
        self._specs: dict[bytes, Manifest | str] = {}
        """The spec of each template as it is stored, or why it is refused."""
        self._shared: dict[bytes, Any] = {}
        """Values of which many pods have the same, by their JSON."""

    @property
    def report(self) -> ImportReport:
        """What was left out. It is complete when all items have been yielded."""
        return self._import.report

    def begin(self, resource: Resource) -> None:
        """Begin the list of a resource, also anew where it had to be given up."""
        if resource == PODS:
            self.pods.clear()
        elif resource.id == REPLICA_SETS:
            self._replica_sets.clear()
        else:
            self._import.forget(resource)

    def take(self, resource: Resource, page: bytes) -> None:
        """Take the objects of a page. Raises ListFault."""
        if resource == PODS:
            for pod in _decode(page, _Pods).items or ():
                self._take_pod(pod)
            if len(self.pods) > PODS_AT_MOST:
                raise ListFault(f"more than {PODS_AT_MOST:,} pods")
        elif resource.id == REPLICA_SETS:
            for owner in _decode(page, _ReplicaSets).items or ():
                self._replica_sets.append(
                    {"kind": resource.kind, "metadata": self._metadata(owner), "spec": _given(owner.spec)}
                )
        else:
            for manifest in _decode(page, _Objects).items or ():
                if resource == NODES:
                    self._put_images_aside(manifest)
                # The items of a list have no apiVersion and kind of their own.
                self._import.take({**manifest, "apiVersion": resource.api_version, "kind": resource.kind})

    def items(self) -> Iterator[tuple[Resource, Manifest]]:
        """Yield all objects as an import makes them."""
        for change in self._import.changes(keep_owners=True):
            plural, _, group = change.resource.partition(".")
            resource, manifest = resources.find_built_in(group, plural), change.object
            assert resource is not None
            assert manifest is not None
            if resource == NODES and (images := self._images.get(change.key)):
                manifest.setdefault("status", {})["images"] = images
            yield resource, manifest
        owners = resources.find_by_kind("apps/v1", "ReplicaSet")
        assert owners is not None
        yield from ((owners, manifest) for manifest in self._replica_sets)
        yield from ((PODS, manifest) for manifest in self.pods.values())

    def _put_images_aside(self, node: Manifest) -> None:
        """Keep the images of a node, the most of it, beside the import."""
        try:
            listed = node["status"].pop("images") or ()
            self._images[node["metadata"]["name"]] = [*map(self._share, listed)]
        except (KeyError, TypeError, AttributeError):
            return  # it has none, or the import says what is wrong

    # Pods

    def _take_pod(self, pod: Any) -> None:
        found = self._read_pod(pod)
        if found is not None:
            metadata = found["metadata"]
            self.pods[PODS.key(metadata.get("namespace", "default"), metadata["name"])] = found

    def _read_pod(self, pod: Any) -> Manifest | None:
        """Return a pod as it is stored; None if it is refused, which the report says."""
        if pod.spec is UNSET or pod.metadata is UNSET:
            return None
        metadata, status = self._metadata(pod), self._read_status(pod.status)
        node = pod.spec.nodeName
        pod.spec.nodeName = UNSET
        spec = self._stored_spec(pod.spec)
        if isinstance(spec, str):
            self._import.refuse(PODS, {"metadata": metadata}, spec)
            return None
        return {
            "apiVersion": PODS.api_version,
            "kind": PODS.kind,
            "metadata": metadata,
            "spec": {**spec, "nodeName": intern(node)} if isinstance(node, str) and node else spec,
            "status": status,
        }

    def _metadata(self, given: Any) -> Manifest:
        found: Manifest = redact_metadata(_given(given.metadata), _note_nothing)
        for field in ("labels", "ownerReferences"):
            if field in found:
                found[field] = self._share(found[field])
        if "namespace" in found:
            found["namespace"] = intern(found["namespace"])
        return found

    def _read_status(self, status: Any) -> Manifest:
        if status is UNSET:
            return {"phase": "Pending"}
        if status.conditions is not UNSET and status.conditions:
            # That a bound pod was scheduled says nothing more.
            status.conditions = [each for each in status.conditions if self._is_read(each)] or UNSET
        found: Manifest = self._share(_given(status))
        return found

    def _is_read(self, condition: Any) -> bool:
        return condition.type in READ_CONDITIONS and (condition.type, condition.status) != (
            "PodScheduled",
            "True",
        )

    def _stored_spec(self, spec: Any) -> Manifest | str:
        """Return the spec of a pod without its node as it is stored; why it is refused if it is."""
        if spec.volumes is not UNSET and spec.volumes:
            # The volume of the service account's token has another name in each pod.
            spec.volumes = [each for each in spec.volumes if len(_given(each)) > 1] or UNSET
        own: Manifest = {}
        for field in OWN_FIELDS:
            value = getattr(spec, field)
            if value is UNSET:
                continue
            setattr(spec, field, UNSET)
            part = self._restored(msgspec.json.encode({**ANY_SPEC, field: value}))
            if isinstance(part, str):
                return part
            if field in part:
                own[field] = part[field]
        shared = self._restored(msgspec.json.encode(spec))
        return shared if isinstance(shared, str) or not own else {**shared, **own}

    def _restored(self, text: bytes) -> Manifest | str:
        known = self._specs.get(text)
        if known is None:
            known = self._specs[text] = self._restore_spec(msgspec.json.decode(text, type=Manifest))
        return known

    def _restore_spec(self, spec: Manifest) -> Manifest | str:
        named = {"apiVersion": PODS.api_version, "kind": PODS.kind, "metadata": {"name": "template"}}
        try:
            found, causes = self._import.restore(PODS, {**named, "spec": spec}, _note_nothing)
        except Unfit as unfit:
            return str(unfit)
        stored: Manifest = found["spec"]
        return str(causes[0]) if causes else stored

    def _share(self, value: Any) -> Any:
        return self._shared.setdefault(msgspec.json.encode(value), value)


def _given(struct: Any) -> Manifest:
    """Return the fields that are there."""
    found: Manifest = {} if struct is UNSET else msgspec.to_builtins(struct)
    return found


def _note_nothing(_: str) -> None:
    """What is left out of these objects is not counted."""

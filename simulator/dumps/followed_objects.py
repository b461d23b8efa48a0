"""The objects of a running cluster one by one, from its lists and watches, as a mirror stores them.

They are redacted as by an import. Of pods only what the simulation reads is decoded, and the pods of a
template share its spec (:mod:`simulator.dumps.listed_objects`). Of Events only those of schedulers are kept.
"""

from collections.abc import Collection
from typing import Any, Final, NamedTuple

import msgspec

from simulator.api import Manifest, Micros
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NODES, PODS
from simulator.dumps.fitting import Unfit
from simulator.dumps.imported import MAX_NAMED
from simulator.dumps.listed_objects import CONTAINER_STATUS_FIELDS, ListedObjects, ListFault, pod_type
from simulator.dumps.redaction import redact_metadata
from simulator.kernel.prepared_types import prepared
from simulator.objects.events import EVENTS
from simulator.versions.features import Features

SCHEDULING_REASONS: Final = frozenset({"Scheduled", "FailedScheduling", "Preempted"})
"""The reasons of the Events of schedulers. Their messages have names and amounts only."""
EVENT_FIELDS: Final = (
    *("involvedObject", "related", "reason", "message", "type", "action", "count", "series"),
    *("firstTimestamp", "lastTimestamp", "eventTime", "source", "reportingComponent", "reportingInstance"),
)
PLACED_BY: Final = ("affinity", "nodeSelector", "topologySpreadConstraints", "schedulingGroup")
"""The fields of the spec of a pod that chose its node, and take no room there."""
ROOM_METADATA: Final = (
    *("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
)
HEARTBEAT: Final = "lastHeartbeatTime"
"""The field of a node's conditions that changes every few minutes, and that no rule reads."""


class _ListMeta(msgspec.Struct, rename={"resource_version": "resourceVersion"}):
    resource_version: str = ""


class _ItemMeta(msgspec.Struct, rename={"resource_version": "resourceVersion"}):
    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""


class _Item(msgspec.Struct):
    metadata: _ItemMeta


class _Page(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[msgspec.Raw] | None = None


class _Line(msgspec.Struct):
    type: str
    object: msgspec.Raw


class _Bookmark(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)


class _Status(msgspec.Struct):
    code: int = 0
    message: str = ""


_POD: Final = pod_type((*CONTAINER_STATUS_FIELDS, "ready", "started", "restartCount"))
"""A branch goes on with the containers that run."""


class Named(NamedTuple):
    """What is read of each object first."""

    key: str
    uid: str
    version: str
    """Its resourceVersion in the real cluster."""


class WatchLine(NamedTuple):
    """``kind``: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR. ``version``: the resourceVersion of a bookmark.
    ``code``, ``message``: of an error."""

    kind: str
    object: bytes
    version: str = ""
    code: int = 0
    message: str = ""


def read_page(page: bytes) -> tuple[str, list[bytes]]:
    """Return the resourceVersion of a list, and the objects of a page of it. Raises ListFault."""
    found = _decode(page, _Page)
    return found.metadata.resource_version, [bytes(item) for item in found.items or ()]


def read_line(text: bytes) -> WatchLine:
    """Raises ListFault."""
    line = _decode(text, _Line)
    data = bytes(line.object)
    if line.type == "BOOKMARK":
        return WatchLine(line.type, b"", _decode(data, _Bookmark).metadata.resource_version)
    if line.type == "ERROR":
        status = _decode(data, _Status)
        return WatchLine(line.type, b"", "", status.code, status.message)
    return WatchLine(line.type, data)


def read_name(resource: Resource, data: bytes) -> Named:
    """Raises ListFault."""
    metadata = _decode(data, _Item).metadata
    key = resource.key(metadata.namespace or "default", metadata.name)
    return Named(key, metadata.uid, metadata.resource_version)


def _decode(data: bytes, kind: Any) -> Any:
    try:
        return msgspec.json.decode(data, type=prepared(kind))
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as failure:
        raise ListFault(f"not an answer of Kubernetes: {failure}") from None


class FollowedObjects(ListedObjects):
    """Reads the objects. It holds none, but the specs of the templates that it has seen."""

    def __init__(
        self, now: Micros, salt: bytes, features: Features, namespaces: Collection[str] = ()
    ) -> None:
        """``namespaces``: of the pods that are read whole; none = all. Of others only their room is."""
        super().__init__(now, salt, features)
        self._namespaces = namespaces
        self.features = features
        self._pod: Any = prepared(_POD)

    def read(self, resource: Resource, data: bytes) -> Manifest | None:
        """Return an object as it is stored; None for what is not kept, and for an object that the import
        would refuse (``report``). Raises ListFault."""
        if resource == PODS:
            pod = self._read_pod(_decode(data, self._pod))
            if pod is None or not self._namespaces or pod["metadata"]["namespace"] in self._namespaces:
                return pod
            return _only_room(pod)
        manifest = _decode(data, Manifest)
        if resource.id == EVENTS:
            return _read_event(manifest)
        if resource == NODES:
            _forget_heartbeats(manifest)
        given = {**manifest, "apiVersion": resource.api_version, "kind": resource.kind}
        try:
            found, causes = self._import.restore(resource, given, lambda _: None)
        except Unfit as unfit:
            self._import.refuse(resource, given, str(unfit))
            return None
        if causes:
            self._import.refuse(resource, given, str(causes[0]))
            return None
        return found

    def refuse_large(self, resource: str, key: str, why: str) -> None:
        """Record in the report that an object is left out, as it is too large."""
        self.report.refusals += 1
        if len(self.report.refused) < MAX_NAMED:
            self.report.refused.append(f"{resource} {key}: {why}")

    def _is_read(self, condition: Any) -> bool:
        """The page shows all, and a branch goes on with them."""
        return True


def _forget_heartbeats(node: Manifest) -> None:
    for condition in (node.get("status") or {}).get("conditions") or ():
        condition.pop(HEARTBEAT, None)


def _read_event(event: Manifest) -> Manifest | None:
    if event.get("reason") not in SCHEDULING_REASONS:
        return None
    kept = {field: event[field] for field in EVENT_FIELDS if event.get(field) is not None}
    metadata = redact_metadata(event.get("metadata") or {}, lambda _: None)
    return {"apiVersion": "v1", "kind": "Event", "metadata": metadata, **kept}


def _only_room(pod: Manifest) -> Manifest | None:
    """Return a pod with what it takes of its node, and what preemption compares; None if it has no node."""
    spec = {field: value for field, value in pod["spec"].items() if field not in PLACED_BY}
    if not spec.get("nodeName"):
        return None
    metadata = {field: value for field, value in pod["metadata"].items() if field in ROOM_METADATA}
    return {**pod, "metadata": metadata, "spec": spec}

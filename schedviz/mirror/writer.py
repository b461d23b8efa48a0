"""Writes what happens in a real cluster into its mirror, as the leader of the sandbox."""

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import msgspec

from schedviz.loop.leader import Leader
from schedviz.mirror.first_lists import FirstLists, Known, changed, digest, known
from schedviz.real_cluster.follow import Message
from schedviz.store import Commit, LimitReached, Sandbox, codec
from schedviz.store.parts import parts_of
from simulator.api import Change, Manifest, WatchEvent, versioned
from simulator.apiserver.resources import PODS
from simulator.dumps.followed_objects import FollowedObjects, read_name
from simulator.kernel.prepared_types import prepared
from simulator.objects.metadata import is_within
from simulator.trace import AnyEvent
from simulator.verdicts.judge import Waited


class Followed(NamedTuple):
    """A change that is stored. ``event``: the object as it is stored, at its version in the sandbox; for
    DELETED the last state that the cluster said. ``real_version``: its resourceVersion in the real cluster,
    "" = not known. ``received``: monotonic seconds; 0 = it was in a list."""

    event: WatchEvent
    real_version: str
    received: float


Listener = Callable[[Sequence[Followed]], Sequence[AnyEvent]]
"""Hears of all changes in the order in which they are stored. Returns trace events, which are stored with the
next commit."""


class _Pending(NamedTuple):
    change: Change
    last: Manifest | None
    """The last state of an object that is deleted."""
    real_version: str
    received: float


class StoredObjects(NamedTuple):
    """What is kept of the stored objects. ``waiting``: the pods without a node, by key."""

    known: dict[str, dict[str, Known]]
    waiting: dict[str, Waited]


def stored_objects(sandbox: Sandbox) -> StoredObjects:
    objects, _ = sandbox.stored_objects()
    found = StoredObjects({resource: {} for resource in objects}, {})
    for resource, collection in objects.items():
        kind = _Pod if resource == PODS.id else _Stored
        for key, data in collection.items():
            _, json = codec.split_object(data)
            read = msgspec.json.decode(json, type=prepared(kind))
            found.known[resource][key.decode()] = Known(read.metadata.uid, digest(json))
            if isinstance(read, _Pod) and not read.spec.node_name:
                found.waiting[key.decode()] = Waited(read.metadata.uid, read.status.scheduled_message())
    return found


class _Uid(msgspec.Struct):
    uid: str = ""


class _Stored(msgspec.Struct):
    metadata: _Uid


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""


class _Condition(msgspec.Struct):
    type: str = ""
    message: str = ""


class _Status(msgspec.Struct):
    conditions: list[_Condition] = []

    def scheduled_message(self) -> str:
        return next((each.message for each in self.conditions if each.type == "PodScheduled"), "")


class _Pod(_Stored):
    spec: _Spec
    status: _Status = msgspec.field(default_factory=_Status)


class MirrorWriter:
    """Not thread-safe."""

    def __init__(
        self,
        leader: Leader,
        objects: FollowedObjects,
        stored: dict[str, dict[str, Known]],
        listener: Listener | None = None,
    ) -> None:
        self._leader = leader
        self._objects = objects
        self._known = stored
        self._listener = listener
        self._listing: dict[tuple[str, str], set[str]] = {}
        """Resources that are listed again, with the namespace -> the keys that the list has so far."""

    @property
    def is_listing(self) -> bool:
        """Whether a resource is listed again."""
        return bool(self._listing)

    def begin(self, first: FirstLists) -> None:
        """Store what has changed while nobody mirrored. Raises LimitReached, StaleLease, NoSandbox."""
        self._store([_Pending(change, None, "", 0.0) for change in first.differences(self._known)])
        self._known = {**self._known, **first.known()}

    def take(self, messages: Sequence[Message]) -> None:
        """Store what the messages say. Raises ListFault, LimitReached, StaleLease, NoSandbox."""
        pending: list[_Pending] = []
        for message in _in_order(messages):
            resource = message.resource
            listing = resource.id, message.namespace
            match message.kind:
                case "BEGUN":
                    self._listing[listing] = set()
                case "PAGE":
                    for data in message.objects:
                        named = read_name(resource, data)
                        self._listing[listing].add(named.key)
                        pending += self._seen(message, named.key, named.uid, named.version, data)
                case "ENDED":
                    gone = self._known.get(resource.id, {}).keys() - self._listing.pop(listing)
                    for key in (key for key in gone if is_within(key, message.namespace)):
                        pending += self._gone(message, key, None, "")
                case "SEEN":
                    assert message.line is not None
                    assert message.named is not None
                    key, uid, version = message.named
                    if message.line.kind == "DELETED":
                        pending += self._gone(message, key, message.line.object, version)
                    else:
                        pending += self._seen(message, key, uid, version, message.line.object)
        self._store(pending)

    def _seen(self, message: Message, key: str, uid: str, version: str, data: bytes) -> list[_Pending]:
        resource = message.resource
        manifest = self._objects.read(resource, data)
        if manifest is None:
            return []
        collection = self._known.setdefault(resource.id, {})
        try:
            now = known(manifest, uid)
        except LimitReached as limit:
            self._objects.refuse_large(resource.id, key, str(limit))
            return self._gone(message, key, None, "")
        changes = [*changed(resource.id, key, manifest, collection.get(key), now)]
        collection[key] = now
        return [_Pending(change, None, version, message.received) for change in changes]

    def _gone(self, message: Message, key: str, data: bytes | None, version: str) -> list[_Pending]:
        resource = message.resource
        if self._known.get(resource.id, {}).pop(key, None) is None:
            return []
        last = self._objects.read(resource, data) if data else None
        return [_Pending(Change(resource.id, key, None), last, version, message.received)]

    def _store(self, pending: Sequence[_Pending]) -> None:
        sandbox, stored = self._leader.sandbox, iter(pending)
        followed: list[Followed] = []
        exists = {change.key for change, *_ in pending if change.expected != 0}
        for part in parts_of((each.change for each in pending), sandbox if exists else None):
            versions = sandbox.commit(Commit(part, lease=self._leader.lease))
            followed += [_followed(next(stored), version) for version in versions]
        if all(each.event.object for each in followed):
            self._leader.hand([each.event for each in followed])
        if followed and self._listener:
            self._leader.note(self._listener(followed))


def _followed(pending: _Pending, version: int) -> Followed:
    change, last, real_version, received = pending
    if change.object is None:
        shown = versioned(last, version) if last else {}
        event = WatchEvent("DELETED", change.resource, change.key, shown, version)
    else:
        kind: Literal["ADDED", "MODIFIED"] = "ADDED" if change.expected == 0 else "MODIFIED"
        event = WatchEvent(kind, change.resource, change.key, versioned(change.object, version), version)
    return Followed(event, real_version, received)


def _in_order(messages: Sequence[Message]) -> list[Message]:
    """Sort lines of the watches by resourceVersion, as those of one resource may have been read before
    earlier ones of another. Lists stay where they are."""
    found: list[Message] = []
    lines: list[Message] = []
    for message in messages:
        if message.kind == "SEEN":
            lines.append(message)
            continue
        found += sorted(lines, key=lambda each: each.order)
        found.append(message)
        lines = []
    return found + sorted(lines, key=lambda each: each.order)

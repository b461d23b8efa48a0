"""All objects of a real cluster, as the first lists have them, and whether they fit a sandbox."""

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Final, NamedTuple

from schedviz.real_cluster.errors import ClusterError
from schedviz.real_cluster.follow import Message
from schedviz.store import LimitReached, codec
from schedviz.store.bounds import LOG_BYTES, MAX_OBJECTS
from schedviz.store.commit_script import LIMITS
from simulator.api import Change, Manifest, Micros, versioned
from simulator.apiserver.new_cluster import bootstrap
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NAMESPACES, NODES, PODS
from simulator.apiserver.served_features import serving
from simulator.dumps.followed_objects import FollowedObjects, read_name
from simulator.objects.events import EVENTS
from simulator.objects.metadata import is_within

LEFT_OUT_FIRST: Final = (EVENTS, "controllerrevisions.apps")
"""The resources that no rule of the scheduler reads, which are left out where not all fits. Pods that have
ended are never followed."""
DIGEST_BYTES: Final = 8


class Known(NamedTuple):
    """What is kept of a stored object: enough to see whether it has changed."""

    uid: str
    digest: bytes


def known(manifest: Manifest, uid: str) -> Known:
    """Raises LimitReached for an object that is too large."""
    return Known(uid, digest(codec.object_json(manifest)))


def digest(stored: bytes) -> bytes:
    return blake2b(stored, digest_size=DIGEST_BYTES).digest()


class FirstLists:
    """Takes the messages of the first lists."""

    def __init__(self, reader: FollowedObjects) -> None:
        self._reader = reader
        self.objects: dict[str, dict[str, tuple[Manifest, Known]]] = {}
        """The resources that were read -> key -> the object as it is stored."""
        self._bytes: dict[tuple[str, str], int] = {}
        """The sizes, by the resource and the namespace of the list, "" = all."""
        self.left_out: list[str] = []
        """The resources that are not followed, as not all fits."""

    def take(self, message: Message) -> None:
        """Raises ListFault."""
        resource = message.resource
        if message.kind == "BEGUN":
            self._begin(resource.id, message.namespace)
        for data in message.objects:
            named = read_name(resource, data)
            manifest = self._reader.read(resource, data)
            if manifest is not None:
                self._put(resource.id, named.key, manifest, named.uid, message.namespace)

    def _begin(self, resource: str, namespace: str) -> None:
        """Forget what was read of a list."""
        known = self.objects.get(resource, {})
        self.objects[resource] = {key: each for key, each in known.items() if not is_within(key, namespace)}
        self._bytes[resource, namespace] = 0

    def _put(self, resource: str, key: str, manifest: Manifest, uid: str, namespace: str = "") -> None:
        try:
            text = codec.object_json(manifest)
        except LimitReached as limit:
            self._reader.refuse_large(resource, key, str(limit))
            return
        self.objects.setdefault(resource, {})[key] = manifest, Known(uid, digest(text))
        self._bytes[resource, namespace] = self._bytes.get((resource, namespace), 0) + len(text)

    def forget(self, resource: Resource, namespace: str) -> None:
        """Forget a list that could not be read. What is stored of the resource stays if there is no other
        list of it."""
        self._begin(resource.id, namespace)
        del self._bytes[resource.id, namespace]
        if not any(known == resource.id for known, _ in self._bytes):
            del self.objects[resource.id]

    def add_missing(self, now: Micros) -> None:
        """Add what a branch needs where it could not be read: the namespaces of the objects, and the system
        priority classes."""
        there = {*self.objects}
        with serving(self._reader.features):
            for change in bootstrap(now):
                if change.resource not in there and change.object:
                    self._put(change.resource, change.key, change.object, change.object["metadata"]["uid"])
            if NAMESPACES.id not in there:
                used = {
                    str(manifest["metadata"]["namespace"])
                    for collection in self.objects.values()
                    for manifest, _ in collection.values()
                    if "namespace" in manifest["metadata"]
                }
                for name in sorted(used - {*self.objects.get(NAMESPACES.id, {})}):
                    data = b'{"metadata":{"name":"' + name.encode() + b'"}}'
                    made = self._reader.read(NAMESPACES, data)
                    assert made is not None
                    self._put(NAMESPACES.id, name, made, made["metadata"]["uid"])

    def fit(self) -> None:
        """Leave out what no rule reads if not all fits. Raises ClusterError, with both figures, if the rest
        does not fit either."""
        for resource in LEFT_OUT_FIRST:
            if self._excess() and resource in self.objects:
                self.left_out.append(resource)
                del self.objects[resource]
                self._bytes = {key: size for key, size in self._bytes.items() if key[0] != resource}
        if excess := self._excess():
            raise ClusterError(f"the cluster does not fit: {excess}")

    def _excess(self) -> str:
        size = sum(self._bytes.values())
        figures: Sequence[tuple[int, int, str, str]] = (
            (
                len(self.objects.get(PODS.id, {})),
                LIMITS["pods"],
                "pods that have not ended",
                "MAX_PODS_PER_SANDBOX",
            ),
            (len(self.objects.get(NODES.id, {})), LIMITS["nodes"], "nodes", "MAX_NODES_PER_SANDBOX"),
            (sum(map(len, self.objects.values())), MAX_OBJECTS, "objects", "the maximum"),
            (
                (size + min(size, LOG_BYTES)) // 1_000_000,
                LIMITS["bytes"] // 1_000_000,
                "MB of objects with their log",
                "MAX_MEGABYTES_PER_SANDBOX",
            ),
        )
        over = [
            f"it has {found:,} {what}, and {limit} is {most:,}"
            for found, most, what, limit in figures
            if 0 < most < found
        ]
        return "; ".join(over)

    def decode(self, resource: str, key: str, data: bytes) -> Manifest:
        """Return a stored object: the one of the lists where it is the same, as the pods of a template share
        its spec there."""
        version, text = codec.split_object(data)
        found = self.objects.get(resource, {}).get(key)
        if found is None or found[1].digest != digest(text):
            return codec.with_version(text, version)
        return versioned(found[0], version)

    def changes(self) -> Iterator[Change]:
        """Yield the changes that create all."""
        for resource, collection in self.objects.items():
            for key, (manifest, _) in collection.items():
                yield Change(resource, key, manifest, expected=0)

    def differences(self, stored: dict[str, dict[str, Known]]) -> Iterator[Change]:
        """Yield the changes that make what is stored equal to the lists. Objects of resources that were not
        read stay."""
        for resource, collection in self.objects.items():
            before = stored.get(resource, {})
            for key in before.keys() - collection.keys():
                yield Change(resource, key, None)
            for key, (manifest, now) in collection.items():
                yield from changed(resource, key, manifest, before.get(key), now)

    def manifests(self) -> dict[str, dict[str, Manifest]]:
        return {
            resource: {key: manifest for key, (manifest, _) in collection.items()}
            for resource, collection in self.objects.items()
        }

    def known(self) -> dict[str, dict[str, Known]]:
        return {
            resource: {key: each for key, (_, each) in collection.items()}
            for resource, collection in self.objects.items()
        }


def changed(
    resource: str, key: str, manifest: Manifest, before: Known | None, now: Known
) -> Iterator[Change]:
    """Yield the changes for an object that was read again."""
    if before is not None and before.uid != now.uid:
        yield Change(resource, key, None)
        before = None
    if before is None:
        yield Change(resource, key, manifest, expected=0)
    elif before.digest != now.digest:
        yield Change(resource, key, manifest)

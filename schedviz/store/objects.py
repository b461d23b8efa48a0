"""Reads the objects of a sandbox, as they are now."""

import builtins
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, cast

import msgspec

from schedviz.store import codec
from schedviz.store.handle import SandboxHandle
from schedviz.store.keys import objects_key
from schedviz.store.model import Listing, StoredBytes, StoredListing
from schedviz.store.snapshot import nothing
from schedviz.store.whole_objects import SCANNED, Stored, next_count, read_objects, scan_objects
from simulator.api import Manifest

GLOB_CHARACTERS: Final = re.compile(r"[*?\[\\]")
ESCAPED: Final = r"\\\g<0>"
"""Redis's patterns give these characters a meaning. A manifest that is not validated yet may name them."""


class ObjectReader(SandboxHandle):
    def get(self, resource: str, key: str) -> Manifest | None:
        stored = cast("bytes | None", self._redis.hget(objects_key(self.name, resource), key))
        return None if stored is None else codec.decode_object(stored)

    def find(self, resource: str, key: str) -> Listing:
        """Return the object of that key, or nothing, with the version at which it was so."""
        version, [stored] = self._snapshot(
            "version", lambda pipe: pipe.hget(objects_key(self.name, resource), key)
        )
        return Listing([] if stored is None else [codec.decode_object(stored)], version)

    def list(self, resource: str, namespace: str = "") -> Listing:
        """Return all objects of a resource, sorted by key, as of one version. A watch from this version
        misses no write.

        ``namespace``: only the objects in it. They are as of the version or newer; they are as of the version
        if the resource was not written since."""
        if namespace:
            version = self.version()
            stored = dict(self._scan_prefix(resource, f"{namespace}/"))
        else:
            version, _, objects = read_objects(self._redis, self.name, "version", nothing, [resource])
            stored = objects[resource]
        # Memory holds each object in one form only: there may be hundreds of megabytes.
        return Listing([codec.decode_object(stored.pop(key)) for key in sorted(stored)], version)

    def stored_list(self, resource: str) -> StoredListing:
        """Return all objects of a resource as :meth:`list` does, not decoded."""
        version, _, objects = read_objects(self._redis, self.name, "version", nothing, [resource])
        stored = objects[resource]
        split = {key.decode(): codec.split_object(stored.pop(key)) for key in sorted(stored)}
        return StoredListing(split, version)

    def list_all(self) -> tuple[dict[str, dict[str, Manifest]], int]:
        """Return all objects as resource -> key -> manifest, and the version as of which they are read."""
        objects, version = self.stored_objects()
        return {
            resource: {key.decode(): codec.decode_object(stored.pop(key)) for key in sorted(stored)}
            for resource, stored in sorted(objects.items())
        }, version

    def stored_objects(self) -> tuple[Stored, int]:
        """Return all objects as they are stored, and the version as of which they are read."""
        version, _, objects = read_objects(self._redis, self.name, "version", nothing)
        return objects, version

    def iterate_all(self) -> dict[str, Iterator[Manifest]]:
        """Return the objects of each resource, sorted by key; each is decoded when it is read."""
        objects, _ = self.stored_objects()
        return {resource: _decoded_in_order(stored) for resource, stored in objects.items()}

    def starting_with(self, resource: str, prefix: str) -> builtins.list[Manifest]:
        """Return the objects whose keys begin with ``prefix``, in no order and not as of one version."""
        return [codec.decode_object(stored) for _, stored in self._scan_prefix(resource, prefix)]

    def keys_starting_with(self, resource: str, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with ``prefix`` (as above). They are read during the iteration: an object
        may be deleted meanwhile, and a key may come twice."""
        return (key.decode() for key, _ in self._scan_prefix(resource, prefix))

    def _scan_prefix(self, resource: str, prefix: str) -> Iterable[tuple[bytes, bytes]]:
        """Return the keys that begin with ``prefix``, with what is stored there. A key may come twice."""
        pattern = f"{GLOB_CHARACTERS.sub(ESCAPED, prefix)}*"
        return scan_objects(self._redis, self.name, resource, pattern)

    def speaking_of(self, resource: str, text: str) -> builtins.list[Manifest]:
        """Return the objects whose JSON has ``text`` as a whole string, not as of one version. Only these are
        decoded: of 50,000 pods the few on a node."""
        quoted = msgspec.json.encode(text)
        found = (codec.split_object(stored) for _, stored in scan_objects(self._redis, self.name, resource))
        return [codec.with_version(json, version) for version, json in found if quoted in json]

    def scan(self, resource: str, cursor: str, count: int) -> tuple[bytes, str, int]:
        """Return some objects of a resource ("" = some queue places), as MessagePack of the reply of HSCAN,
        with the objects as JSON, and the cursor and the count of the next call. The first and the last cursor
        are "0", the first count is SCANNED_FIRST. An object that exists during the whole scan comes at least
        once."""
        key = objects_key(self.name, resource) if resource else self._keys.lanes
        arguments = ["HSCAN", cursor, "COUNT", str(min(count, SCANNED))]
        reply = cast("bytes", self._scripts.packed([key], arguments, client=self._redis))
        following, _ = msgspec.msgpack.decode(reply, type=tuple[str, msgspec.Raw])
        found = codec.expand_scan(reply) if resource else reply
        return found, following, next_count(count, len(found))

    def sizes(self, places: Sequence[tuple[str, str]]) -> builtins.list[int]:
        """Return the sizes of objects (resource, key) as JSON; 0 = there is none."""
        hashes = [objects_key(self.name, resource) for resource, _ in places]
        sizes = self._scripts.sizes(hashes, [key for _, key in places], client=self._redis)
        return cast("builtins.list[int]", sizes)

    def names(self, resource: str) -> builtins.list[str]:
        """Return the keys of a resource's objects, in no order."""
        keys = self._redis.hkeys(objects_key(self.name, resource))
        return [key.decode() for key in cast("list[bytes]", keys)]

    def count(self, resource: str) -> int:
        """Return the number of objects of a resource."""
        return self._redis.hlen(objects_key(self.name, resource))

    def size(self) -> int:
        """Return the number of objects of all resources."""
        return int(self._state("objects")[0])

    def stored_bytes(self) -> StoredBytes:
        """Return what counts for MAX_MEGABYTES_PER_SANDBOX."""
        return StoredBytes(*map(int, self._state("bytes", "log_bytes", "archive_bytes")))

    def resources(self) -> builtins.list[str]:
        """Return the resources of which an object was ever written."""
        stored = cast("set[bytes]", self._redis.hkeys(self._keys.versions))
        return sorted(resource.decode() for resource in stored)

    def collection_versions(self) -> dict[str, int]:
        """Return the resources of which an object was ever written, each with a version since which none was.
        So two reads that have the same version of a resource found the same objects."""
        stored = cast("dict[bytes, bytes]", self._redis.hgetall(self._keys.versions))
        return {resource.decode(): int(version) for resource, version in stored.items()}

    def version(self) -> int:
        """Return the resourceVersion of the last write."""
        return int(self._state("version")[0])


def _decoded_in_order(stored: dict[bytes, bytes]) -> Iterator[Manifest]:
    """Yield the objects in the order of their keys. Memory holds each in one form only."""
    for key in sorted(stored):
        yield codec.decode_object(stored.pop(key))

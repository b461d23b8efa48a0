"""Reads the objects of a sandbox, as they are now."""

import builtins
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, cast

import msgspec
from redis.client import Pipeline

from schedviz.store import codec
from schedviz.store.handle import SandboxHandle
from schedviz.store.keys import objects_key
from schedviz.store.model import Listing
from simulator.api import Manifest
from simulator.kernel.parts import PART_BYTES

SCANNED = 1000
"""Entries of a hash that Redis looks through in one call at most, which takes less than a millisecond."""
SCANNED_FIRST = 10
"""The same of the first call: the size of the objects is not known yet."""
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
            version, [stored] = self._snapshot(
                "version", lambda pipe: pipe.hgetall(objects_key(self.name, resource))
            )
        return Listing([codec.decode_object(stored[key]) for key in sorted(stored)], version)

    def list_all(self) -> tuple[dict[str, dict[str, Manifest]], int]:
        """Return all objects as resource -> key -> manifest, and the version as of which they are read."""
        while True:
            resources = self.resources()

            def read(pipe: Pipeline, resources: Sequence[str] = resources) -> None:
                pipe.hkeys(self._keys.versions)
                for resource in resources:
                    pipe.hgetall(objects_key(self.name, resource))

            version, [known, *collections] = self._snapshot("version", read)
            # If a resource was written for the first time in between, read again.
            if len(known) == len(resources):
                break
        return {
            resource: {key.decode(): codec.decode_object(stored[key]) for key in sorted(stored)}
            for resource, stored in zip(resources, collections, strict=True)
        }, version

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
        return self._scan(resource, pattern)

    def _scan(self, resource: str, pattern: str | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Yield the objects whose keys match the pattern, with what is stored there. A key may come
        twice."""
        cursor, count = 0, min(SCANNED_FIRST, SCANNED)
        while True:
            cursor, found = self._redis.hscan(
                objects_key(self.name, resource), cursor, match=pattern, count=count
            )
            stored = cast("dict[bytes, bytes]", found)
            yield from stored.items()
            if not cursor:
                return
            count = _next_count(count, sum(len(each) for each in stored.values()))

    def speaking_of(self, resource: str, text: str) -> builtins.list[Manifest]:
        """Return the objects whose JSON has ``text`` as a whole string, not as of one version. Only these are
        decoded: of 50,000 pods the few on a node."""
        quoted = msgspec.json.encode(text)
        return [codec.decode_object(stored) for _, stored in self._scan(resource) if quoted in stored]

    def scan(self, resource: str, cursor: str, count: int) -> tuple[bytes, str, int]:
        """Return some objects of a resource ("" = some queue places), as MessagePack of the reply of HSCAN,
        and the cursor and the count of the next call. The first and the last cursor are "0", the first count
        is SCANNED_FIRST. An object that exists during the whole scan comes at least once."""
        key = objects_key(self.name, resource) if resource else self._keys.lanes
        arguments = ["HSCAN", cursor, "COUNT", str(min(count, SCANNED))]
        reply = cast("bytes", self._scripts.packed([key], arguments, client=self._redis))
        following, _ = msgspec.msgpack.decode(reply, type=tuple[str, msgspec.Raw])
        return reply, following, _next_count(count, len(reply))

    def sizes(self, places: Sequence[tuple[str, str]]) -> builtins.list[int]:
        """Return the sizes of objects (resource, key) as they are stored; 0 = there is none."""
        with self._redis.pipeline(transaction=False) as pipe:
            for resource, key in places:
                pipe.hstrlen(objects_key(self.name, resource), key)
            return pipe.execute()

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


def _next_count(count: int, size: int) -> int:
    """Return how many entries the next call of a scan looks through, after one of ``count`` whose reply had
    ``size`` bytes: as many as have PART_BYTES, and at most ten times as many."""
    return max(1, min(SCANNED, 10 * count, count * PART_BYTES // max(1, size)))

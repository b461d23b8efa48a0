"""OtherObjects: the manifests of all objects that are neither nodes nor pods."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeVar

from simulator.api import Manifest

T = TypeVar("T")


class ObjectIndex(Protocol):
    """An index of the objects of some resources that is kept up to date.

    :meth:`OtherObjects.object_index` creates it, and calls ``object_set`` for each object of ``resources``
    that is there, and for each later change."""

    resources: ClassVar[tuple[str, ...]]

    def __init__(self, objects: "Any") -> None:
        """``objects`` is the cluster."""

    def object_set(
        self, resource: str, key: str, before: Manifest | None, after: Manifest | None
    ) -> None: ...


X = TypeVar("X", bound=ObjectIndex)


class OtherObjects:
    """Manifests by resource (``persistentvolumeclaims``) and key (``namespace/name``, or ``name``)."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[str, Manifest]] = {}
        self._last_version = 0
        self._versions: dict[str, int] = {}
        self._derived: dict[Callable[[Any], Any], tuple[int, int, Any]] = {}
        """Function -> the version of all objects, that of the objects that it reads, and its result."""
        self._object_indexes: dict[type[Any], Any] = {}
        self._indexes_of_resource: dict[str, list[ObjectIndex]] = {}

    def set_object(self, resource: str, key: str, manifest: Manifest | None) -> None:
        """Add or replace an object; None removes it."""
        objects = self._objects.setdefault(resource, {})
        before = objects.get(key)
        if manifest is None:
            objects.pop(key, None)
        else:
            objects[key] = manifest
        for index in self._indexes_of_resource.get(resource, ()):
            index.object_set(resource, key, before, manifest)
        self._last_version += 1
        self._versions[resource] = self._last_version

    def objects(self, resource: str) -> Mapping[str, Manifest]:
        """Return the objects of a resource by key, in the order in which they were added."""
        return self._objects.get(resource, {})

    def object_index(self, kind: type[X]) -> X:
        """Return the index of this class, which is created by its first use."""
        found: X | None = self._object_indexes.get(kind)
        if found is None:
            found = self._object_indexes[kind] = kind(self)
            for resource in kind.resources:
                for key, manifest in self.objects(resource).items():
                    found.object_set(resource, key, None, manifest)
                self._indexes_of_resource.setdefault(resource, []).append(found)
        return found

    def restore_object_order(self, resource: str, keys: Sequence[str]) -> None:
        """Put the objects of a resource into the order of ``keys``, which are the keys of all of them."""
        if resource in self._objects:
            self._objects[resource] = in_order(self._objects[resource], keys)

    def objects_version(self, *resources: str) -> int:
        """Return a number that increases with each change of an object of these resources."""
        return max((self._versions.get(resource, 0) for resource in resources), default=0)

    def derived(self, compute: "Callable[[OtherObjects], T]", *resources: str) -> T:
        """Return ``compute(self)``, which must depend on the objects of these resources only.

        The result is cached until one of these objects changes. ``compute`` is the key of the cache, so it
        must be a function of a module and not a lambda."""
        found = self._derived.get(compute)
        if found is None or found[0] != self._last_version:
            version = self.objects_version(*resources)
            made = compute(self) if found is None or found[1] != version else found[2]
            found = self._derived[compute] = (self._last_version, version, made)
        result: T = found[2]
        return result


def in_order(values: dict[str, T], keys: Sequence[str]) -> dict[str, T]:
    """Return a copy of ``values`` in the order of ``keys``, which are its keys."""
    assert values.keys() == set(keys), "keys must be the keys of values"
    return {key: values[key] for key in keys}

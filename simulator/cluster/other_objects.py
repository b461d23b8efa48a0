"""OtherObjects: the manifests of all objects that are neither nodes nor pods."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from simulator.api import Manifest

T = TypeVar("T")


class OtherObjects:
    """Manifests by resource (``persistentvolumeclaims``) and key (``namespace/name``, or ``name``)."""

    def __init__(self) -> None:
        self._objects: dict[str, dict[str, Manifest]] = {}
        self._last_version = 0
        self._versions: dict[str, int] = {}
        self._derived: dict[Callable[[Any], Any], tuple[int, Any]] = {}

    def set_object(self, resource: str, key: str, manifest: Manifest | None) -> None:
        """Add or replace an object; None removes it."""
        objects = self._objects.setdefault(resource, {})
        if manifest is None:
            objects.pop(key, None)
        else:
            objects[key] = manifest
        self._last_version += 1
        self._versions[resource] = self._last_version

    def objects(self, resource: str) -> Mapping[str, Manifest]:
        """Return the objects of a resource by key, in the order in which they were added."""
        return self._objects.get(resource, {})

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
        version = self.objects_version(*resources)
        found = self._derived.get(compute)
        if found is None or found[0] != version:
            found = self._derived[compute] = (version, compute(self))
        result: T = found[1]
        return result


def in_order(values: dict[str, T], keys: Sequence[str]) -> dict[str, T]:
    """Return a copy of ``values`` in the order of ``keys``, which are its keys."""
    assert values.keys() == set(keys), "keys must be the keys of values"
    return {key: values[key] for key in keys}

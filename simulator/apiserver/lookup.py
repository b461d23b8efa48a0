"""Lookup of resources by group and plural, as in request paths."""

import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from simulator.api import Manifest
from simulator.apiserver.overlay import Listing
from simulator.apiserver.resource import CRDS, Resource
from simulator.apiserver.resources import (
    BUILT_IN,
    BUILT_IN_GROUPS,
    GATED,
    defined_resources,
    find_built_in,
    find_by_kind,
    is_served,
)


class Catalogue(Protocol):
    """A store that can list its resources."""

    def get(self, resource: str, key: str) -> Manifest | None: ...

    def list(self, resource: str) -> Listing: ...

    def resources(self) -> builtins.list[str]:
        """Return the ids of all resources of which an object was ever written."""
        ...


def find_resource(store: Catalogue, group: str, plural: str, version: str = "") -> Resource | None:
    """Return the resource of a group and plural: built in, defined by a CustomResourceDefinition, or of a
    kind of which objects are stored without a definition. None if there is no such resource. ``version``: ""
    = any."""
    known = find_built_in(group, plural)
    if known or group in BUILT_IN_GROUPS:
        return known
    name = f"{plural}.{group}"
    definition = store.get(CRDS, name)
    return find_custom(
        [definition] if definition else (),
        lambda: store.list(name).items if name in store.resources() else (),
        version,
    )


def find_custom(
    definitions: Iterable[Manifest], stored: Callable[[], Sequence[Manifest]], version: str = ""
) -> Resource | None:
    """Return the resource that these definitions define in this version, or that which the kind of
    the stored objects has."""
    for custom in defined_resources(definitions):
        if version in ("", custom.version):
            return custom
    items = stored()
    return find_by_kind(items[0]["apiVersion"], items[0]["kind"]) if items else None


def find_other_resources(store: Catalogue) -> list[Resource]:
    """Return the sandbox's resources that not every sandbox has."""
    custom = [*filter(is_served, GATED), *defined_resources(store.list(CRDS).items)]
    known = {resource.id for resource in custom}
    for name in store.resources():
        plural, _, group = name.partition(".")
        if name not in known and not find_built_in(group, plural):
            found = find_resource(store, group, plural)
            if found:
                custom.append(found)
    return custom


def with_resources(
    store: Catalogue, objects: Mapping[str, Mapping[str, Manifest]]
) -> Iterator[tuple[Resource, Manifest]]:
    """Yield each object with its resource. objects: resource id -> key -> manifest; those of resources of
    which the store has none are left out."""
    known = {resource.id: resource for resource in (*BUILT_IN, *GATED) if not resource.stored_as}
    if objects.keys() - known.keys():
        known |= {resource.id: resource for resource in find_other_resources(store)}
    for name, collection in objects.items():
        if name in known:
            yield from ((known[name], manifest) for manifest in collection.values())


def find_by_name(name: str) -> Resource | None:
    """Return a built-in resource by any name that kubectl accepts: ``pods``, ``pod``, ``po``, ``Pod``,
    ``deployments.apps``."""
    lower = name.lower()
    for resource in filter(is_served, (*BUILT_IN, *GATED)):
        if lower in (resource.id, resource.plural, resource.singular, *resource.short_names):
            return resource
    return None

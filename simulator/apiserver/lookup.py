"""Which resource a path means."""

from typing import Protocol

from simulator.apiserver.overlay import Reader
from simulator.apiserver.resources import (
    BUILT_IN_GROUPS,
    CRDS,
    Resource,
    built_in,
    custom_resources,
    of_kind,
)


class Catalogue(Reader, Protocol):
    def resources(self) -> list[str]:
        """The ids of the resources that were ever written."""
        ...


def find_resource(store: Catalogue, group: str, plural: str) -> Resource | None:
    """The resource of a group and plural: built in, defined by a CustomResourceDefinition, or of a kind that
    is stored without one."""
    known = built_in(group, plural)
    if known or group in BUILT_IN_GROUPS:
        return known
    for custom in custom_resources(store.list(CRDS).items):
        if (custom.group, custom.plural) == (group, plural):
            return custom
    name = f"{plural}.{group}" if group else plural
    items = store.list(name).items if name in store.resources() else ()
    return of_kind(items[0]["apiVersion"], items[0]["kind"]) if items else None


def all_resources(store: Catalogue) -> list[Resource]:
    """The resources of the sandbox that are not built in."""
    custom = [*custom_resources(store.list(CRDS).items)]
    known = {resource.id for resource in custom}
    for name in store.resources():
        plural, _, group = name.partition(".")
        if name not in known and not built_in(group, plural):
            found = find_resource(store, group, plural)
            if found:
                custom.append(found)
    return custom

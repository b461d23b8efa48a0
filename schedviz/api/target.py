"""Kubernetes' REST paths, taken apart.

/api/v1[/namespaces/<namespace>]/<plural>[/<name>[/<subresource>]]
/apis/<group>/<version>[/namespaces/<namespace>]/<plural>[/<name>[/<subresource>]]
"""

from collections.abc import Sequence

import msgspec

from simulator.apiserver.lookup import Catalogue, find_resource
from simulator.apiserver.resources import Resource
from simulator.apiserver.status import NoSuchPath


class Target(msgspec.Struct, frozen=True):
    """What a path names. ``namespace`` is empty for cluster-scoped resources, and for "in all namespaces"."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    def key(self, resource: Resource) -> str:
        return resource.key(self.namespace, self.name)


def parse(group: str, version: str, segments: Sequence[str]) -> Target:
    """The target of the segments after the version. Raises NoSuchPath."""
    match [*segments]:
        case ["namespaces"]:
            return Target(group, version, "namespaces")
        case ["namespaces", name]:
            return Target(group, version, "namespaces", name=name)
        case ["namespaces", name, "status" | "finalize" as subresource]:
            return Target(group, version, "namespaces", name=name, subresource=subresource)
        case ["namespaces", namespace, plural, *rest] if len(rest) <= 2:
            return Target(group, version, plural, namespace, *rest)
        case [plural, *rest] if len(rest) <= 2:
            return Target(group, version, plural, "", *rest)
    raise NoSuchPath()


def resource_at(catalogue: Catalogue, target: Target) -> Resource | None:
    """The resource at a target; None where nothing of that name is stored or defined. Raises NoSuchPath for a
    path that does not go with its scope."""
    resource = find_resource(catalogue, target.group, target.plural)
    if resource is None:
        return None
    if resource.version != target.version:
        raise NoSuchPath()
    if target.namespace and not resource.namespaced:
        raise NoSuchPath()
    if target.name and resource.namespaced and not target.namespace:
        raise NoSuchPath()
    return resource

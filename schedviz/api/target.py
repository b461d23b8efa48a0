"""Parses Kubernetes' REST paths.

/api/v1[/namespaces/<namespace>]/<plural>[/<name>[/<subresource>]]
/apis/<group>/<version>[/namespaces/<namespace>]/<plural>[/<name>[/<subresource>]]

``/watch`` after the version is the deprecated form of a watch request.
"""

from collections.abc import Sequence

import msgspec

from simulator.api import Manifest
from simulator.apiserver.lookup import Catalogue, find_resource
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.request_errors import NoSuchPath
from simulator.apiserver.resource import Resource


class Target(msgspec.Struct, frozen=True):
    """The parts of a path. ``namespace`` is "" for cluster-scoped resources and for all namespaces."""

    group: str
    version: str
    plural: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    watch: bool = False

    def key(self, resource: Resource) -> str:
        return resource.key(self.namespace, self.name)

    def place(self, resource: Resource) -> RequestPlace:
        """Return the object, or the subresource, to which the path of this resource refers."""
        namespace = self.namespace if resource.namespaced else ""
        return RequestPlace(resource, namespace, self.name, self.subresource)

    def named(self, item: Manifest) -> "Target":
        """Return the target of one object of this collection."""
        return msgspec.structs.replace(self, name=item["metadata"]["name"])


def parse(group: str, version: str, segments: Sequence[str]) -> Target:
    """Parse the segments after the version. Raises NoSuchPath."""
    match [*segments]:
        case ["watch", *rest] if rest and rest[0] != "watch":
            found = parse(group, version, rest)
            if found.subresource:
                raise NoSuchPath()
            return msgspec.structs.replace(found, watch=True)
        case ["namespaces"]:
            return Target(group, version, "namespaces")
        case ["namespaces", name]:
            return Target(group, version, "namespaces", name=name)
        case ["namespaces", name, "status" | "finalize" as part]:
            return Target(group, version, "namespaces", name=name, subresource=part)
        case ["namespaces", namespace, plural, *rest] if len(rest) <= 2:
            name, subresource = [*rest, "", ""][:2]
            return Target(group, version, plural, namespace, name, subresource)
        case [plural, *rest] if len(rest) <= 2:
            name, subresource = [*rest, "", ""][:2]
            return Target(group, version, plural, "", name, subresource)
    raise NoSuchPath()


def resource_at(catalogue: Catalogue, target: Target) -> Resource | None:
    """Return the resource of a target; None if no resource of that name is stored or defined. Raises
    NoSuchPath if the path does not match the resource's version or scope."""
    resource = find_resource(catalogue, target.group, target.plural, target.version)
    if resource is None:
        return None
    if resource.version != target.version:
        raise NoSuchPath()
    if target.namespace and not resource.namespaced:
        raise NoSuchPath()
    if target.name and resource.namespaced and not target.namespace:
        raise NoSuchPath()
    return resource

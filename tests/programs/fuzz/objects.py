"""The valid objects that the fuzz begins with, and their paths in the API."""

from functools import cache
from pathlib import Path
from urllib.parse import quote

from simulator.api import Manifest
from simulator.apiserver import resources
from simulator.apiserver.manifest import parse_manifests
from simulator.apiserver.resource import Resource


@cache
def valid() -> list[Manifest]:
    """At least one object of each kind, each after the objects that it needs."""
    return parse_manifests((Path(__file__).parent / "objects.yaml").read_text())


@cache
def kinds() -> list[tuple[Resource, Manifest]]:
    """Each of them with its resource."""
    definitions = [manifest for manifest in valid() if manifest["kind"] == "CustomResourceDefinition"]
    found = []
    for manifest in valid():
        resource = resources.find_by_kind(manifest["apiVersion"], manifest["kind"], definitions)
        assert resource is not None, manifest["kind"]
        found.append((resource, manifest))
    return found


def collection(resource: Resource, namespace: str) -> str:
    """The path of a collection, below the sandbox's own; with "" that of all namespaces."""
    root = f"apis/{resource.group}" if resource.group else "api"
    inside = f"namespaces/{quote(namespace, safe='')}/" if resource.namespaced and namespace else ""
    return f"{root}/{resource.version}/{inside}{resource.plural}"

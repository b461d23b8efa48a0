"""The keys under which kube-apiserver stores objects in etcd, which some messages name.

Upstream: specialDefaultResourcePrefixes in pkg/kubeapiserver/default_storage_factory_builder.go, v1.34.
"""

from typing import Final

from simulator.apiserver.resources import BUILT_IN_GROUPS, CRDS, Resource

_PREFIXES: Final = {
    "replicationcontrollers": "controllers",
    "endpoints": "services/endpoints",
    "nodes": "minions",
    "services": "services/specs",
    "ingresses.networking.k8s.io": "ingress",
    CRDS: "apiextensions.k8s.io/customresourcedefinitions",
}


def storage_key(resource: Resource, namespace: str, name: str) -> str:
    """Return the key of an object: ``/registry/pods/default/web``."""
    custom = resource.group not in BUILT_IN_GROUPS
    prefix = f"{resource.group}/{resource.plural}" if custom else resource.plural
    place = f"{namespace}/{name}" if namespace else name
    return f"/registry/{_PREFIXES.get(resource.id, prefix)}/{place}"

"""The keys under which kube-apiserver stores objects in etcd, which some messages name.

Upstream: specialDefaultResourcePrefixes in pkg/kubeapiserver/default_storage_factory_builder.go, v1.34.
"""

from simulator.apiserver.kinds.registry import strategy_of
from simulator.apiserver.resource import Resource


def storage_key(resource: Resource, namespace: str, name: str) -> str:
    """Return the key of an object: ``/registry/pods/default/web``."""
    place = f"{namespace}/{name}" if namespace else name
    return f"/registry/{strategy_of(resource).storage_prefix or resource.plural}/{place}"

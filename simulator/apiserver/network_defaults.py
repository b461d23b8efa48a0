"""Defaults of Services (pkg/apis/core/v1/defaults.go, v1.34)."""

from collections.abc import Callable

from simulator.api import Manifest
from simulator.apiserver.service_validation import is_externally_accessible

_AFFINITY_SECONDS = 10_800
_WITH_NODE_PORTS = ("NodePort", "LoadBalancer")


def _default_service(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    kind = spec.setdefault("type", "ClusterIP")
    if spec.setdefault("sessionAffinity", "None") == "ClientIP":
        client = spec.setdefault("sessionAffinityConfig", {}).setdefault("clientIP", {})
        client.setdefault("timeoutSeconds", _AFFINITY_SECONDS)
    else:
        spec.pop("sessionAffinityConfig", None)
    for port in spec.get("ports", ()):
        port.setdefault("protocol", "TCP")
        if port.get("targetPort", "") in ("", 0):
            port["targetPort"] = port["port"]
    if is_externally_accessible(spec) and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if kind in ("ClusterIP", *_WITH_NODE_PORTS):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        for ingress in manifest.get("status", {}).get("loadBalancer", {}).get("ingress", ()):
            if ingress.get("ip"):
                ingress.setdefault("ipMode", "VIP")


NETWORK_DEFAULTS: dict[str, Callable[[Manifest], None]] = {
    "services": _default_service,
}

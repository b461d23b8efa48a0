"""Defaults of Services, Endpoints, EndpointSlices, IngressClasses and NetworkPolicies (defaults.go of their
groups, v1.34)."""

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


def _default_endpoints(manifest: Manifest) -> None:
    for subset in manifest.get("subsets", ()):
        for port in subset.get("ports", ()):
            port.setdefault("protocol", "TCP")


def _default_endpoint_slice(manifest: Manifest) -> None:
    """Set the parts that Go writes even if they are empty, too."""
    manifest["endpoints"] = manifest.get("endpoints") or None
    for endpoint in manifest["endpoints"] or ():
        endpoint.setdefault("conditions", {})
    for port in manifest.setdefault("ports", None) or ():
        port.setdefault("name", "")
        port.setdefault("protocol", "TCP")


def _default_ingress_class(manifest: Manifest) -> None:
    parameters = manifest.setdefault("spec", {}).get("parameters")
    if parameters is not None:
        parameters.setdefault("scope", "Cluster")


def _default_network_policy(manifest: Manifest) -> None:
    spec = manifest.setdefault("spec", {})
    spec.setdefault("podSelector", {})
    for rule in (*spec.get("ingress", ()), *spec.get("egress", ())):
        for port in rule.get("ports", ()):
            port.setdefault("protocol", "TCP")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


NETWORK_DEFAULTS: dict[str, Callable[[Manifest], None]] = {
    "services": _default_service,
    "endpoints": _default_endpoints,
    "endpointslices.discovery.k8s.io": _default_endpoint_slice,
    "ingressclasses.networking.k8s.io": _default_ingress_class,
    "networkpolicies.networking.k8s.io": _default_network_policy,
}

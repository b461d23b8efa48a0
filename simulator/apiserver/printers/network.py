"""The rows of Services, EndpointSlices, Ingresses and NetworkPolicies."""

from typing import Any

from simulator.api import Manifest, Micros
from simulator.apiserver.printers.column import AGE, NAME, NONE, UNSET, Column, Printer, age_of, labels_text
from simulator.apiserver.printers.workloads import selector_text
from simulator.objects.status import status_of

SHOWN = 3
"""Of ports, endpoints and hosts."""


def _service(item: Manifest, now: Micros) -> list[Any]:
    spec = item["spec"]
    return [
        item["metadata"]["name"],
        spec.get("type", "ClusterIP"),
        spec.get("clusterIP") or NONE,
        _external_address(item),
        _ports(spec.get("ports") or ()),
        age_of(item, now),
        labels_text(spec.get("selector")),
    ]


def _external_address(item: Manifest) -> str:
    spec = item["spec"]
    match spec.get("type", "ClusterIP"):
        case "ExternalName":
            return spec.get("externalName") or ""
        case "LoadBalancer":
            ingress = (status_of(item).get("loadBalancer") or {}).get("ingress") or ()
            addresses = [each.get("ip") or each.get("hostname", "") for each in ingress]
            return ",".join([*addresses, *(spec.get("externalIPs") or ())]) or "<pending>"
    return ",".join(spec.get("externalIPs") or ()) or NONE


def _ports(ports: Any) -> str:
    texts = []
    for each in ports:
        node_port = f":{each['nodePort']}" if each.get("nodePort") else ""
        texts.append(f"{each['port']}{node_port}/{each.get('protocol', 'TCP')}")
    return ",".join(texts) or NONE


def _some(texts: list[str], otherwise: str) -> str:
    """The first few, and how many more there are."""
    more = f" + {len(texts) - SHOWN} more..." if len(texts) > SHOWN else ""
    return ",".join(texts[:SHOWN]) + more if texts else otherwise


def _endpoint_slice(item: Manifest, now: Micros) -> list[Any]:
    ports = [str(each["port"]) if each.get("port") else "*" for each in item.get("ports") or ()]
    addresses = [each for endpoint in item.get("endpoints") or () for each in endpoint["addresses"]]
    return [
        item["metadata"]["name"],
        item["addressType"],
        _some(ports, UNSET),
        _some(addresses, UNSET),
        age_of(item, now),
    ]


def _ingress(item: Manifest, now: Micros) -> list[Any]:
    spec = item.get("spec") or {}
    hosts = [rule["host"] for rule in spec.get("rules") or () if rule.get("host")]
    ingress = (status_of(item).get("loadBalancer") or {}).get("ingress") or ()
    return [
        item["metadata"]["name"],
        spec.get("ingressClassName") or NONE,
        _some(hosts, "*"),
        ",".join(each.get("ip") or each.get("hostname", "") for each in ingress),
        "80, 443" if spec.get("tls") else "80",
        age_of(item, now),
    ]


def _network_policy(item: Manifest, now: Micros) -> list[Any]:
    return [
        item["metadata"]["name"],
        selector_text((item.get("spec") or {}).get("podSelector")),
        age_of(item, now),
    ]


NETWORK_PRINTERS = {
    "services": Printer(
        (
            NAME,
            Column("Type", "ServiceSpec.type"),
            Column("Cluster-IP", "ServiceSpec.clusterIP"),
            Column("External-IP", "ServiceSpec.externalIPs"),
            Column("Port(s)", "ServiceSpec.ports"),
            AGE,
            Column("Selector", "ServiceSpec.selector", wide=1),
        ),
        _service,
    ),
    "endpointslices.discovery.k8s.io": Printer(
        (
            NAME,
            Column(
                "AddressType",
                "addressType specifies the type of address carried by this EndpointSlice. All addresses in "
                "this slice must be the same type. This field is immutable after creation. The following "
                "address types are currently supported: * IPv4: Represents an IPv4 Address. * IPv6: "
                "Represents an IPv6 Address. * FQDN: Represents a Fully Qualified Domain Name.",
            ),
            Column(
                "Ports",
                "ports specifies the list of network ports exposed by each endpoint in this slice. Each port "
                "must have a unique name. When ports is empty, it indicates that there are no defined ports. "
                'When a port is defined with a nil port value, it indicates "all ports". Each slice may '
                "include a maximum of 100 ports.",
            ),
            Column("Endpoints", "EndpointSlice.endpoints"),
            AGE,
        ),
        _endpoint_slice,
    ),
    "ingresses.networking.k8s.io": Printer(
        (
            NAME,
            Column(
                "Class",
                "The name of the IngressClass resource that should be used for additional configuration",
            ),
            Column("Hosts", "Hosts that incoming requests are matched against before the ingress rule"),
            Column("Address", "Address is a list containing ingress points for the load-balancer"),
            Column("Ports", "Ports of TLS configurations that open"),
            AGE,
        ),
        _ingress,
    ),
    "networkpolicies.networking.k8s.io": Printer(
        (
            NAME,
            Column(
                "Pod-Selector",
                "Selects the pods to which this NetworkPolicy object applies.  The array of ingress rules is "
                "applied to any pods selected by this field. Multiple network policies can select the same "
                "set of pods.  In this case, the ingress rules for each are combined additively. This field "
                "is NOT optional and follows standard label selector semantics. An empty podSelector matches "
                "all pods in this namespace.",
            ),
            AGE,
        ),
        _network_policy,
    ),
}

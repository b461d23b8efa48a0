"""The rows of the addresses of Services, Endpoints, EndpointSlices, Ingresses and NetworkPolicies."""

from collections.abc import Sequence
from typing import Any

from simulator.api import Manifest, Micros
from simulator.apiserver.kinds.services.strategy import balancer_addresses
from simulator.apiserver.kinds.workloads.columns import format_label_selector
from simulator.apiserver.printers.column import AGE, NAME, NONE, UNSET, Column, Printer, age_of

SHOWN = 3
"""The maximum of ports, endpoints and hosts in a column."""


def _some(texts: list[str], otherwise: str) -> str:
    """Return the first few, and how many more there are."""
    more = f" + {len(texts) - SHOWN} more..." if len(texts) > SHOWN else ""
    return ",".join(texts[:SHOWN]) + more if texts else otherwise


def _endpoints(item: Manifest, now: Micros) -> list[Any]:
    texts = [text for subset in item.get("subsets") or () for text in _endpoints_of(subset)]
    return [
        item["metadata"]["name"],
        _some(texts, "") if item.get("subsets") else NONE,
        age_of(item, now),
    ]


def _endpoints_of(subset: Manifest) -> list[str]:
    """Return each address with each port, ``10.0.0.1:80``; the addresses alone if there are no ports."""
    addresses = [each.get("ip", "") for each in subset.get("addresses") or ()]
    hosts = [f"[{address}]" if ":" in address else address for address in addresses]
    ports = subset.get("ports") or ()
    return [f"{host}:{port.get('port', 0)}" for port in ports for host in hosts] if ports else addresses


def _endpoint_slice(item: Manifest, now: Micros) -> list[Any]:
    ports = [str(each.get("port") or each.get("name") or "*") for each in item.get("ports") or ()]
    addresses = [each for endpoint in item.get("endpoints") or () for each in endpoint.get("addresses") or ()]
    return [
        item["metadata"]["name"],
        item.get("addressType", ""),
        _some(ports, UNSET),
        _some(addresses, UNSET),
        age_of(item, now),
    ]


def _ingress(item: Manifest, now: Micros) -> list[Any]:
    spec = item.get("spec") or {}
    return [
        item["metadata"]["name"],
        spec.get("ingressClassName") or NONE,
        _hosts(spec.get("rules") or ()),
        ",".join(balancer_addresses(item)),
        "80, 443" if spec.get("tls") else "80",
        age_of(item, now),
    ]


def _hosts(rules: Sequence[Manifest]) -> str:
    """Return the first hosts. How many more there are is counted in rules, also in those without a host
    (formatHosts)."""
    hosts: list[str] = []
    for rule in rules:
        if len(hosts) == SHOWN:
            return f"{','.join(hosts)} + {len(rules) - SHOWN} more..."
        hosts += [rule["host"]] if rule.get("host") else []
    return ",".join(hosts) or "*"


def _ingress_class(item: Manifest, now: Micros) -> list[Any]:
    spec = item.get("spec") or {}
    parameters, shown = spec.get("parameters"), NONE
    if parameters is not None:
        group = f".{parameters['apiGroup']}" if "apiGroup" in parameters else ""
        shown = f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"
    return [item["metadata"]["name"], spec.get("controller", ""), shown, age_of(item, now)]


def _network_policy(item: Manifest, now: Micros) -> list[Any]:
    return [
        item["metadata"]["name"],
        format_label_selector((item.get("spec") or {}).get("podSelector")),
        age_of(item, now),
    ]


def _ip_address(item: Manifest, now: Micros) -> list[Any]:
    """Return the cells of an IPAddress: one more than there are columns, the age (printIPAddress)."""
    parent = (item.get("spec") or {}).get("parentRef")
    return [item["metadata"]["name"], NONE if parent is None else _parent(parent), age_of(item, now)]


def _parent(reference: Manifest) -> str:
    """Return ``services/default/web``, with the group of the resource if it has one."""
    group = f".{reference['group']}" if reference.get("group") else ""
    resource = f"{reference.get('resource', '')}{group}".lower()
    return "/".join(filter(None, (resource, reference.get("namespace"), reference.get("name"))))


def _service_cidr(item: Manifest, now: Micros) -> list[Any]:
    return [
        item["metadata"]["name"],
        ",".join((item.get("spec") or {}).get("cidrs") or ()),
        age_of(item, now),
    ]


NETWORK_PRINTERS = {
    "Endpoints": Printer((NAME, Column("Endpoints", "Endpoints.subsets"), AGE), _endpoints),
    "EndpointSlice": Printer(
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
    "Ingress": Printer(
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
    "IngressClass": Printer(
        (
            NAME,
            Column("Controller", "Controller that is responsible for handling this class"),
            Column("Parameters", "A reference to a resource with additional parameters"),
            AGE,
        ),
        _ingress_class,
    ),
    "IPAddress": Printer((NAME, Column("ParentRef", "IPAddressSpec.parentRef")), _ip_address),
    "ServiceCIDR": Printer((NAME, Column("CIDRs", "ServiceCIDRSpec.cidrs"), AGE), _service_cidr),
    "NetworkPolicy": Printer(
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

"""The rows of the addresses of Services, Endpoints, EndpointSlices, Ingresses and NetworkPolicies."""

from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver.kinds.services.strategy import balancer_addresses
from simulator.apiserver.kinds.workloads.templates import format_label_selector
from simulator.apiserver.printers.column import AGE, NAME, NONE, UNSET, Column, Printer, age_of, printer_of
from simulator.apiserver.shapes import value_at

SHOWN: Final = 3
"""The maximum of ports, endpoints and hosts in a column."""


def _some(texts: list[str], otherwise: str) -> str:
    """Return the first few, and how many more there are."""
    more = f" + {len(texts) - SHOWN} more..." if len(texts) > SHOWN else ""
    return ",".join(texts[:SHOWN]) + more if texts else otherwise


def _endpoints(item: Manifest, _: Micros) -> str:
    subsets = item.get("subsets") or ()
    return _some([text for subset in subsets for text in _endpoints_of(subset)], "") if subsets else NONE


def _endpoints_of(subset: Manifest) -> list[str]:
    """Return each address with each port, ``10.0.0.1:80``; the addresses alone if there are no ports."""
    addresses = [each.get("ip", "") for each in subset.get("addresses") or ()]
    hosts = [f"[{address}]" if ":" in address else address for address in addresses]
    ports = subset.get("ports") or ()
    return [f"{host}:{port.get('port', 0)}" for port in ports for host in hosts] if ports else addresses


def _slice_ports(item: Manifest, _: Micros) -> str:
    return _some(
        [str(each.get("port") or each.get("name") or "*") for each in item.get("ports") or ()], UNSET
    )


def _slice_addresses(item: Manifest, _: Micros) -> str:
    endpoints = item.get("endpoints") or ()
    return _some([each for endpoint in endpoints for each in endpoint.get("addresses") or ()], UNSET)


def _hosts(item: Manifest, _: Micros) -> str:
    """Return the first hosts. How many more there are is counted in rules, also in those without a host
    (formatHosts)."""
    rules = value_at(item, "spec.rules") or ()
    hosts: list[str] = []
    for rule in rules:
        if len(hosts) == SHOWN:
            return f"{','.join(hosts)} + {len(rules) - SHOWN} more..."
        hosts += [rule["host"]] if rule.get("host") else []
    return ",".join(hosts) or "*"


def _parameters(item: Manifest, _: Micros) -> str:
    parameters = value_at(item, "spec.parameters")
    if parameters is None:
        return NONE
    group = f".{parameters['apiGroup']}" if "apiGroup" in parameters else ""
    return f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"


def _parent(item: Manifest) -> str:
    """Return ``services/default/web``, with the group of the resource if it has one."""
    reference = value_at(item, "spec.parentRef")
    if reference is None:
        return NONE
    group = f".{reference['group']}" if reference.get("group") else ""
    resource = f"{reference.get('resource', '')}{group}".lower()
    return "/".join(filter(None, (resource, reference.get("namespace"), reference.get("name"))))


NETWORK_PRINTERS: Final = {
    "Endpoints": printer_of(NAME, Column("Endpoints", "Endpoints.subsets", cell=_endpoints), AGE),
    "EndpointSlice": printer_of(
        NAME,
        Column(
            "AddressType",
            "EndpointSlice.addressType",
            older="addressType specifies the type of address carried by this EndpointSlice. All addresses in "
            "this slice must be the same type. This field is immutable after creation. The following "
            "address types are currently supported: * IPv4: Represents an IPv4 Address. * IPv6: "
            "Represents an IPv6 Address. * FQDN: Represents a Fully Qualified Domain Name.",
            cell="addressType",
        ),
        Column(
            "Ports",
            "EndpointSlice.ports",
            older="ports specifies the list of network ports exposed by each endpoint in this slice. Each "
            "port must have a unique name. When ports is empty, it indicates that there are no defined "
            'ports. When a port is defined with a nil port value, it indicates "all ports". Each slice may '
            "include a maximum of 100 ports.",
            cell=_slice_ports,
        ),
        Column("Endpoints", "EndpointSlice.endpoints", cell=_slice_addresses),
        AGE,
    ),
    "Ingress": printer_of(
        NAME,
        Column(
            "Class",
            "The name of the IngressClass resource that should be used for additional configuration",
            cell=lambda item, _: value_at(item, "spec.ingressClassName") or NONE,
        ),
        Column(
            "Hosts", "Hosts that incoming requests are matched against before the ingress rule", cell=_hosts
        ),
        Column(
            "Address",
            "Address is a list containing ingress points for the load-balancer",
            cell=lambda item, _: ",".join(balancer_addresses(item)),
        ),
        Column(
            "Ports",
            "Ports of TLS configurations that open",
            cell=lambda item, _: "80, 443" if value_at(item, "spec.tls") else "80",
        ),
        AGE,
    ),
    "IngressClass": printer_of(
        NAME,
        Column(
            "Controller", "Controller that is responsible for handling this class", cell="spec.controller"
        ),
        Column("Parameters", "A reference to a resource with additional parameters", cell=_parameters),
        AGE,
    ),
    # The cells are one more than the columns, the age (printIPAddress).
    "IPAddress": Printer(
        (NAME, Column("ParentRef", "IPAddressSpec.parentRef")),
        lambda item, now: [item["metadata"]["name"], _parent(item), age_of(item, now)],
    ),
    "ServiceCIDR": printer_of(
        NAME,
        Column(
            "CIDRs",
            "ServiceCIDRSpec.cidrs",
            cell=lambda item, _: ",".join(value_at(item, "spec.cidrs") or ()),
        ),
        AGE,
    ),
    "NetworkPolicy": printer_of(
        NAME,
        Column(
            "Pod-Selector",
            "NetworkPolicySpec.podSelector",
            older="Selects the pods to which this NetworkPolicy object applies.  The array of ingress rules "
            "is applied to any pods selected by this field. Multiple network policies can select the same "
            "set of pods.  In this case, the ingress rules for each are combined additively. This field "
            "is NOT optional and follows standard label selector semantics. An empty podSelector matches "
            "all pods in this namespace.",
            cell=lambda item, _: format_label_selector(value_at(item, "spec.podSelector")),
        ),
        AGE,
    ),
}
"""Kind -> its columns."""

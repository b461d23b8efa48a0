"""The strategy of Services: defaults, warnings, the status, the columns.

Upstream: pkg/registry/core/service/strategy.go, SetDefaults_Service in pkg/apis/core/v1/defaults.go,
pkg/api/service/warnings.go, ValidateLoadBalancerStatus in pkg/apis/core/validation/validation.go and
printService in pkg/printers/internalversion/printers.go.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver import names
from simulator.apiserver.field_checks import check_address, check_name, parse_address
from simulator.apiserver.kinds.services.allocation import SERVICES, allocate_new, allocate_updated
from simulator.apiserver.kinds.services.update_validation import validate_service_update
from simulator.apiserver.kinds.services.validation import (
    WITH_NODE_PORTS,
    is_externally_accessible,
    validate_service,
)
from simulator.apiserver.printers.column import AGE, NAME, NONE, Column, labels_text, printer_of, text_or_none
from simulator.apiserver.served_features import enabled, served_version
from simulator.apiserver.status import Cause, forbidden, invalid, not_supported, required
from simulator.apiserver.strategy import Strategy, status_strategy
from simulator.objects.status import status_of

_AFFINITY_SECONDS = 10_800
_IP_MODES: Final = ("Proxy", "VIP")


def _set_defaults(manifest: Manifest) -> None:
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
    if kind in ("ClusterIP", *WITH_NODE_PORTS):
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        for ingress in manifest.get("status", {}).get("loadBalancer", {}).get("ingress", ()):
            if ingress.get("ip"):
                ingress.setdefault("ipMode", "VIP")


def _warnings(manifest: Manifest, _: object = None) -> Iterator[str]:
    spec = manifest["spec"]
    if spec.get("type") != "ClusterIP" or spec.get("clusterIP") != "None":
        return
    for name in ("loadBalancerIP", "externalIPs"):
        if spec.get(name):
            yield f"spec.{name} is ignored for headless services"
    # The default of the affinity, which is "None", counts, too.
    if spec.get("sessionAffinity") and served_version().warns_of_headless_affinity:
        yield "spec.SessionAffinity is ignored for headless services"


def _name_rule(name: str) -> list[str]:
    """Return the faults that ValidateServiceName reports."""
    return (names.dns_label if enabled("RelaxedServiceNameValidation") else names.service_name)(name)


def _validate_status(new: Manifest, _: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateLoadBalancerStatus reports."""
    path, balancer = "status.loadBalancer.ingress", new.get("status", {}).get("loadBalancer", {})
    ingresses = balancer.get("ingress", ())
    if ingresses and new["spec"].get("type") != "LoadBalancer":
        yield forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'")
        return
    for index, ingress in enumerate(ingresses):
        yield from _balancer_ingress(ingress, f"{path}[{index}]")


def _balancer_ingress(ingress: Manifest, path: str) -> Iterator[Cause]:
    address, mode, host = ingress.get("ip"), ingress.get("ipMode"), ingress.get("hostname")
    if address:
        yield from check_address(address, f"{path}.ip")
    if mode is None and address:
        yield required(f"{path}.ipMode", "must be specified when `ip` is set")
    elif mode is not None and not address:
        yield forbidden(f"{path}.ipMode", "may not be specified when `ip` is not set")
    elif mode is not None and mode not in _IP_MODES:
        yield not_supported(f"{path}.ipMode", mode, _IP_MODES)
    if host:
        yield from check_name(names.dns_subdomain, host, f"{path}.hostname")
        if parse_address(host) is not None:
            yield invalid(f"{path}.hostname", host, "must be a DNS name, not an IP address")


def _external_address(item: Manifest, _: Micros) -> str:
    spec = item["spec"]
    match spec.get("type", "ClusterIP"):
        case "ExternalName":
            return spec.get("externalName") or ""
        case "LoadBalancer":
            return ",".join([*balancer_addresses(item), *(spec.get("externalIPs") or ())]) or "<pending>"
    return ",".join(spec.get("externalIPs") or ()) or NONE


def balancer_addresses(item: Manifest) -> list[str]:
    """Return the addresses of the load balancer, each once."""
    ingress = (status_of(item).get("loadBalancer") or {}).get("ingress") or ()
    return sorted({each.get("ip") or each.get("hostname", "") for each in ingress} - {""})


def _ports(ports: Sequence[Manifest] | None) -> str:
    texts = []
    for each in ports or ():
        node_port = f":{each['nodePort']}" if each.get("nodePort") else ""
        texts.append(f"{each['port']}{node_port}/{each.get('protocol', 'TCP')}")
    return ",".join(texts) or NONE


SERVICE_STRATEGY: Final = Strategy(
    resource=SERVICES,
    set_defaults=_set_defaults,
    begin_create=allocate_new,
    name_rule=_name_rule,
    validate=validate_service,
    warnings=_warnings,
    is_created_by_update=True,
    begin_update=allocate_updated,
    validate_update=validate_service_update,
    update_order="UCS",
    subresources={"status": status_strategy(_validate_status)},
    is_shown_when_deleted=True,
    printer=printer_of(
        NAME,
        Column("Type", "ServiceSpec.type", absent="ClusterIP"),
        Column("Cluster-IP", "ServiceSpec.clusterIP", show=text_or_none),
        Column("External-IP", "ServiceSpec.externalIPs", cell=_external_address),
        Column("Port(s)", "ServiceSpec.ports", show=_ports),
        AGE,
        Column("Selector", "ServiceSpec.selector", wide=1, show=labels_text),
    ),
    fields=("spec.clusterIP", "spec.type"),
    storage_prefix="services/specs",
)

"""Nodes.

Upstream: pkg/registry/core/node/strategy.go, SetDefaults_NodeStatus in pkg/apis/core/v1/defaults.go, and
ValidateNode and ValidateNodeUpdate in pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Final

from simulator.api import Manifest, Micros
from simulator.apiserver.amounts import round_up_to_milli
from simulator.apiserver.field_changes import dropping
from simulator.apiserver.field_checks import check_cidr, parse_cidr
from simulator.apiserver.go_structs import core_struct
from simulator.apiserver.overlay import Overlay
from simulator.apiserver.printers.column import AGE, NAME, NONE, UNKNOWN, Cell, Column, printer_of
from simulator.apiserver.repeated import repeats
from simulator.apiserver.resource import built_in
from simulator.apiserver.resource_validation import validate_node_resources
from simulator.apiserver.selector_validation import validate_taints
from simulator.apiserver.served_features import served_features
from simulator.apiserver.shapes import value_at
from simulator.apiserver.status import Cause, duplicate, forbidden, invalid
from simulator.apiserver.strategy import Strategy, status_strategy
from simulator.objects.addresses import NODE_NETWORK, AddressPool, internal_addresses
from simulator.objects.conditions import condition
from simulator.objects.metadata import labels_of
from simulator.objects.node_status import joined_node, with_internal_address
from simulator.objects.status import status_of

NODES: Final = built_in("v1", "Node", "no", in_cluster=True, has_status=True)
ROLE: Final = "node-role.kubernetes.io/"
_TAINTS: Final = "metadata.taints"
"""Upstream writes the path of the metadata."""


def _set_defaults(manifest: Manifest) -> None:
    """Set what the API server sets. Without ``allocatable``, all of the capacity is allocatable."""
    _match_pod_cidrs(manifest.setdefault("spec", {}))
    status = manifest.setdefault("status", {})
    status.pop("config", None)  # of the kubelet configuration that is gone
    for kind in ("capacity", "allocatable"):
        if kind in status:
            status[kind] = round_up_to_milli(status[kind])
    if "allocatable" not in status and status.get("capacity"):
        status["allocatable"] = dict(status["capacity"])


def _match_pod_cidrs(spec: Manifest) -> None:
    """Set ``podCIDR``, which old clients read: the first of ``podCIDRs`` (conversion.go of core/v1)."""
    first, known = spec.get("podCIDR", ""), spec.get("podCIDRs", [])
    if first and known[:1] != [first]:
        spec["podCIDRs"] = [first]
    elif known:
        spec["podCIDR"] = known[0]


def _joined_with_address(node: Manifest, _: Manifest, now: str, overlay: Overlay) -> Manifest:
    """Return a node that comes by the page or a file as its kubelet completes it."""
    pool = overlay.kept.get("node addresses")
    if pool is None:
        pool = overlay.kept["node addresses"] = AddressPool(NODE_NETWORK)
        for other in overlay.list(NODES.id):
            with suppress(AttributeError, TypeError):  # one that was stored unchecked may be anything
                pool.use(internal_addresses(other))
    joined = with_internal_address(joined_node(node, now, served_features()), pool)
    pool.use(internal_addresses(joined))
    return joined


def _validate(manifest: Manifest) -> Iterator[Cause]:
    yield from validate_taints(manifest["spec"].get("taints", []), _TAINTS)
    yield from validate_node_resources(manifest["status"])
    yield from _pod_cidrs(manifest["spec"])


def _pod_cidrs(spec: Manifest) -> Iterator[Cause]:
    given = spec.get("podCIDRs", [])
    for index, cidr in enumerate(given):
        yield from check_cidr(cidr, f"spec.podCIDRs[{index}]")
    families = [parsed and parsed.version for parsed in map(parse_cidr, given)]
    if len(given) > 1 and None in families:
        bad = given[families.index(None)]
        detail = f"invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR address: {bad}"
        yield Cause("spec.podCIDRs", f"Internal error: {detail}", "InternalError")
    if len(given) > 1 and (len(given) > 2 or None in families or len({*families}) < 2):
        yield invalid("spec.podCIDRs", given, "may specify no more than one CIDR for each IP family")


def _validate_update(new: Manifest, old: Manifest) -> Iterator[Cause]:
    """Yield the faults that ValidateNodeUpdate reports, which also looks at the resources and taints of the
    node again."""
    after, before = new.get("spec", {}), old.get("spec", {})
    yield from validate_node_resources(new.get("status", {}))
    yield from _addresses(new.get("status", {}).get("addresses", ()))
    detail = 'node updates may not change {} except from "" to valid'
    known, given = before.get("podCIDRs", []), after.get("podCIDRs", [])
    if known and len(known) != len(given):
        yield forbidden("spec.podCIDRs", detail.format("podCIDR"))
    elif known:
        changed = [None for one, other in zip(known, given, strict=True) if one != other]
        yield from (forbidden("spec.podCIDRs", detail.format("podCIDR")) for _ in changed)
    if before.get("providerID") and after.get("providerID") != before["providerID"]:
        yield forbidden("spec.providerID", detail.format("providerID"))
    yield from validate_taints(after.get("taints", []), _TAINTS)
    if after.get("externalID") != before.get("externalID"):
        yield forbidden("spec.externalID", "may not be updated")


def _addresses(addresses: Sequence[Manifest]) -> Iterator[Cause]:
    for index, (address, is_repeated) in enumerate(zip(addresses, repeats(addresses), strict=True)):
        if is_repeated:
            yield duplicate(f"status.addresses[{index}]", core_struct("NodeAddress", address), whole=True)


def _address_cell(kind: str) -> Cell:
    def cell(item: Manifest, _: Micros) -> str:
        addresses = status_of(item).get("addresses") or ()
        return next((each["address"] for each in addresses if each["type"] == kind), NONE) or NONE

    return cell


def _info_cell(field: str) -> Cell:
    return lambda item, _: value_at(item, f"status.nodeInfo.{field}") or UNKNOWN


def _status_text(item: Manifest, _: Micros) -> str:
    ready = condition(item, "Ready")
    status = "Unknown" if ready is None else "Ready" if ready["status"] == "True" else "NotReady"
    return f"{status},SchedulingDisabled" if item["spec"].get("unschedulable") else status


def _roles(item: Manifest, _: Micros) -> str:
    labels = labels_of(item)
    roles = {label.removeprefix(ROLE) for label in labels if label.startswith(ROLE) and label != ROLE}
    if labels.get("kubernetes.io/role"):
        roles.add(labels["kubernetes.io/role"])
    return ",".join(sorted(roles)) or NONE


NODE_STRATEGY: Final = Strategy(
    resource=NODES,
    # The first feature is gone.
    drop_disabled_fields=dropping(
        DynamicKubeletConfig=["spec.configSource"], NodeDeclaredFeatures=["status.declaredFeatures"]
    ),
    set_defaults=_set_defaults,
    keeps_new_status=True,
    complete_on_page=_joined_with_address,
    validate=_validate,
    validate_update=_validate_update,
    subresources={"status": status_strategy(_validate_update)},
    printer=printer_of(
        NAME,
        Column("Status", "The status of the node", cell=_status_text),
        Column("Roles", "The roles of the node", cell=_roles),
        AGE,
        Column("Version", "NodeSystemInfo.kubeletVersion", cell="status.nodeInfo.kubeletVersion"),
        Column("Internal-IP", "NodeStatus.addresses", wide=1, cell=_address_cell("InternalIP")),
        Column("External-IP", "NodeStatus.addresses", wide=1, cell=_address_cell("ExternalIP")),
        Column("OS-Image", "NodeSystemInfo.osImage", wide=1, cell=_info_cell("osImage")),
        Column("Kernel-Version", "NodeSystemInfo.kernelVersion", wide=1, cell=_info_cell("kernelVersion")),
        Column(
            "Container-Runtime",
            "NodeSystemInfo.containerRuntimeVersion",
            wide=1,
            cell=_info_cell("containerRuntimeVersion"),
        ),
    ),
    fields=("spec.unschedulable",),
    storage_prefix="minions",
)

"""The AllocationResult of a claim (the end of Allocate, and createNodeSelector, in
allocator_incubating.go)."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from simulator.api import Manifest
from simulator.plugins.dynamic_resources.allocator import ClaimAllocation, TakenDevice
from simulator.plugins.dynamic_resources.allocator_rules import AllocatorRules
from simulator.plugins.dynamic_resources.device_selectors import AllocationError
from simulator.plugins.dynamic_resources.node_selection import NodeSelection
from simulator.plugins.dynamic_resources.pool import selector_terms
from simulator.plugins.dynamic_resources.resource_claim import request_manifest

_SHARE_IDS: Final = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")


def allocation_result(
    found: ClaimAllocation, node: str, class_of: Callable[[str], Manifest], rules: AllocatorRules
) -> Manifest:
    """Return ``status.allocation``. ``class_of``: the DeviceClass of a name. Raises AllocationError."""
    results = [_result(found, index, taken, rules) for index, taken in enumerate(found.devices)]
    devices: Manifest = {"results": results}
    config = [*_class_config(found, class_of, rules), *_claim_config(found)]
    if config:
        devices["config"] = config
    allocation: Manifest = {"devices": devices}
    selector = node_selector_of(found, node)
    if selector is not None:
        allocation["nodeSelector"] = selector
    return allocation


def _result(found: ClaimAllocation, index: int, taken: TakenDevice, rules: AllocatorRules) -> Manifest:
    name = taken.request.result_name(taken.alternative)
    result: Manifest = {"request": name, **taken.device.id._asdict()}
    if taken.alternative.admin_access:
        result["adminAccess"] = True
    if taken.alternative.tolerations and rules.version.results_have_tolerations:
        given = request_manifest(found.claim, name)["tolerations"]
        result["tolerations"] = [
            {field: value for field, value in each.items() if value != ""} for each in given
        ]
    device = taken.device.device
    if rules.binding_conditions and device.binding_conditions:
        result["bindingConditions"] = [*device.binding_conditions]
    if rules.binding_conditions and device.binding_failure_conditions:
        result["bindingFailureConditions"] = [*device.binding_failure_conditions]
    if taken.shared:
        # Upstream draws it. It has to differ from that of other claims that have the device.
        result["shareID"] = str(uuid.uuid5(_SHARE_IDS, f"{found.claim.uid}/{index}/{taken.device.id}"))
    if taken.consumed:
        result["consumedCapacity"] = {name: amount.text for name, amount in taken.consumed.items()}
    return result


def _class_config(
    found: ClaimAllocation, class_of: Callable[[str], Manifest], rules: AllocatorRules
) -> Iterator[Manifest]:
    """Yield the configuration of the classes, in the order of the requests: of each class once, with the
    names of the requests that use it."""
    requests: dict[str, list[str]] = {}
    for name, device_class in _chosen_requests(found):
        requests.setdefault(device_class, []).append(name)
    if rules.version.class_configs_name_requests:
        for device_class, names in requests.items():
            for config in class_of(device_class)["spec"].get("config") or ():
                yield {**config, "source": "FromClass", "requests": names}
        return
    for _, device_class in _chosen_requests(found):
        for config in class_of(device_class)["spec"].get("config") or ():
            yield {**config, "source": "FromClass"}


def _chosen_requests(found: ClaimAllocation) -> Iterator[tuple[str, str]]:
    """Yield the name and the class of each request, of a firstAvailable those of the chosen subrequest."""
    for index, request in enumerate(found.claim.requests):
        alternative = request.alternatives[found.chosen.get(index, 0)]
        yield request.result_name(alternative), alternative.device_class


def _claim_config(found: ClaimAllocation) -> Iterator[Manifest]:
    """Yield the configuration of the claim: one for named requests as often as it names one."""
    names = [{name, name.partition("/")[0]} for name, _ in _chosen_requests(found)]
    claim_devices = (found.claim.manifest.get("spec") or {}).get("devices") or {}
    for config in claim_devices.get("config") or ():
        wanted = config.get("requests") or ()
        times = sum(any(each in wanted for each in pair) for pair in names) if wanted else 1
        for _ in range(times):
            yield {**config, "source": "FromClaim"}


def node_selector_of(found: ClaimAllocation, node: str) -> Manifest | None:
    """Return the nodes on which the devices can be used; None for all. Raises AllocationError."""
    devices = [taken.device for taken in found.devices]
    if any(each.nodes.node_name or each.device.binds_to_node for each in devices):
        return {
            "nodeSelectorTerms": [
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
            ]
        }
    term: dict[str, list[Manifest]] = {}
    for each in devices:
        _add_requirements(found, each.nodes, term)
    return {"nodeSelectorTerms": [term]} if term else None


def check_node_selectors(found: ClaimAllocation) -> None:
    """Check that there is a node selector for all devices. Raises AllocationError where there is none."""
    node_selector_of(found, "")


def _add_requirements(found: ClaimAllocation, nodes: NodeSelection, term: dict[str, list[Manifest]]) -> None:
    terms = selector_terms(nodes)
    if nodes.required is None or not terms:
        return
    if terms != 1:
        raise AllocationError(
            f"create NodeSelector for claim {found.claim.name}: "
            f"unsupported ResourceSlice.NodeSelector with {terms} terms"
        )
    [only] = nodes.required["nodeSelectorTerms"]
    for field in ("matchExpressions", "matchFields"):
        for requirement in only.get(field) or ():
            if not any(_same(requirement, other) for other in term.get(field, ())):
                term.setdefault(field, []).append(requirement)


def _same(one: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Whether two requirements have the same key, operator and set of values."""
    return (one["key"], one["operator"], {*_values(one)}) == (
        other["key"],
        other["operator"],
        {*_values(other)},
    )


def _values(requirement: Manifest | Mapping[str, object]) -> list[str]:
    values = requirement.get("values")
    return values if isinstance(values, list) else []

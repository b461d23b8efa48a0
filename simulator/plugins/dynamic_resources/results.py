"""The AllocationResult of a claim (the end of Allocate, and createNodeSelector, in
allocator_experimental.go)."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from simulator.api import Manifest
from simulator.plugins.dynamic_resources.allocator import ClaimAllocation
from simulator.plugins.dynamic_resources.device_selectors import AllocationError
from simulator.plugins.dynamic_resources.pool import selector_terms
from simulator.plugins.dynamic_resources.resource_slice import ResourceSlice


def allocation_result(found: ClaimAllocation, node: str, class_of: Callable[[str], Manifest]) -> Manifest:
    """Return ``status.allocation``. ``class_of``: the DeviceClass of a name. Raises AllocationError."""
    results = []
    for request, alternative, device in found.devices:
        name = request.result_name(alternative)
        result: Manifest = {"request": name, **device.id._asdict()}
        if alternative.admin_access:
            result["adminAccess"] = True
        results.append(result)
    devices: Manifest = {"results": results}
    config = [*_config(found, class_of)]
    if config:
        devices["config"] = config
    allocation: Manifest = {"devices": devices}
    selector = node_selector_of(found, node)
    if selector is not None:
        allocation["nodeSelector"] = selector
    return allocation


def _config(found: ClaimAllocation, class_of: Callable[[str], Manifest]) -> Iterator[Manifest]:
    """Yield the configuration of the classes, request by request, then that of the claim."""
    names: list[tuple[str, str]] = []
    for index, request in enumerate(found.claim.requests):
        alternative = request.alternatives[found.chosen.get(index, 0)]
        name = request.result_name(alternative)
        names.append((request.name, name))
        for config in class_of(alternative.device_class)["spec"].get("config") or ():
            yield {**config, "source": "FromClass"}
    claim_devices = (found.claim.manifest.get("spec") or {}).get("devices") or {}
    for config in claim_devices.get("config") or ():
        wanted = config.get("requests") or ()
        times = sum(any(each in wanted for each in {*pair}) for pair in names) if wanted else 1
        for _ in range(times):
            yield {**config, "source": "FromClaim"}


def node_selector_of(found: ClaimAllocation, node: str) -> Manifest | None:
    """Return the nodes on which the devices can be used; None for all. Raises AllocationError."""
    slices = [device.slice for _, _, device in found.devices]
    if any(each.node_name for each in slices):
        return {
            "nodeSelectorTerms": [
                {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
            ]
        }
    term: dict[str, list[Manifest]] = {}
    for each in slices:
        _add_requirements(found, each, term)
    return {"nodeSelectorTerms": [term]} if term else None


def check_node_selectors(found: ClaimAllocation) -> None:
    """Check that there is a node selector for all devices. Raises AllocationError where there is none."""
    node_selector_of(found, "")


def _add_requirements(found: ClaimAllocation, of: ResourceSlice, term: dict[str, list[Manifest]]) -> None:
    if of.selector_manifest is None or of.all_nodes:
        return
    terms_of_slice = selector_terms(of)
    if terms_of_slice != 1:
        raise AllocationError(
            f"create NodeSelector for claim {found.claim.name}: "
            f"unsupported ResourceSlice.NodeSelector with {terms_of_slice} terms"
        )
    terms: Sequence[Manifest] = of.selector_manifest.get("nodeSelectorTerms") or ({},)
    for field in ("matchExpressions", "matchFields"):
        for requirement in terms[0].get(field) or ():
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

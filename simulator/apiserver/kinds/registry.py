"""The table of all kinds, and the strategy of a resource."""

from typing import Final

from simulator.apiserver.kinds import (
    csi,
    disruption_budgets,
    events,
    leases,
    namespaces,
    nodes,
    pod_groups,
    priority_classes,
    quotas,
    runtime_classes,
    service_accounts,
    storage_classes,
    timetables,
)
from simulator.apiserver.kinds.custom import custom_strategy
from simulator.apiserver.kinds.definitions import strategy as definitions
from simulator.apiserver.kinds.devices import claims, slices
from simulator.apiserver.kinds.jobs import strategy as jobs
from simulator.apiserver.kinds.kept import table as kept
from simulator.apiserver.kinds.pods import strategy as pods
from simulator.apiserver.kinds.services import strategy as services
from simulator.apiserver.kinds.volumes import strategy as volumes
from simulator.apiserver.kinds.workloads import daemon_sets, deployments, revisions, stateful_sets
from simulator.apiserver.kinds.workloads.templates import SCALE_STRATEGY
from simulator.apiserver.resource import Resource
from simulator.apiserver.strategy import Strategy

_MODULES: Final = (
    *(csi, definitions, claims, slices, disruption_budgets, events, jobs, leases, namespaces, nodes, pods),
    *(pod_groups, priority_classes, quotas, runtime_classes, service_accounts, services, storage_classes),
    *(timetables, volumes, daemon_sets, deployments, revisions, stateful_sets),
)
"""The modules of the simulated kinds, with the strategies in them."""
_SIMULATED: Final = (
    each for module in _MODULES for each in vars(module).values() if isinstance(each, Strategy)
)
STRATEGIES: Final = sorted(
    (*kept.KEPT_STRATEGIES, *_SIMULATED),
    key=lambda each: (each.resource.group, each.resource.kind.lower()),
)
"""The strategies of all kinds that are stored, by group and kind; of several versions, that which is
preferred is the first."""
_BY_RESOURCE: Final = {each.resource: each for each in (*STRATEGIES, SCALE_STRATEGY)}
_BY_ID: Final = {each.resource.id: each for each in reversed(STRATEGIES)}


def strategy_of(resource: Resource) -> Strategy:
    return _BY_RESOURCE.get(resource) or custom_strategy(resource)


def find_strategy(resource_id: str) -> Strategy | None:
    """Return the strategy of a built-in kind, for the version in which it is stored."""
    return _BY_ID.get(resource_id)

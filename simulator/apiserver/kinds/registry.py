"""The table of all kinds, and the strategy of a resource."""

from typing import Final

from simulator.apiserver.kinds import (
    csi,
    disruption_budgets,
    events,
    leases,
    namespaces,
    nodes,
    priority_classes,
    quotas,
    runtime_classes,
    service_accounts,
    storage_classes,
    timetables,
)
from simulator.apiserver.kinds.custom import custom_strategy
from simulator.apiserver.kinds.definitions.strategy import DEFINITION_STRATEGY
from simulator.apiserver.kinds.devices.claims import (
    CLAIM_STRATEGY,
    CLAIM_TEMPLATE_STRATEGY,
    DEVICE_CLASS_STRATEGY,
)
from simulator.apiserver.kinds.devices.slices import RESOURCE_SLICE_STRATEGY
from simulator.apiserver.kinds.jobs.strategy import CRON_JOB_STRATEGY, JOB_STRATEGY
from simulator.apiserver.kinds.kept.table import KEPT_STRATEGIES
from simulator.apiserver.kinds.pods.strategy import POD_STRATEGY
from simulator.apiserver.kinds.services.strategy import SERVICE_STRATEGY
from simulator.apiserver.kinds.volumes.strategy import VOLUME_CLAIM_STRATEGY, VOLUME_STRATEGY
from simulator.apiserver.kinds.workloads.daemon_sets import DAEMON_SET_STRATEGY
from simulator.apiserver.kinds.workloads.deployments import (
    DEPLOYMENT_STRATEGY,
    REPLICA_SET_STRATEGY,
    REPLICATION_CONTROLLER_STRATEGY,
)
from simulator.apiserver.kinds.workloads.revisions import POD_TEMPLATE_STRATEGY, REVISION_STRATEGY
from simulator.apiserver.kinds.workloads.stateful_sets import STATEFUL_SET_STRATEGY
from simulator.apiserver.kinds.workloads.templates import SCALE_STRATEGY
from simulator.apiserver.resource import Resource
from simulator.apiserver.strategy import Strategy

STRATEGIES: Final = sorted(
    (
        *KEPT_STRATEGIES,
        csi.ATTACHMENT_STRATEGY,
        storage_classes.ATTRIBUTES_CLASS_STRATEGY,
        CLAIM_STRATEGY,
        CLAIM_TEMPLATE_STRATEGY,
        CRON_JOB_STRATEGY,
        csi.CSI_CAPACITY_STRATEGY,
        csi.CSI_DRIVER_STRATEGY,
        csi.CSI_NODE_STRATEGY,
        DAEMON_SET_STRATEGY,
        DEFINITION_STRATEGY,
        DEPLOYMENT_STRATEGY,
        DEVICE_CLASS_STRATEGY,
        disruption_budgets.DISRUPTION_BUDGET_STRATEGY,
        events.EVENT_STRATEGY,
        events.EVENT_V1_STRATEGY,
        JOB_STRATEGY,
        leases.LEASE_STRATEGY,
        quotas.LIMIT_RANGE_STRATEGY,
        namespaces.NAMESPACE_STRATEGY,
        nodes.NODE_STRATEGY,
        POD_STRATEGY,
        POD_TEMPLATE_STRATEGY,
        priority_classes.PRIORITY_CLASS_STRATEGY,
        REPLICATION_CONTROLLER_STRATEGY,
        REPLICA_SET_STRATEGY,
        quotas.RESOURCE_QUOTA_STRATEGY,
        RESOURCE_SLICE_STRATEGY,
        REVISION_STRATEGY,
        runtime_classes.RUNTIME_CLASS_STRATEGY,
        service_accounts.SERVICE_ACCOUNT_STRATEGY,
        SERVICE_STRATEGY,
        STATEFUL_SET_STRATEGY,
        storage_classes.STORAGE_CLASS_STRATEGY,
        timetables.TIMETABLE_STRATEGY,
        VOLUME_CLAIM_STRATEGY,
        VOLUME_STRATEGY,
    ),
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

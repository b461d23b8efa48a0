"""The table of all kinds, and the strategy of a resource."""

from typing import Final

from simulator.apiserver.kinds.csi import (
    ATTACHMENT_STRATEGY,
    CSI_CAPACITY_STRATEGY,
    CSI_DRIVER_STRATEGY,
    CSI_NODE_STRATEGY,
)
from simulator.apiserver.kinds.custom import custom_strategy
from simulator.apiserver.kinds.legacy import LEGACY_STRATEGIES, SCALE_STRATEGY
from simulator.apiserver.kinds.nodes import NODE_STRATEGY
from simulator.apiserver.kinds.pods.strategy import POD_STRATEGY
from simulator.apiserver.kinds.priority_classes import PRIORITY_CLASS_STRATEGY
from simulator.apiserver.kinds.storage_classes import ATTRIBUTES_CLASS_STRATEGY, STORAGE_CLASS_STRATEGY
from simulator.apiserver.resource import Resource
from simulator.apiserver.strategy import Strategy

STRATEGIES: Final = sorted(
    (
        *LEGACY_STRATEGIES,
        ATTACHMENT_STRATEGY,
        ATTRIBUTES_CLASS_STRATEGY,
        CSI_CAPACITY_STRATEGY,
        CSI_DRIVER_STRATEGY,
        CSI_NODE_STRATEGY,
        NODE_STRATEGY,
        POD_STRATEGY,
        PRIORITY_CLASS_STRATEGY,
        STORAGE_CLASS_STRATEGY,
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

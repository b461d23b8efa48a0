"""The themes of the random histories: options, demands of the pods, and the weights of the operations."""

from typing import NamedTuple

from simulator.api import SECOND, Manifest, Micros
from simulator.queueing.queue_version import QueueVersion
from tests.histories.manifests import EXTENDED, ZONE
from tests.histories.pods import Demands

PACES: tuple[Micros, ...] = (0, 0, SECOND // 10, SECOND // 4, SECOND)

EVERYDAY: Demands = {
    "priority": 0.3,
    "selector": 0.08,
    "node-affinity": 0.08,
    "pod-anti-affinity": 0.05,
    "preferred-affinity": 0.08,
    "spread": 0.08,
    "tolerations": 0.15,
    "host-port": 0.06,
    "gates": 0.06,
    "lifetime": 0.3,
    "readiness": 0.1,
    "init-container": 0.05,
}

USUAL = {
    "pods": 10,
    "node": 3,
    "node_goes": 1,
    "node_changes": 3,
    "pod_goes": 4,
    "pod_changes": 4,
    "time": 10,
    "steps": 2,
    "points": 2,
    "late": 1,
    "unseen_write": 1,
    "take_over": 1,
    "relist": 1,
}
"""How often each operation comes, in comparison with the others."""


class Theme(NamedTuple):
    demands: Demands
    weights: dict[str, int]
    queue: QueueVersion = QueueVersion.KUBERNETES
    configs: tuple[Manifest | None, ...] = (None,)
    """The history with number n has the one with that number, counted round."""
    controllers: bool = True
    extenders: bool = False
    nodes: int = 3
    """About how many there are from the start."""
    histories: int = 5


def profile(name: str, args: Manifest, **more: object) -> Manifest:
    return {"profiles": [{"pluginConfig": [{"name": name, "args": args}], **more}]}


TWO_RESOURCES = [{"name": "cpu", "weight": 2}, {"name": "memory", "weight": 1}]
MOST_ALLOCATED = profile(
    "NodeResourcesFit", {"scoringStrategy": {"type": "MostAllocated", "resources": TWO_RESOURCES}}
)
RATIO = profile(
    "NodeResourcesFit",
    {
        "scoringStrategy": {
            "type": "RequestedToCapacityRatio",
            "resources": TWO_RESOURCES,
            "requestedToCapacityRatio": {
                "shape": [{"utilization": 0, "score": 0}, {"utilization": 100, "score": 10}]
            },
        }
    },
)
OWN_SPREADING = profile(
    "PodTopologySpread",
    {
        "defaultingType": "List",
        "defaultConstraints": [
            {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "ScheduleAnyway"},
        ],
    },
)
HARD_AFFINITY = profile("InterPodAffinity", {"hardPodAffinityWeight": 50})
ADDED_AFFINITY = profile(
    "NodeAffinity",
    {
        "addedAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 10,
                    "preference": {"matchExpressions": [{"key": "disk", "operator": "Exists"}]},
                }
            ]
        }
    },
)
FEW_PLUGINS = {
    "podInitialBackoffSeconds": 2,
    "podMaxBackoffSeconds": 4,
    "profiles": [
        {
            "plugins": {
                "postFilter": {"disabled": [{"name": "*"}]},
                "score": {
                    "disabled": [{"name": "*"}],
                    "enabled": [{"name": "NodeResourcesFit", "weight": 3}],
                },
            }
        },
        {"schedulerName": "packing", **MOST_ALLOCATED["profiles"][0]},
    ],
}
IGNORED = profile("NodeResourcesFit", {"ignoredResources": [EXTENDED]})
GANG = {"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Gang"}]}}}]}
GANG_BY_VOLUME = {
    "profiles": [
        {
            "plugins": {"multiPoint": {"enabled": [{"name": "Gang"}]}},
            "pluginConfig": [{"name": "VolumeBinding", "args": {"bindTimeoutSeconds": 5}}],
        }
    ]
}

URL = "http://extender.example/scheduler"
EXTENDER = {
    "urlPrefix": URL,
    "filterVerb": "filter",
    "prioritizeVerb": "prioritize",
    "weight": 2,
    "preemptVerb": "preempt",
}
EXTENDERS = (
    {"extenders": [EXTENDER]},
    {"extenders": [{**EXTENDER, "nodeCacheCapable": True, "bindVerb": "bind"}]},
    {
        "extenders": [
            {**EXTENDER, "ignorable": True},
            {
                "urlPrefix": f"{URL}/gpus",
                "filterVerb": "filter",
                "nodeCacheCapable": True,
                "managedResources": [{"name": EXTENDED, "ignoredByScheduler": True}],
            },
        ]
    },
)

THEMES = {
    "queue": Theme({**EVERYDAY, "gates": 0.3, "profile": 0.1}, USUAL, configs=(None, FEW_PLUGINS, RATIO)),
    "preemption": Theme(
        {**EVERYDAY, "priority": 0.9, "pod-anti-affinity": 0.1, "host-port": 0.1, "polite": 0.05},
        {**USUAL, "pods": 16, "budget": 3},
    ),
    "affinity": Theme(
        {
            **EVERYDAY,
            "node-affinity": 0.3,
            "pod-affinity": 0.15,
            "pod-anti-affinity": 0.2,
            "preferred-affinity": 0.3,
            "spread": 0.4,
            "tolerations": 0.4,
        },
        {**USUAL, "node_changes": 6},
        configs=(None, OWN_SPREADING, HARD_AFFINITY, ADDED_AFFINITY, MOST_ALLOCATED),
    ),
    "volumes": Theme(
        {**EVERYDAY, "volume": 0.7, "lifetime": 0.4},
        {**USUAL, "volume": 5, "claim": 6, "storage_goes": 2, "storage_changes": 4},
    ),
    "devices": Theme(
        {**EVERYDAY, "devices": 0.7, "lifetime": 0.4, "fault": 0.05},
        {**USUAL, "device_claim": 5, "slice_changes": 4},
    ),
    "permit": Theme(
        {**EVERYDAY, "gang": 0.6, "volume": 0.1},
        {**USUAL, "permit": 4, "claim": 1},
        configs=(GANG, GANG_BY_VOLUME),
    ),
    "extenders": Theme(
        {**EVERYDAY, "priority": 0.6, "extended": 0.3}, USUAL, configs=EXTENDERS, extenders=True
    ),
    "v1.10": Theme(
        {**EVERYDAY, "priority": 0.6, "volume": 0.05}, {**USUAL, "configure": 1}, queue=QueueVersion.V1_10
    ),
    "fifo": Theme(
        {**EVERYDAY, "gang": 0.1}, {**USUAL, "configure": 1}, queue=QueueVersion.FIFO, configs=(None, GANG)
    ),
    "faults": Theme(
        {**EVERYDAY, "fault": 0.4, "priority": 0.5, "volume": 0.15, "gang": 0.1},
        {**USUAL, "fault": 3, "claim": 1},
        configs=(GANG, None),
    ),
    "stepping": Theme(
        {**EVERYDAY, "priority": 0.6, "gang": 0.1, "volume": 0.1},
        {**USUAL, "time": 3, "steps": 8, "points": 14, "unseen_write": 4, "claim": 1},
        configs=(GANG, None),
    ),
    "leaders": Theme(
        {**EVERYDAY, "priority": 0.5},
        {**USUAL, "late": 5, "unseen_write": 6, "take_over": 3, "relist": 3, "configure": 2, "full": 2},
        configs=(None, IGNORED),
    ),
    "controllers": Theme(
        {"priority": 0.2, "tolerations": 0.1, "readiness": 0.2, "failing": 0.15, "extended": 0.05},
        {
            **USUAL,
            "pods": 4,
            "workload": 9,
            "workload_changes": 6,
            "timetable": 1,
            "node_fails": 2,
            "budget": 1,
        },
    ),
    "large": Theme(
        {**EVERYDAY, "spread": 0.2, "pod-anti-affinity": 0.1, "volume": 0.1},
        {**USUAL, "pods": 30, "node": 6, "claim": 1},
        nodes=62,  # with those that come it is more than the columns are made for at first
        histories=1,
    ),
}
"""Name -> theme."""
THEMES["without-controllers"] = THEMES["preemption"]._replace(controllers=False)

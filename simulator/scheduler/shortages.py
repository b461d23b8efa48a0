"""What nodes lack that NodeResourcesFit rejected, for the record of an attempt: fitsRequest
(pkg/scheduler/framework/plugins/noderesources/fit.go) with its amounts."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from simulator.cluster.columns import Ints, Rows
from simulator.decision import Failure, Shortages
from simulator.objects.pod_requests import PODS
from simulator.plugins.node_resources.fit import NodeResourcesFit, lacking_resource
from simulator.scheduler.attempt import Attempt

NODES_AT_MOST: Final = 40
"""Maximum number of rejected nodes of which all amounts are recorded: as many as a page has rows for single
nodes. Of more nodes, the one of each failure is recorded that lacks least."""

RESOURCES_AT_MOST: Final = 64
"""Maximum number of resources of a failure of which amounts are recorded: the first. A pod may request tens
of thousands."""


def find_shortages(search: Attempt, verdicts: NDArray[Any], failures: Sequence[Failure]) -> list[Shortages]:
    """Return the shortages by resource. verdicts, failures: those of the Decision."""
    if not failures:
        return []
    lacking = {code: [*_resources(failure)] for code, failure in enumerate(failures, start=1)}
    codes = [code for code, resources in lacking.items() if resources]
    if not codes:
        return []
    indices = np.flatnonzero(np.isin(verdicts, codes))
    if len(indices) > NODES_AT_MOST:
        nearest = [_nearest(search, np.flatnonzero(verdicts == code), lacking[code]) for code in codes]
        indices = np.array(sorted(nearest[:NODES_AT_MOST]), dtype=np.intp)
    found = []
    for resource in dict.fromkeys(resource for code in codes for resource in lacking[code]):
        nodes = indices[[resource in lacking[code] for code in verdicts[indices].tolist()]]
        if len(nodes):
            free, allocatable = _amounts(search, nodes, resource)
            needs = _needs(search, resource)
            found.append(Shortages(resource, needs, nodes.tolist(), free.tolist(), allocatable.tolist()))
    return found


def _resources(failure: Failure) -> Iterator[str]:
    if failure.plugin == NodeResourcesFit.name:
        yield from islice(filter(None, map(lacking_resource, failure.reasons)), RESOURCES_AT_MOST)


def _nearest(search: Attempt, nodes: Rows, resources: Sequence[str]) -> int:
    """Return the node whose largest shortage, as a part of what is needed, is the smallest."""
    missing = np.zeros(len(nodes))
    for resource in resources:
        needs = _needs(search, resource)
        missing = np.maximum(missing, (needs - _amounts(search, nodes, resource)[0]) / needs)
    return int(nodes[np.argmin(missing)])


def _needs(search: Attempt, resource: str) -> int:
    return 1 if resource == PODS else search.pod.own_requests[resource]


def _amounts(search: Attempt, nodes: Rows, resource: str) -> tuple[Ints, Ints]:
    """Return the free and the allocatable amounts of these nodes."""
    cluster = search.cluster
    rows = cluster.order()[nodes]
    if resource == PODS:
        allocatable, used = cluster.allowed_pods[rows], cluster.pod_count[rows].copy()
    else:
        columns = cluster.allocatable.column(resource), cluster.requested.column(resource)
        allocatable, used = columns[0][rows], columns[1][rows]
    places = {row: place for place, row in enumerate(rows.tolist())} if search.state.nominated else {}
    for name, pods in search.state.nominated.items():
        place = places.get(cluster.rows.get(name, -1))
        if place is not None:
            counted = [p for p in pods if p.priority >= search.pod.priority and p.uid != search.pod.uid]
            used[place] += sum(1 if resource == PODS else p.requests.get(resource, 0) for p in counted)
    return allocatable - used, allocatable

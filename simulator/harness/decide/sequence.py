"""``decide`` with ``pods``: scheduling attempts one after another, in which the search stops when enough
nodes are feasible (findNodesThatPassFilters in pkg/scheduler/schedule_one.go).

Before the first attempt nextStartNodeIndex is 0. A pod that fits is assumed on the first by name of the best
nodes, before the next attempt. PostFilter is not run.
"""

from typing import Any

import numpy as np

from simulator.cluster.cluster import Cluster
from simulator.framework import snapshot
from simulator.framework.extender import Transport
from simulator.harness.decide.input import DecideInput, framework_of, read_objects
from simulator.objects.pod import Pod
from simulator.scheduler.attempt import Attempt


def decide_sequence(question: DecideInput, transport: Transport | None = None) -> dict[str, Any]:
    """Run an attempt for each of ``pods``, and return the results as the conformance tests describe them."""
    frameworks = question.frameworks(transport)
    cluster, nominated = snapshot.read(read_objects(question.objects), frameworks)
    attempts, next_start = [], 0
    for manifest in question.pods or ():
        pod = Pod.parse(manifest)
        framework = framework_of(pod, frameworks)
        # Without score plugins, the search stops at the first feasible node.
        scores = bool(framework.score_plugins)
        search = Attempt(framework, cluster, pod, nominated, start_node_index=next_start, exhaustive=scores)
        order = _search_order(cluster, next_start)
        for point in search.run():
            if point == "PostFilter":
                break
        next_start = search.next_start_node_index
        answer = _answer(search, order)
        attempts.append(answer)
        if answer["assumedOn"]:
            cluster.add_pod(pod.assumed(answer["assumedOn"]))
    return {"attempts": attempts}


def _search_order(cluster: Cluster, start: int) -> list[int]:
    """Return the rows of all nodes in the order in which a search from ``start`` looks at them."""
    order: list[int] = cluster.order().tolist()
    start = start % len(order) if order else 0
    return order[start:] + order[:start]


def _answer(search: Attempt, order: list[int]) -> dict[str, Any]:
    """Return the result of an attempt. order: see :func:`_search_order`; nodes that a PreFilter plugin
    selected are in the order of their names."""
    cluster, diagnosis = search.cluster, search.diagnosis
    if search.outside is not None:
        order = sorted(order, key=lambda row: cluster.node(row).name)
    filtered = search.pre_filter is not None and search.pre_filter.status is None
    looked_at = [row for row in order if filtered and diagnosis.codes[row] >= 0]
    feasible = [row for row in looked_at if diagnosis.codes[row] == 0]
    best = sorted(cluster.node(int(row)).name for row in search.best)
    return {
        "pod": search.pod.key,
        "lookedAt": _names(cluster, looked_at),
        "feasible": _names(cluster, feasible),
        "rejectedBy": {
            cluster.node(row).name: diagnosis.statuses[int(diagnosis.codes[row]) - 1].plugin
            for row in looked_at
            if diagnosis.codes[row] > 0
        },
        "nextStartNodeIndex": search.next_start_node_index,
        "message": search.message,
        "unschedulablePlugins": sorted(diagnosis.unschedulable_plugins),
        "preScoreSkipped": search.pre_score_skipped,
        "scoringSkipped": len(feasible) == 1 or bool(feasible and not search.framework.score_plugins),
        "scores": _scores(search, feasible),
        "selectedAnyOf": best,
        "assumedOn": best[0] if best else "",
    }


def _names(cluster: Cluster, rows: list[int]) -> list[str]:
    return [cluster.node(row).name for row in rows]


def _scores(search: Attempt, feasible: list[int]) -> dict[str, list[int]]:
    """Return the weighted scores by plugin and their total, in the order of the feasible nodes."""
    if not search.scores:
        return {}
    index = {row: i for i, row in enumerate(search.feasible.tolist())}
    places = np.array([index[row] for row in feasible], dtype=np.intp)
    columns = {column.plugin: column.weighted()[places].tolist() for column in search.scores}
    return {**columns, "total": search.totals[places].tolist()}

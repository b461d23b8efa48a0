"""Proposals to change the pending pod. There are only few, so all of them are tried."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from simulator.api import Manifest
from simulator.cluster.columns import Ints, Rows
from simulator.objects import pod_requests
from simulator.objects.node import Taint
from simulator.objects.pod import Pod, Toleration
from simulator.objects.volumes import claim_reference
from simulator.plugins.node_unschedulable import TAINT as UNSCHEDULABLE
from simulator.plugins.taint_toleration import tolerated
from simulator.what_if import amounts
from simulator.what_if.edit import Edit, update_pod
from simulator.what_if.obstacles import Obstacles, free_amount
from simulator.what_if.proposal import Proposal, Proposals, pod_proposal
from simulator.what_if.situation import Situation
from simulator.what_if.term_names import format_expression, format_node_term, format_pod_term

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TOLERATIONS_AT_MOST = 64
"""Maximum number of tolerations that are tried, those for the most nodes first."""
PORTS_AT_MOST = 1024
"""Maximum distance of a proposed host port from the requested one."""
MAX_PORT = 65535
GATE_SEPARATOR = ", "
"""Stands between the names of scheduling gates, which are label keys."""


# Before the queue


def propose_gate_removal(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose to remove all scheduling gates, as a pod with one gate is not queued."""
    gates = GATE_SEPARATOR.join(situation.pod.scheduling_gates)
    if gates:
        yield pod_proposal(
            situation, "gate", gates, lambda new: new["spec"].pop("schedulingGates"), before=gates
        )


def propose_scheduler_names(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose a profile's schedulerName if no profile has the pod's."""
    if situation.framework is not None:
        return
    for name in situation.frameworks:
        change = partial(_set_scheduler_name, scheduler=name)
        before = situation.pod.scheduler_name
        yield pod_proposal(situation, "scheduler", "schedulerName", change, before=before, after=name)


def _set_scheduler_name(new: Manifest, scheduler: str) -> None:
    new["spec"]["schedulerName"] = scheduler


# Requests


def propose_requests(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose for each resource the largest request that fits on a node. As the first one of two changes: the
    largest one that fits on a node which would take the pod if it requested less of another resource, too."""
    pod = situation.pod
    lowest = {resource: _least_request(pod, resource) for resource in pod.own_requests}
    for resource, wanted in pod.own_requests.items():
        if lowest[resource] is None:
            continue
        others = [other for other in lowest if other != resource and lowest[other] is not None]
        for beside in others if obstacles.others else [""]:
            manifest = pod.manifest
            for each in filter(None, (resource, beside)):
                lowered = amounts.lower_requests(manifest, each, _floor(pod, each))
                manifest = lowered.manifest if lowered else manifest
            with situation.with_changes([update_pod(pod.key, pod.manifest, manifest).change]):
                rows = np.flatnonzero(situation.passing())
            if not len(rows):
                continue
            most = max(_floor(pod, resource), int(_room(situation, rows, resource).max()))
            found = amounts.lower_requests(pod.manifest, resource, most)
            if found is not None:
                yield Proposal(
                    "request",
                    pod.key,
                    resource,
                    found.before,
                    found.after,
                    _edits_for_pod(pod, found.manifest),
                    measure=0.999 * (wanted - most) / wanted,
                    unit=found.step,
                )


def _floor(pod: Pod, resource: str) -> int:
    """Return the lowest possible request: the pod's overhead."""
    overhead = (pod.spec.get("overhead") or {}).get(resource, 0)
    return pod_requests.to_amount(resource, pod_requests.parse_resource_list({"": overhead})[""])


def _least_request(pod: Pod, resource: str) -> amounts.LoweredRequests | None:
    """Return the pod with the lowest possible request of a resource; None if it has that already."""
    floor = _floor(pod, resource)
    return (
        amounts.lower_requests(pod.manifest, resource, floor) if pod.own_requests[resource] > floor else None
    )


def _room(situation: Situation, rows: Rows, resource: str) -> Ints:
    """Return int64[n], how much of a resource is free for the pod on each of the nodes."""
    cluster = situation.cluster
    room: Ints = (cluster.allocatable.column(resource) - cluster.requested.column(resource))[rows]
    for name in situation.nominated:
        row = cluster.rows.get(name, -1)
        room[rows == row] = free_amount(situation, row, resource) if row >= 0 else 0
    return room


def _edits_for_pod(pod: Pod, new: Manifest) -> Callable[[], list[Edit]]:
    return lambda: [update_pod(pod.key, pod.manifest, new)]


# Taints


def propose_tolerations(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose tolerations, each the most specific one for all taints of a node."""
    cluster, pod = situation.cluster, situation.pod
    counts = np.bincount(cluster.taints.ids[: cluster.width] + 1, minlength=len(cluster.taints.values) + 1)
    wanted: dict[Toleration, int] = {}
    for number, listed in enumerate(cluster.taints.values):
        by_key: dict[str, list[Taint]] = {}
        for taint in listed or ():
            if _is_untolerated(taint, pod):
                by_key.setdefault(taint.key, []).append(taint)
        for taints in by_key.values() if len(by_key) <= 1 + obstacles.others else ():
            found = _common_toleration(taints)
            wanted[found] = wanted.get(found, 0) + int(counts[number + 1])
    if cluster.unschedulable.any() and all(each.key != UNSCHEDULABLE.key for each in wanted):
        cordon = Toleration(UNSCHEDULABLE.key, "Exists", "", UNSCHEDULABLE.effect)
        wanted.setdefault(cordon, int(np.count_nonzero(cluster.unschedulable)))
    for toleration in sorted(wanted, key=lambda t: (-wanted[t], t))[:TOLERATIONS_AT_MOST]:
        stated = {field: value for field, value in toleration._asdict().items() if value}
        text = format_toleration(toleration)
        yield pod_proposal(
            situation, "toleration", text, partial(_add_toleration, toleration=stated), after=text
        )


def _add_toleration(new: Manifest, toleration: Manifest) -> None:
    new["spec"].setdefault("tolerations", []).append(toleration)


def _is_untolerated(taint: Taint, pod: Pod) -> bool:
    return taint.effect != "PreferNoSchedule" and not tolerated(taint, pod.tolerations)


def _common_toleration(taints: list[Taint]) -> Toleration:
    """Return one toleration for all of these taints, which have the same key."""
    values, effects = {taint.value for taint in taints}, {taint.effect for taint in taints}
    effect = effects.pop() if len(effects) == 1 else ""
    if len(values) == 1:
        return Toleration(taints[0].key, "Equal", values.pop(), effect)
    return Toleration(taints[0].key, "Exists", "", effect)


def format_toleration(toleration: Toleration) -> str:
    """Format a toleration like a taint, ``key=value:Effect``: ``*`` for any value, no effect for any
    effect."""
    value = "=*" if toleration.operator == "Exists" else f"={toleration.value}" if toleration.value else ""
    return f"{toleration.key}{value}" + (f":{toleration.effect}" if toleration.effect else "")


# Placement constraints


def propose_constraint_removals(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose to remove one constraint: a label of the node selector, an expression of the node affinity, the
    whole node affinity, a term of pod (anti-)affinity, or a topology spread constraint."""
    spec = situation.pod.spec
    for key, value in (spec.get("nodeSelector") or {}).items():
        yield _removal_proposal(situation, "selector", f"{key}={value}", ("nodeSelector", key))
    affinity = spec.get("affinity") or {}
    terms = ((affinity.get("nodeAffinity") or {}).get(REQUIRED) or {}).get("nodeSelectorTerms") or ()
    path: tuple[Any, ...] = ("affinity", "nodeAffinity", REQUIRED)
    for i, term in enumerate(terms):
        listed = [
            (part, k)
            for part in ("matchExpressions", "matchFields")
            for k in range(len(term.get(part) or ()))
        ]
        for part, k in listed if len(listed) > 1 else ():
            what = format_expression(term[part][k])
            if len(terms) > 1:
                what = f"{what} of the term {format_node_term(term)}"
            yield _removal_proposal(
                situation, "node-affinity", what, (*path, "nodeSelectorTerms", i, part, k)
            )
    if terms:
        yield _removal_proposal(situation, "node-affinity", " or ".join(map(format_node_term, terms)), path)
    for kind, field in (("pod-affinity", "podAffinity"), ("pod-anti-affinity", "podAntiAffinity")):
        for i, term in enumerate((affinity.get(field) or {}).get(REQUIRED) or ()):
            made = _removal_proposal(situation, kind, term["topologyKey"], ("affinity", field, REQUIRED, i))
            yield made._replace(before=format_pod_term(term))
    for i, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        if constraint["whenUnsatisfiable"] == "DoNotSchedule":
            what = constraint["topologyKey"]
            yield _removal_proposal(situation, "spread", what, ("topologySpreadConstraints", i))


def propose_volume_removals(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose to remove one volume with its mounts. This shows which volume is the obstacle."""
    for i, volume in enumerate(situation.pod.spec.get("volumes") or ()):
        name, reference = volume["name"], claim_reference(situation.pod, volume)

        def drop(new: Manifest, i: int = i, name: str = name) -> None:
            spec = new["spec"]
            _remove_path(spec, ("volumes", i))
            for container in (*spec["containers"], *(spec.get("initContainers") or ())):
                for field in ("volumeMounts", "volumeDevices"):
                    if field in container:
                        container[field] = [mount for mount in container[field] if mount["name"] != name]

        before = reference.name if reference else ""
        yield pod_proposal(situation, "drop-volume", name, drop, before=before)


def propose_host_ports(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose for each host port the next higher port that no pod in the cluster uses."""
    spec = situation.pod.spec
    used = {port.port for port in situation.cluster.ports.users()}
    used |= {port.port for port in situation.pod.host_ports}
    for i, container in enumerate(spec["containers"]):
        for k, port in enumerate(container.get("ports") or ()):
            wanted = port.get("hostPort")
            near = range(wanted + 1, min(wanted + PORTS_AT_MOST, MAX_PORT)) if wanted else ()
            found = next((number for number in near if number not in used), None)
            if found is None:
                continue
            same = bool(spec.get("hostNetwork"))

            def move(new: Manifest, i: int = i, k: int = k, number: int = found, same: bool = same) -> None:
                written = new["spec"]["containers"][i]["ports"][k]
                written["hostPort"] = number
                if same:  # With hostNetwork, containerPort must equal hostPort.
                    written["containerPort"] = number

            protocol = port.get("protocol") or "TCP"
            yield pod_proposal(situation, "host-port", protocol, move, before=str(wanted), after=str(found))


def _removal_proposal(situation: Situation, kind: Any, what: str, path: tuple[Any, ...]) -> Proposal:
    return pod_proposal(situation, kind, what, lambda new: _remove_path(new["spec"], path), before=what)


def _remove_path(holder: Any, path: tuple[Any, ...]) -> None:
    """Remove the field at ``path``, and its parents that are then empty."""
    first, *rest = path
    if rest:
        _remove_path(holder[first], tuple(rest))
    if not rest or not holder[first]:
        del holder[first]

"""Changes of the pod itself. There are few of them, so that each is tried, promising or not."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from simulator.api import Manifest
from simulator.cluster.columns import Ints
from simulator.objects import pod_requests
from simulator.objects.node import Taint
from simulator.objects.pod import Pod, Toleration
from simulator.objects.volumes import claim_reference
from simulator.plugins.node_unschedulable import TAINT as UNSCHEDULABLE
from simulator.plugins.taint_toleration import tolerated
from simulator.what_if import amounts
from simulator.what_if.edit import Edit, update_pod
from simulator.what_if.obstacles import Obstacles, free
from simulator.what_if.proposal import Proposal, Proposals, of_pod
from simulator.what_if.situation import Situation

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
TOLERATIONS_AT_MOST = 64
"""Tried, those of the most nodes first: every node may have a taint of its own."""
PORTS_AT_MOST = 1024
"""How far from the wanted host port a free one is looked for."""
MAX_PORT = 65535


# What keeps it out of the queue


def gates(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Where there is one gate only: two would be two changes."""
    pod = situation.pod
    if len(pod.scheduling_gates) == 1:
        [gate] = pod.scheduling_gates
        yield of_pod(situation, "gate", gate, lambda new: new["spec"].pop("schedulingGates"), before=gate)


def schedulers(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Where no profile has the pod's schedulerName."""
    if situation.framework is not None:
        return
    for name in situation.frameworks:
        change = partial(_ask, scheduler=name)
        before = situation.pod.scheduler_name
        yield of_pod(situation, "scheduler", "schedulerName", change, before=before, after=name)


def _ask(new: Manifest, scheduler: str) -> None:
    new["spec"]["schedulerName"] = scheduler


# Requests


def requests(situation: Situation, obstacles: Obstacles) -> Proposals:
    """The largest request of each resource that fits somewhere, all else being as it is."""
    pod, cluster = situation.pod, situation.cluster
    for resource, wanted in pod.own_requests.items():
        overhead = (pod.spec.get("overhead") or {}).get(resource, 0)
        floor = pod_requests.amount(resource, pod_requests.parse_list({"": overhead})[""])
        least = amounts.lowered(pod.manifest, resource, floor)
        line = cluster.resources.get(resource)
        if least is None or wanted <= floor:
            continue
        with situation.supposing([update_pod(pod.key, pod.manifest, least.manifest).change]):
            rows = np.flatnonzero(situation.passing())
        if not len(rows):
            continue
        room: Ints = np.zeros(len(rows), dtype=np.int64)
        if line is not None:
            room = cluster.allocatable[line, rows] - cluster.requested[line, rows]
            for name in situation.nominated:
                row = cluster.rows.get(name, -1)
                room[rows == row] = free(situation, row, resource) if row >= 0 else 0
        most = max(floor, int(room.max()))
        found = amounts.lowered(pod.manifest, resource, most)
        if found is not None:
            yield Proposal(
                "request",
                pod.key,
                resource,
                found.before,
                found.after,
                _replaced(pod, found.manifest),
                measure=0.999 * (wanted - most) / wanted,
                unit=found.step,
            )


def _replaced(pod: Pod, new: Manifest) -> Callable[[], list[Edit]]:
    return lambda: [update_pod(pod.key, pod.manifest, new)]


# Taints


def tolerations(situation: Situation, obstacles: Obstacles) -> Proposals:
    """The narrowest toleration that is enough for all taints of a node."""
    cluster, pod = situation.cluster, situation.pod
    counts = np.bincount(cluster.taints.ids[: cluster.width] + 1, minlength=len(cluster.taints.values) + 1)
    wanted: dict[Toleration, int] = {}
    for number, listed in enumerate(cluster.taints.values):
        found = _toleration([t for t in listed or () if _repels(t, pod)])
        if found is not None:
            wanted[found] = wanted.get(found, 0) + int(counts[number + 1])
    if cluster.unschedulable.any():
        cordon = Toleration(UNSCHEDULABLE.key, "Exists", "", UNSCHEDULABLE.effect)
        wanted.setdefault(cordon, int(np.count_nonzero(cluster.unschedulable)))
    for toleration in sorted(wanted, key=lambda t: (-wanted[t], t))[:TOLERATIONS_AT_MOST]:
        stated = {field: value for field, value in toleration._asdict().items() if value}
        text = toleration_text(toleration)
        yield of_pod(situation, "toleration", text, partial(_tolerate, toleration=stated), after=text)


def _tolerate(new: Manifest, toleration: Manifest) -> None:
    new["spec"].setdefault("tolerations", []).append(toleration)


def _repels(taint: Taint, pod: Pod) -> bool:
    return taint.effect != "PreferNoSchedule" and not tolerated(taint, pod.tolerations)


def _toleration(taints: list[Taint]) -> Toleration | None:
    """One toleration for all of these: None where they share no key."""
    keys = {taint.key for taint in taints}
    if len(keys) != 1:
        return None
    values, effects = {taint.value for taint in taints}, {taint.effect for taint in taints}
    effect = effects.pop() if len(effects) == 1 else ""
    if len(values) == 1:
        return Toleration(taints[0].key, "Equal", values.pop(), effect)
    return Toleration(taints[0].key, "Exists", "", effect)


def toleration_text(toleration: Toleration) -> str:
    """As a taint is written, ``key=value:Effect``; ``*`` for any value, and without effect for any effect."""
    value = "=*" if toleration.operator == "Exists" else f"={toleration.value}" if toleration.value else ""
    return f"{toleration.key}{value}" + (f":{toleration.effect}" if toleration.effect else "")


# What it asks of its place


def constraints(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Each of them dropped: a node selector's label, an expression of node affinity, a term of pod affinity,
    a spread constraint."""
    spec = situation.pod.spec
    for key, value in (spec.get("nodeSelector") or {}).items():
        yield _dropped(situation, "selector", f"{key}={value}", ("nodeSelector", key))
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
            what = expression_text(term[part][k])
            yield _dropped(situation, "node-affinity", what, (*path, "nodeSelectorTerms", i, part, k))
    if terms:
        yield _dropped(situation, "node-affinity", " or ".join(map(_term_text, terms)), path)
    for kind, field in (("pod-affinity", "podAffinity"), ("pod-anti-affinity", "podAntiAffinity")):
        for i, term in enumerate((affinity.get(field) or {}).get(REQUIRED) or ()):
            yield _dropped(situation, kind, term["topologyKey"], ("affinity", field, REQUIRED, i))
    for i, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        if constraint["whenUnsatisfiable"] == "DoNotSchedule":
            what = constraint["topologyKey"]
            yield _dropped(situation, "spread", what, ("topologySpreadConstraints", i))


def volumes(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Each volume dropped, with its mounts: so that it is seen which one it is."""
    for i, volume in enumerate(situation.pod.spec.get("volumes") or ()):
        name, reference = volume["name"], claim_reference(situation.pod, volume)

        def drop(new: Manifest, i: int = i, name: str = name) -> None:
            spec = new["spec"]
            _remove(spec, ("volumes", i))
            for container in (*spec["containers"], *(spec.get("initContainers") or ())):
                for field in ("volumeMounts", "volumeDevices"):
                    if field in container:
                        container[field] = [mount for mount in container[field] if mount["name"] != name]

        before = reference.name if reference else ""
        yield of_pod(situation, "drop-volume", name, drop, before=before)


def host_ports(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Each host port moved to the nearest number that nobody in the cluster uses."""
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
                if same:  # On the node's own network a container's port is the node's.
                    written["containerPort"] = number

            protocol = port.get("protocol") or "TCP"
            yield of_pod(situation, "host-port", protocol, move, before=str(wanted), after=str(found))


def expression_text(expression: Manifest) -> str:
    values = ", ".join(expression.get("values") or ())
    match expression["operator"]:
        case "In":
            return f"{expression['key']} in ({values})"
        case "NotIn":
            return f"{expression['key']} not in ({values})"
        case "Gt" | "Lt" as operator:
            return f"{expression['key']} {'>' if operator == 'Gt' else '<'} {values}"
        case "DoesNotExist":
            return f"no {expression['key']}"
    return str(expression["key"])


def _term_text(term: Manifest) -> str:
    listed = (*(term.get("matchExpressions") or ()), *(term.get("matchFields") or ()))
    return " and ".join(map(expression_text, listed))


def _dropped(situation: Situation, kind: Any, what: str, path: tuple[Any, ...]) -> Proposal:
    return of_pod(situation, kind, what, lambda new: _remove(new["spec"], path), before=what)


def _remove(holder: Any, path: tuple[Any, ...]) -> None:
    """With whatever is empty without it."""
    first, *rest = path
    if rest:
        _remove(holder[first], tuple(rest))
    if not rest or not holder[first]:
        del holder[first]

"""One pod deleted: whose going is enough, the least important first."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from simulator.apiserver.resources import PODS
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Rows
from simulator.cluster.host_ports import conflict
from simulator.cluster.pod_counts import PodTerm
from simulator.objects.labels import Labels
from simulator.objects.pod import AffinityTerm, Pod
from simulator.objects.volumes import claim_names, pod_volumes
from simulator.plugins.inter_pod_affinity.common import namespace_labels, resolved
from simulator.plugins.pod_topology_spread import PodTopologySpread
from simulator.plugins.pod_topology_spread.common import HOSTNAME
from simulator.preemption.pod_columns import PodColumns
from simulator.what_if.edit import delete
from simulator.what_if.obstacles import FIT, Obstacles
from simulator.what_if.proposal import Proposal, Proposals, owner
from simulator.what_if.situation import Situation

KNOWN = frozenset({FIT, "NodePorts", "VolumeRestrictions", "PodTopologySpread", "InterPodAffinity"})
"""Plugins of which it is known which pods they mind. What another one minds (NodeVolumeLimits, a plugin of
somebody's own) may be any pod of the node."""


class Candidate(NamedTuple):
    """Sorted as they are tried: the less important first, but last those that are not alone in the way."""

    not_alone: bool
    priority: int
    cpu: int
    key: str
    pod: Pod


def pods(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Nodes are promising where all that is said against them is said because of pods that are there. Pods
    that are terminating go by themselves."""
    rows = obstacles.resolvable()
    other = np.zeros(len(rows), dtype=np.bool_)
    for plugin in obstacles.plugins:
        if plugin != FIT:
            other |= obstacles.fails(rows, plugin)
    found = {c.key: c for c in _nominated(situation)}
    found |= {c.key: c for c in _large_enough(situation, rows[~other])}
    if other.any():
        found |= {c.key: c for c in _in_the_way(situation, obstacles, rows[other])}
    for i, candidate in enumerate(sorted(found.values(), key=lambda c: c[:-1])):
        yield _deleted(situation.pod, candidate.pod, i / len(found))


def _deleted(pending: Pod, pod: Pod, place: float) -> Proposal:
    more_important = pod.priority > pending.priority
    return Proposal(
        "delete-pod",
        pod.key,
        owner(pod),
        str(pod.priority),
        "",
        lambda: [delete(PODS.id, pod.key)],
        measure=(0.5 if more_important else 0) + 0.49 * place,
    )


def _candidate(pod: Pod, not_alone: bool = False) -> Candidate:
    return Candidate(not_alone, pod.priority, pod.requests.get("cpu", 0), pod.key, pod)


def _nominated(situation: Situation) -> Iterator[Candidate]:
    """Pods that only hope for their room keep it free all the same."""
    for others in situation.nominated.values():
        yield from (_candidate(pod) for pod in others if pod.priority >= situation.pod.priority)


def _large_enough(situation: Situation, rows: Rows) -> Iterator[Candidate]:
    """Pods on nodes that lack room alone, and that leave enough of it: by columns, for there are many."""
    cluster = situation.cluster
    if not len(rows):
        return
    index = cluster.index(PodColumns)
    slots, enough = index.on(rows)
    for resource, wanted in situation.pod.own_requests.items():
        line = cluster.resources.get(resource)
        if line is None or not wanted:
            continue
        missing = wanted - (cluster.allocatable[line, rows] - cluster.requested[line, rows])
        gives = index.requests[line][slots] if line < len(index.requests) else np.zeros_like(slots)
        enough &= gives >= missing[:, np.newaxis]
    for pod in index.pods[slots[enough]].tolist():
        if not pod.terminating:
            yield _candidate(pod)


def _in_the_way(situation: Situation, obstacles: Obstacles, rows: Rows) -> Iterator[Candidate]:
    """Pods that one of the plugins minds, wherever they are: a zone is full for all of its nodes."""
    cluster = situation.cluster
    minds = _Minds(situation)
    where = {cluster.node(row).name for row in rows.tolist()}
    foreign = any(obstacles.fails(rows, plugin).any() for plugin in obstacles.plugins if plugin not in KNOWN)
    found: list[tuple[Pod, list[tuple[str, str]]]] = []
    for pod in cluster.pods.values():
        if pod.terminating:
            continue
        domains = minds(pod)
        if domains or (foreign and pod.node_name in where):
            found.append((pod, domains))
    crowd = Counter(domain for _, domains in found for domain in set(domains))
    for pod, domains in found:
        yield _candidate(pod, not_alone=all(crowd[domain] > 1 for domain in domains) and bool(domains))


class _Minds:
    """In which topology domains (key, value) the pending pod minds another one."""

    def __init__(self, situation: Situation) -> None:
        self.cluster: Cluster = situation.cluster
        self.pod = pod = situation.pod
        self.labels: Labels = namespace_labels(self.cluster, pod.namespace)
        self.apart: list[tuple[str, PodTerm]] = [
            (term.topology_key, resolved(term, self.cluster)) for term in pod.affinity.required_anti
        ]
        framework = situation.framework
        plugin = framework.plugins.get("PodTopologySpread") if framework else None
        self.spread = (
            plugin.constraints(pod, self.cluster, "DoNotSchedule")
            if isinstance(plugin, PodTopologySpread)
            else []
        )
        self.claims = set(claim_names(pod))
        self.volumes = bool(pod_volumes(pod))

    def __call__(self, other: Pod) -> list[tuple[str, str]]:
        keys = [key for key, term in self.apart if term.matches(other.namespace, other.labels)]
        keys += [term.topology_key for term in self._refusing(other.affinity.required_anti)]
        if other.namespace == self.pod.namespace:
            keys += [c.topology_key for c in self.spread if c.matches(other.labels)]
        if self.pod.host_ports and any(
            conflict(want, port) for want in self.pod.host_ports for port in other.host_ports
        ):
            keys.append(HOSTNAME)
        if self.volumes and pod_volumes(other):
            shared = not self.claims.isdisjoint(claim_names(other))
            keys.append("" if shared else HOSTNAME)
        row = self.cluster.rows.get(other.node_name)
        labels = self.cluster.node(row).labels if row is not None else {}
        return [(key, other.node_name if key == HOSTNAME else labels.get(key, "")) for key in keys]

    def _refusing(self, terms: Sequence[AffinityTerm]) -> list[AffinityTerm]:
        """Another pod's terms that keep the pending one away."""
        return [term for term in terms if term.matches(self.pod, self.labels)]

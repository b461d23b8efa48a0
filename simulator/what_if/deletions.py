"""Proposals to delete one other pod, the least important first."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from simulator.apiserver.resources import PODS
from simulator.cluster.cluster import Cluster
from simulator.cluster.columns import Rows
from simulator.cluster.host_ports import ports_conflict
from simulator.cluster.pod_columns import PodColumns
from simulator.cluster.pod_counts import PodTerm
from simulator.objects.labels import Labels
from simulator.objects.pod import AffinityTerm, Pod
from simulator.objects.volumes import claim_names, pod_volumes
from simulator.plugins.inter_pod_affinity.terms import namespace_labels, resolve_namespaces
from simulator.plugins.pod_topology_spread import PodTopologySpread
from simulator.plugins.pod_topology_spread.common import HOSTNAME
from simulator.what_if.edit import delete_object
from simulator.what_if.obstacles import FIT, Obstacles
from simulator.what_if.pod_claims import claims_without_pod
from simulator.what_if.proposal import Proposal, Proposals, owner_text
from simulator.what_if.replacements import is_created_again
from simulator.what_if.situation import Situation

CONFLICT_PLUGINS = frozenset(
    {FIT, "NodePorts", "VolumeRestrictions", "PodTopologySpread", "InterPodAffinity"}
)
"""Plugins for which the conflicting pods can be determined. For any other plugin (NodeVolumeLimits, custom
ones) every pod of the node may conflict."""


RETURNING_AT_MOST = 8
"""Maximum number of pods that are created again and whose deletion is tried in vain."""


class DeletionCandidate(NamedTuple):
    """A pod whose deletion may help. Candidates are tried in sort order: less important pods first, but after
    them those that share every conflict with other pods, as then a single deletion does not help."""

    not_alone: bool
    priority: int
    cpu: int
    key: str
    pod: Pod


def propose_deletions(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose to delete one pod. Only nodes are considered that other pods' removal can make feasible.
    Terminating pods are not proposed. A pod that is created again helps only if it then gets another place;
    after RETURNING_AT_MOST of them that did not help, no further one is proposed."""
    rows = obstacles.resolvable()
    other = np.zeros(len(rows), dtype=np.bool_)
    for plugin in obstacles.plugins:
        if plugin != FIT:
            other |= obstacles.fails(rows, plugin)
    found = {c.key: c for c in _nominated_pods(situation)}
    found |= {c.key: c for c in _large_enough_pods(situation, rows[~other])}
    if other.any():
        found |= {c.key: c for c in _conflicting_pods(situation, obstacles, rows[other])}
    returned = 0
    for i, candidate in enumerate(sorted(found.values(), key=lambda c: c[:-1])):
        returns = is_created_again(situation, candidate.pod)
        if returns and returned == RETURNING_AT_MOST:
            continue
        made = _deletion_proposal(situation.pod, candidate.pod, i / len(found))
        if candidate.pod.spec.get("resourceClaims"):
            made = made._replace(follows=[*claims_without_pod(situation, candidate.pod)])
        helped = yield made
        returned += returns and helped is False


def _deletion_proposal(pending: Pod, pod: Pod, place: float) -> Proposal:
    more_important = pod.priority > pending.priority
    return Proposal(
        "delete-pod",
        pod.key,
        owner_text(pod),
        str(pod.priority),
        "",
        lambda: [delete_object(PODS.id, pod.key)],
        measure=(0.5 if more_important else 0) + 0.49 * place,
    )


def _candidate(pod: Pod, not_alone: bool = False) -> DeletionCandidate:
    return DeletionCandidate(not_alone, pod.priority, pod.requests.get("cpu", 0), pod.key, pod)


def _nominated_pods(situation: Situation) -> Iterator[DeletionCandidate]:
    """Yield nominated pods of the same or a higher priority: their requests are reserved on their nodes."""
    for others in situation.nominated.values():
        yield from (_candidate(pod) for pod in others if pod.priority >= situation.pod.priority)


def _large_enough_pods(situation: Situation, rows: Rows) -> Iterator[DeletionCandidate]:
    """Yield the pods on ``rows`` (nodes that only lack resources) whose deletion frees enough of them. This
    is computed with columns, because there may be many pods."""
    cluster = situation.cluster
    if not len(rows):
        return
    index = cluster.index(PodColumns)
    slots, enough = index.on(rows)
    for resource, wanted in situation.pod.own_requests.items():
        if wanted:
            free = cluster.allocatable.column(resource) - cluster.requested.column(resource)
            enough &= index.requests.column(resource)[slots] >= (wanted - free[rows])[:, np.newaxis]
    for pod in index.pods[slots[enough]].tolist():
        if not pod.terminating:
            yield _candidate(pod)


def _conflicting_pods(situation: Situation, obstacles: Obstacles, rows: Rows) -> Iterator[DeletionCandidate]:
    """Yield the pods that conflict with the pending pod for one of the plugins. They may be on any node,
    because a topology domain has many nodes."""
    cluster = situation.cluster
    conflict_domains = _ConflictDomains(situation)
    where = {cluster.node(row).name for row in rows.tolist()}
    foreign = any(
        obstacles.fails(rows, plugin).any() for plugin in obstacles.plugins if plugin not in CONFLICT_PLUGINS
    )
    found: list[tuple[Pod, list[tuple[str, str]]]] = []
    for pod in cluster.pods.values():
        if pod.terminating:
            continue
        domains = conflict_domains(pod)
        if domains or (foreign and pod.node_name in where):
            found.append((pod, domains))
    crowd = Counter(domain for _, domains in found for domain in set(domains))
    for pod, domains in found:
        yield _candidate(pod, not_alone=all(crowd[domain] > 1 for domain in domains) and bool(domains))


class _ConflictDomains:
    """Determines the topology domains (key, value) in which another pod conflicts with the pending one."""

    def __init__(self, situation: Situation) -> None:
        self.cluster: Cluster = situation.cluster
        self.pod = pod = situation.pod
        self.labels: Labels = namespace_labels(self.cluster, pod.namespace)
        self.apart: list[tuple[str, PodTerm]] = [
            (term.topology_key, resolve_namespaces(term, self.cluster)) for term in pod.affinity.required_anti
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
            ports_conflict(want, port) for want in self.pod.host_ports for port in other.host_ports
        ):
            keys.append(HOSTNAME)
        if self.volumes and pod_volumes(other):
            shared = not self.claims.isdisjoint(claim_names(other))
            keys.append("" if shared else HOSTNAME)
        row = self.cluster.rows.get(other.node_name)
        labels = self.cluster.node(row).labels if row is not None else {}
        return [(key, other.node_name if key == HOSTNAME else labels.get(key, "")) for key in keys]

    def _refusing(self, terms: Sequence[AffinityTerm]) -> list[AffinityTerm]:
        """Return another pod's anti-affinity terms that match the pending pod."""
        return [term for term in terms if term.matches(self.pod, self.labels)]

"""Explanation of an eviction by preemption, and the changes that would have prevented it."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from simulator.api import Change, Manifest
from simulator.apiserver.resources import DISRUPTION_BUDGETS, PODS
from simulator.decision import Decision
from simulator.objects.pod import Pod
from simulator.preemption.eligibility import importance_key, is_preemption_allowed
from simulator.what_if import amounts
from simulator.what_if.answer import AttemptOutcome
from simulator.what_if.edit import mutable_copy
from simulator.what_if.situation import Situation

LEVELS_AT_MOST: Final = 16
"""Maximum number of priorities, and of request sizes, that are tried."""


class Eviction(msgspec.Struct, frozen=True):
    """The eviction of a pod, from the decision of the preemptor's cycle."""

    victim: str
    priority: int
    violates_pdb: bool
    preemptor: str
    preemptor_priority: int
    cycle: int
    node: str
    rule: int
    """The rule that chose the node, see :class:`simulator.decision.Preemption`."""
    candidates: int
    """Number of candidate nodes."""
    victims: list[str]
    spared: list[str]
    """Pods of lower priority that were not evicted from the node, most important first."""
    tried: list[str]
    """The pods in the order in which preemption tried to reprieve them. Empty if it was not recorded."""

    @property
    def turn(self) -> int:
        """The victim's position in ``tried``, from 1; 0 if it was not recorded."""
        return self.tried.index(self.victim) + 1 if self.victim in self.tried else 0


class Prevention(msgspec.Struct, frozen=True):
    """One change that would have prevented the eviction. ``outcome`` is the result of the preemptor's attempt
    then.

    * priority: the victim's priority is at least ``after``
    * budget: a PodDisruptionBudget with the labels ``what`` allows no disruption
    * request: the preemptor's request of ``what`` is reduced to ``after``
    * preemptor-priority: the preemptor's priority is at most ``after``
    """

    kind: Literal["priority", "budget", "request", "preemptor-priority"]
    what: str
    before: str
    after: str
    outcome: AttemptOutcome


def explain_eviction(decision: Decision, victim: str) -> Eviction:
    """Explain an eviction. Raises LookupError if the decision did not evict ``victim``
    (``namespace/name``)."""
    chosen = decision.chosen_candidate
    found = next((v for v in chosen.victims if v.pod == victim), None) if chosen else None
    if chosen is None or found is None or decision.preemption is None:
        raise LookupError(f"cycle {decision.cycle} evicted no pod {victim!r}")
    return Eviction(
        victim=victim,
        priority=found.priority,
        violates_pdb=found.violates_pdb,
        preemptor=decision.pod,
        preemptor_priority=decision.priority,
        cycle=decision.cycle,
        node=chosen.node,
        rule=decision.preemption.rule,
        candidates=len(decision.preemption.candidates),
        victims=[v.pod for v in chosen.victims],
        spared=[v.pod for v in chosen.spared],
        tried=chosen.tried,
    )


def find_preventions(situation: Situation, victim: str) -> Iterator[Prevention]:
    """Yield the changes that would have prevented the eviction, each tried on the simulator.

    ``situation`` is the preemptor's: the cluster before its cycle, with the seed and number of the cycle.
    Nothing is yielded if the preemptor does not evict ``victim`` there. For the preemptor's request, only
    those sizes are tried at which one more pod can stay on the victim's node."""
    now = situation.outcome()
    pod = situation.cluster.pods.get(victim)
    if pod is None or victim not in now.victims:
        return
    found = (
        _by_priority(situation, pod),
        _by_budget(situation, pod),
        *(_by_request(situation, pod, resource) for resource in situation.pod.own_requests),
        _by_preemptor(situation, pod),
    )
    yield from (saving for saving in found if saving is not None)


def _outcome_without_victim(
    situation: Situation, victim: Pod, changes: Sequence[Change]
) -> AttemptOutcome | None:
    """Return the preemptor's result with these changes; None if the victim is still evicted."""
    with situation.with_changes(changes):
        outcome = situation.outcome()
    return None if victim.key in outcome.victims else outcome


def _by_priority(situation: Situation, victim: Pod) -> Prevention | None:
    """Find the lowest sufficient priority: that of another pod, one more than it, or the preemptor's."""
    top = situation.pod.priority
    others = {pod.priority for pod in situation.cluster.pods.values()}
    levels = sorted(level for p in others for level in (p, p + 1) if victim.priority < level < top)
    for level in (*[*dict.fromkeys(levels)][:LEVELS_AT_MOST], top):
        outcome = _outcome_without_victim(situation, victim, [_with_priority(victim, priority=level)])
        if outcome is not None:
            return Prevention("priority", victim.key, str(victim.priority), str(level), outcome)
    return None


def _by_budget(situation: Situation, victim: Pod) -> Prevention | None:
    if not victim.labels:
        return None
    key = f"{victim.namespace}/what-if"
    budget: Manifest = {
        "metadata": {"name": "what-if", "namespace": victim.namespace},
        "spec": {"selector": {"matchLabels": victim.labels}},
        "status": {"disruptionsAllowed": 0},
    }
    outcome = _outcome_without_victim(situation, victim, [Change(DISRUPTION_BUDGETS.id, key, budget)])
    labels = ",".join(f"{name}={value}" for name, value in sorted(victim.labels.items()))
    return None if outcome is None else Prevention("budget", labels, "", "0", outcome)


def _by_request(situation: Situation, victim: Pod, resource: str) -> Prevention | None:
    """Find the largest sufficient request, among the sizes at which more pods can stay on the victim's
    node."""
    preemptor, cluster = situation.pod, situation.cluster
    row = cluster.rows[victim.node_name]
    lifted = sorted(
        (p for p in cluster.pods_on(row).values() if is_preemption_allowed(p, preemptor)), key=importance_key
    )
    room = int(cluster.allocatable.column(resource)[row] - cluster.requested.column(resource)[row])
    room += sum(pod.requests.get(resource, 0) for pod in lifted) - victim.requests.get(resource, 0)
    sizes = {room}
    for other in lifted:
        if other is not victim:
            room -= other.requests.get(resource, 0)
            sizes.add(room)
    wanted = preemptor.own_requests[resource]
    for size in sorted((size for size in sizes if 0 <= size < wanted), reverse=True)[:LEVELS_AT_MOST]:
        lowered = amounts.lower_requests(preemptor.manifest, resource, size)
        if lowered is None:
            continue
        outcome = _outcome_without_victim(
            situation, victim, [Change(PODS.id, preemptor.key, lowered.manifest)]
        )
        if outcome is not None:
            return Prevention("request", resource, lowered.before, lowered.after, outcome)
    return None


def _by_preemptor(situation: Situation, victim: Pod) -> Prevention | None:
    preemptor = situation.pod
    outcome = _outcome_without_victim(
        situation, victim, [_with_priority(preemptor, priority=victim.priority)]
    )
    if outcome is None:
        return None
    before, after = str(preemptor.priority), str(victim.priority)
    return Prevention("preemptor-priority", preemptor.key, before, after, outcome)


def _with_priority(pod: Pod, *, priority: int) -> Change:
    new = mutable_copy(pod.manifest)
    new["spec"]["priority"] = priority
    return Change(PODS.id, pod.key, new)

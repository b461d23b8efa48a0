"""Why a pod was evicted by preemption, and what would have saved it."""

from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from simulator.api import Change, Manifest
from simulator.apiserver.resources import DISRUPTION_BUDGETS, PODS
from simulator.decision import Candidate, Decision
from simulator.objects.pod import Pod
from simulator.preemption.eligibility import importance, is_preemption_allowed
from simulator.what_if import amounts
from simulator.what_if.answer import Outcome
from simulator.what_if.edit import changed
from simulator.what_if.situation import Situation

LEVELS_AT_MOST: Final = 16
"""Priorities that are tried for a victim."""


class Eviction(msgspec.Struct, frozen=True):
    """Read from the decision of the preemptor's cycle."""

    victim: str
    priority: int
    violates_pdb: bool
    preemptor: str
    preemptor_priority: int
    cycle: int
    node: str
    rule: int
    """That chose the node, see :class:`simulator.decision.Preemption`."""
    candidates: int
    """Nodes that could have been freed."""
    victims: list[str]
    spared: list[str]
    """Pods of the node that could stay, most important first."""
    tried: list[str]
    """The order in which the pods were put back as long as the preemptor still fitted. Empty where it was not
    kept."""

    @property
    def turn(self) -> int:
        """The victim's place in ``tried``, from 1; 0 where it was not kept."""
        return self.tried.index(self.victim) + 1 if self.victim in self.tried else 0


class Saving(msgspec.Struct, frozen=True):
    """One thing which, had it been so, would have kept the victim where it was: ``outcome`` is what the
    preemptor's attempt then comes to.

    * priority: the victim's own, at least ``after``
    * budget: a PodDisruptionBudget that allows no disruption of pods like it
    * request: of the preemptor, ``what`` lowered to ``after``
    * preemptor-priority: no higher than ``after``
    """

    kind: Literal["priority", "budget", "request", "preemptor-priority"]
    what: str
    before: str
    after: str
    outcome: Outcome


def eviction(decision: Decision, victim: str) -> Eviction:
    """Raises LookupError where the decision evicted no such pod (``namespace/name``)."""
    chosen = _chosen(decision)
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


def _chosen(decision: Decision) -> Candidate | None:
    found = decision.preemption
    return next((c for c in found.candidates if c.node == found.chosen), None) if found else None


def savings(situation: Situation, victim: str) -> Iterator[Saving]:
    """What would have saved the victim, each tried on the model; nothing where the situation's pod does not
    evict it. ``situation`` is the preemptor's: the cluster as it was before its cycle, with seed and cycle.

    Of a smaller preemptor only the sizes are tried at which one more pod of the victim's node can stay."""
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


def _saved(situation: Situation, victim: Pod, changes: Sequence[Change]) -> Outcome | None:
    """What comes of the preemptor then; None where the victim has to go all the same."""
    with situation.supposing(changes):
        outcome = situation.outcome()
    return None if victim.key in outcome.victims else outcome


def _by_priority(situation: Situation, victim: Pod) -> Saving | None:
    """The lowest that is enough: one that another pod has, or one above it, or at last the preemptor's."""
    top = situation.pod.priority
    others = {pod.priority for pod in situation.cluster.pods.values()}
    levels = sorted(level for p in others for level in (p, p + 1) if victim.priority < level < top)
    for level in (*[*dict.fromkeys(levels)][:LEVELS_AT_MOST], top):
        outcome = _saved(situation, victim, [_pod(victim, priority=level)])
        if outcome is not None:
            return Saving("priority", victim.key, str(victim.priority), str(level), outcome)
    return None


def _by_budget(situation: Situation, victim: Pod) -> Saving | None:
    if not victim.labels:
        return None
    key = f"{victim.namespace}/what-if"
    budget: Manifest = {
        "metadata": {"name": "what-if", "namespace": victim.namespace},
        "spec": {"selector": {"matchLabels": victim.labels}},
        "status": {"disruptionsAllowed": 0},
    }
    outcome = _saved(situation, victim, [Change(DISRUPTION_BUDGETS.id, key, budget)])
    labels = ",".join(f"{name}={value}" for name, value in sorted(victim.labels.items()))
    return None if outcome is None else Saving("budget", labels, "", "0", outcome)


def _by_request(situation: Situation, victim: Pod, resource: str) -> Saving | None:
    """The largest of the sizes at which more pods of the victim's node can stay."""
    preemptor, cluster = situation.pod, situation.cluster
    line, row = cluster.resources.get(resource), cluster.rows[victim.node_name]
    if line is None:
        return None
    lifted = sorted(
        (p for p in cluster.pods_on(row).values() if is_preemption_allowed(p, preemptor)), key=importance
    )
    room = int(cluster.allocatable[line, row] - cluster.requested[line, row])
    room += sum(pod.requests.get(resource, 0) for pod in lifted) - victim.requests.get(resource, 0)
    sizes = {room}
    for other in lifted:
        if other is not victim:
            room -= other.requests.get(resource, 0)
            sizes.add(room)
    wanted = preemptor.own_requests[resource]
    for size in sorted((size for size in sizes if 0 <= size < wanted), reverse=True)[:LEVELS_AT_MOST]:
        lowered = amounts.lowered(preemptor.manifest, resource, size)
        if lowered is None:
            continue
        outcome = _saved(situation, victim, [Change(PODS.id, preemptor.key, lowered.manifest)])
        if outcome is not None:
            return Saving("request", resource, lowered.before, lowered.after, outcome)
    return None


def _by_preemptor(situation: Situation, victim: Pod) -> Saving | None:
    preemptor = situation.pod
    outcome = _saved(situation, victim, [_pod(preemptor, priority=victim.priority)])
    if outcome is None:
        return None
    before, after = str(preemptor.priority), str(victim.priority)
    return Saving("preemptor-priority", preemptor.key, before, after, outcome)


def _pod(pod: Pod, *, priority: int) -> Change:
    new = changed(pod.manifest)
    new["spec"]["priority"] = priority
    return Change(PODS.id, pod.key, new)

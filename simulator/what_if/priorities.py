"""Proposals to change the pod's priority or preemption policy."""

from collections.abc import Callable, Iterable

from simulator.api import Manifest
from simulator.apiserver.kinds.priority_classes import MAX_USER_PRIORITY, PREEMPT
from simulator.apiserver.resources import PRIORITY_CLASSES
from simulator.what_if.answer import ChangeKind
from simulator.what_if.edit import Edit, create_object
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.proposal import Proposal, Proposals, pod_proposal
from simulator.what_if.room import fits_after_preemption
from simulator.what_if.situation import Situation


def propose_preempting_class(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose a class with the same priority and preemptionPolicy PreemptLowerPriority."""
    pod = situation.pod
    if pod.preemption_policy == "Never":
        made = _class_proposal(situation, "preemption-policy", pod.priority)
        yield made._replace(before="Never", after=PREEMPT)


def propose_priorities(situation: Situation, obstacles: Obstacles) -> Proposals:
    """Propose the lowest priority that helps, then the lowest existing PriorityClass from there on that
    helps.

    Only priorities one above that of a bound
    or nominated pod are proposed, and only if a node has enough resources without the pods of lower
    priority."""
    pod, cluster, framework = situation.pod, situation.cluster, situation.framework
    nominated = {other.priority for others in situation.nominated.values() for other in others}
    levels = {other.priority + 1 for other in cluster.pods.values()} | {p + 1 for p in nominated}
    possible = {
        level
        for level in levels
        if pod.priority < level
        and framework is not None
        and (level - 1 in nominated or fits_after_preemption(cluster, framework, pod, level).any())
    }
    yield from propose_levels(
        situation, pod.priority, possible, lambda level: _class_proposal(situation, "priority", level)
    )


def propose_levels(
    situation: Situation, own: int, levels: Iterable[int], propose: Callable[[int], Proposal]
) -> Proposals:
    """Propose the lowest of these priorities above ``own`` that helps, then the lowest existing PriorityClass
    from there on that helps. The caller must send back for each proposal whether it helped."""
    for level in sorted(levels):
        if own < level <= MAX_USER_PRIORITY and (yield propose(level)):
            break
    else:
        return
    classes = situation.cluster.objects(PRIORITY_CLASSES.id).values()
    values = {c["value"] for c in classes if c.get("preemptionPolicy", PREEMPT) == PREEMPT}
    if level in values:
        return
    for value in sorted(values):
        if level < value <= MAX_USER_PRIORITY and (yield propose(value)):
            return


def _class_proposal(situation: Situation, kind: ChangeKind, priority: int) -> Proposal:
    """Propose a preempting PriorityClass with this priority."""
    name, more = class_with(situation, priority)

    def change(new: Manifest) -> None:
        new["spec"] |= {"priorityClassName": name, "priority": priority, "preemptionPolicy": PREEMPT}

    before = str(situation.pod.priority)
    return pod_proposal(situation, kind, name, change, before=before, after=str(priority), more=more)


def class_with(situation: Situation, priority: int) -> tuple[str, list[Edit]]:
    """Return the name of a preempting PriorityClass with this priority, and what creates it if there is
    none."""
    known = situation.cluster.objects(PRIORITY_CLASSES.id)
    fitting = sorted(
        name
        for name, manifest in known.items()
        if manifest["value"] == priority and manifest.get("preemptionPolicy", PREEMPT) == PREEMPT
    )
    if fitting:
        return fitting[0], []
    name = f"priority-{priority}"
    while name in known:
        name += "-preempting"
    manifest = {
        "apiVersion": PRIORITY_CLASSES.api_version,
        "kind": PRIORITY_CLASSES.kind,
        "metadata": {"name": name},
        "value": priority,
    }
    return name, [create_object(PRIORITY_CLASSES.id, name, manifest)]

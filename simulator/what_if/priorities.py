"""The lowest priority with which the pod would run, whoever has to go for it."""

from simulator.api import Manifest
from simulator.apiserver.priority import PREEMPT
from simulator.apiserver.resources import PRIORITY_CLASSES
from simulator.apiserver.validation import MAX_USER_PRIORITY
from simulator.what_if.answer import Kind
from simulator.what_if.edit import Edit, create
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.proposal import Proposal, Proposals, of_pod
from simulator.what_if.room import after_preemption
from simulator.what_if.situation import Situation


def policy(situation: Situation, obstacles: Obstacles) -> Proposals:
    """The same priority, by a class that lets the pod preempt."""
    pod = situation.pod
    if pod.preemption_policy == "Never":
        made = _classed(situation, "preemption-policy", pod.priority)
        yield made._replace(what="preemptionPolicy", before="Never", after=PREEMPT)


def priorities(situation: Situation, obstacles: Obstacles) -> Proposals:
    """The lowest priority that helps, then the lowest PriorityClass from there on that does. It must be told
    (``send``) of each proposal whether it helped.

    Only one above a pod that is there, or nominated, can make a difference, and only if some node would then
    have the room."""
    pod, cluster, framework = situation.pod, situation.cluster, situation.framework
    nominated = {other.priority for others in situation.nominated.values() for other in others}
    levels = {other.priority + 1 for other in cluster.pods.values()} | {p + 1 for p in nominated}
    for level in sorted(levels):
        if not pod.priority < level <= MAX_USER_PRIORITY:
            continue
        possible = framework is not None and (
            level - 1 in nominated or after_preemption(cluster, framework, pod, level).any()
        )
        if possible and (yield _classed(situation, "priority", level)):
            break
    else:
        return
    classes = situation.cluster.objects(PRIORITY_CLASSES.id).values()
    values = {c["value"] for c in classes if c.get("preemptionPolicy", PREEMPT) == PREEMPT}
    if level in values:
        return
    for value in sorted(values):
        if level < value <= MAX_USER_PRIORITY and (yield _classed(situation, "priority", value)):
            return


def _classed(situation: Situation, kind: Kind, priority: int) -> Proposal:
    """The pod with a class of this priority that lets it preempt: one that there is, or else a new one."""
    known = situation.cluster.objects(PRIORITY_CLASSES.id)
    fitting = sorted(
        name
        for name, manifest in known.items()
        if manifest["value"] == priority and manifest.get("preemptionPolicy", PREEMPT) == PREEMPT
    )
    more: list[Edit] = []
    if fitting:
        name = fitting[0]
    else:
        name = f"priority-{priority}"
        while name in known:
            name += "-preempting"
        manifest = {
            "apiVersion": PRIORITY_CLASSES.api_version,
            "kind": PRIORITY_CLASSES.kind,
            "metadata": {"name": name},
            "value": priority,
        }
        more.append(create(PRIORITY_CLASSES.id, name, manifest))

    def change(new: Manifest) -> None:
        new["spec"] |= {"priorityClassName": name, "priority": priority, "preemptionPolicy": PREEMPT}

    before = str(situation.pod.priority)
    return of_pod(situation, kind, name, change, before=before, after=str(priority), more=more)

"""The pods that controllers create again: whether the pending pod gains anything if one of them is deleted.

A deletion is tried with the replacement, which is scheduled first. It does not help if the replacement takes
the room again."""

from contextlib import ExitStack
from typing import Final

from simulator.api import Change, Manifest
from simulator.apiserver.admission import DELETION_FIELDS, SERVER_FIELDS
from simulator.apiserver.resources import PODS
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.plugins.inter_pod_affinity.terms import namespace_labels
from simulator.plugins.pod_topology_spread import PodTopologySpread
from simulator.what_if.answer import AttemptOutcome
from simulator.what_if.situation import Situation

NO_GAIN: Final = AttemptOutcome("unschedulable", message="the pods that are created again take the room")


def is_sibling(situation: Situation, other: Pod) -> bool:
    """Whether another pod is a replica of the same workload as the pending one: both have the same
    controller, or a spread constraint or an anti-affinity term of the pending pod selects both. A dump may
    not contain the controllers."""
    pod, framework = situation.pod, situation.framework
    if pod.namespace != other.namespace:
        return False
    own, its = controller_of(pod.manifest), controller_of(other.manifest)
    if own is not None and its is not None and (own["kind"], own["name"]) == (its["kind"], its["name"]):
        return True
    labels = namespace_labels(situation.cluster, pod.namespace)
    if any(term.matches(pod, labels) and term.matches(other, labels) for term in pod.affinity.required_anti):
        return True
    plugin = framework.plugins.get("PodTopologySpread") if framework else None
    return isinstance(plugin, PodTopologySpread) and any(
        each.matches(pod.labels) and each.matches(other.labels)
        for each in plugin.constraints(pod, situation.cluster, "DoNotSchedule")
    )


def is_created_again(situation: Situation, other: Pod) -> bool:
    return controller_of(other.manifest) is not None or is_sibling(situation, other)


def outcome_with_replacements(
    situation: Situation, outcome: AttemptOutcome, deleted: list[Pod], *, evicts: list[Pod]
) -> AttemptOutcome:
    """Return the outcome of the pending pod if the deleted pods are created again, and are scheduled first;
    NO_GAIN if a replica of its own workload then has no node. ``outcome`` is the one without them.

    The situation is that with the change, without the deleted pods. ``evicts`` are the pods that the pending
    pod evicts. Those of other workloads may stay pending, as the pending pod is more important."""
    returning = [pod for pod in deleted if is_created_again(situation, pod)]
    siblings = [pod for pod in evicts if is_sibling(situation, pod)]
    if any(_takes_the_same(pod) for pod in returning):
        return NO_GAIN
    with ExitStack() as stack:
        for pod in returning:
            placed = _place(situation, stack, pod)
            if not placed and is_sibling(situation, pod):
                return NO_GAIN
        if returning:
            if not situation.passing().any():
                return NO_GAIN
            outcome = situation.outcome()
        if siblings:
            stack.enter_context(situation.with_changes(Change(PODS.id, pod.key, None) for pod in evicts))
            _bind(situation, stack, situation.pod, outcome.node, "-bound")
            if not all(_place(situation, stack, pod) for pod in siblings):
                return NO_GAIN
    return outcome


def _takes_the_same(pod: Pod) -> bool:
    """Whether the replacement has the node or the devices of the pod: the kubelet creates static pods again
    where they were, and a claim is allocated anew."""
    owner = controller_of(pod.manifest)
    return (owner is not None and owner["kind"] == "Node") or bool(pod.spec.get("resourceClaims"))


def _place(situation: Situation, stack: ExitStack, pod: Pod) -> bool:
    """Schedule the replacement of a pod. It is on its node until the end of ``stack``. A replica of the
    pending pod's workload is created from the same template as the pending pod."""
    model = situation.pod if is_sibling(situation, pod) else pod
    replacement = Pod.parse(_copy(model, f"{pod.name}-again", ""))
    with situation.with_pod(replacement):
        if not situation.passing().any():
            return False
        found = situation.outcome()
    if found.kind != "bound":
        return False
    _bind(situation, stack, replacement, found.node, "")
    return True


def _bind(situation: Situation, stack: ExitStack, pod: Pod, node: str, ending: str) -> None:
    bound = _copy(pod, f"{pod.name}{ending}", node)
    key = f"{pod.namespace}/{bound['metadata']['name']}"
    stack.enter_context(situation.with_changes([Change(PODS.id, key, bound)]))


def _copy(pod: Pod, name: str, node: str) -> Manifest:
    dropped = (*SERVER_FIELDS, *DELETION_FIELDS)
    metadata = {field: value for field, value in pod.manifest["metadata"].items() if field not in dropped}
    spec = {field: value for field, value in pod.spec.items() if field != "nodeName"}
    anew = {field: value for field, value in pod.manifest.items() if field != "status"}
    return {
        **anew,
        "metadata": {**metadata, "name": name},
        "spec": {**spec, "nodeName": node} if node else spec,
    }

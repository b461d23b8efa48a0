"""The hint for a new user: a sentence and a button for the next step.

The steps lead to a preemption: create nodes, create pods that fill them, create a PriorityClass, create a pod
with it, and see why it preempted others."""

from itertools import takewhile
from typing import Final

import msgspec
from django.utils.translation import gettext

from simulator import trace

from . import format as fmt
from .node_names import node_name
from .picture import Picture

FULL: Final = 50
"""The percentage of requested cpu from which a pod can be too large for the free cpu of every node."""
URGENT: Final = "urgent-"
"""The prefix of the name of the proposed pod, by which its preemption is recognized."""


class Hint(msgspec.Struct, frozen=True):
    """``path``: the target of the button, below the path of the sandbox. ``panel``: whether it opens in the
    inspector; otherwise it opens as a form."""

    text: str
    button: str
    path: str
    panel: bool = False


class Hints:
    """The hint for one picture. Each call reads only the trace events since the last call."""

    def __init__(self) -> None:
        self._seq = 0
        """The number of the newest event that was read."""
        self._own: tuple[int, trace.Nominated] | None = None
        """The newest preemption by a proposed pod, and the number of its event."""

    def hint(self, picture: Picture) -> Hint:
        if not picture.nodes:
            return Hint(gettext("There are no nodes yet."), gettext("Add nodes"), "new/node/?copies=3")
        if not picture.pods:
            text = gettext("The nodes are empty. Add pods for the scheduler to place.")
            return Hint(text, gettext("Add pods"), "new/pod/?copies=6&cpu=1")
        if found := self._own_preemption(picture):
            text = gettext("%(pod)s has evicted others on %(node)s: your preemption.")
            values = {"pod": fmt.pod_name(found.pod), "node": node_name(found.node)}
            return Hint(
                text % values, gettext("See why, step by step"), f"cycles/{found.cycle}/?play=1", panel=True
            )
        if not any(value > 0 for value in picture.user_classes().values()):
            text = gettext("All pods have the same priority. Create a PriorityClass with a higher one.")
            return Hint(text, gettext("Add a PriorityClass"), "new/priorityclass/")
        if picture.load.requests["cpu"] * 100 < FULL * picture.room["cpu"]:
            text = gettext("Every pod still fits. Add pods until the nodes are full.")
            return Hint(text, gettext("Add pods"), "new/pod/?copies=6&cpu=1")
        text = gettext(
            "Add a pod of high priority that fits on no node: the scheduler evicts other pods for it."
        )
        return Hint(text, gettext("Add a pod of high priority"), "urgent/")

    def _own_preemption(self, picture: Picture) -> trace.Nominated | None:
        new = takewhile(lambda each: each[0] > self._seq, reversed(picture.trace))
        own = ((seq, event) for seq, event in new if isinstance(event, trace.Nominated))
        self._own = next((each for each in own if fmt.pod_name(each[1].pod).startswith(URGENT)), self._own)
        self._seq = picture.seq
        kept = self._own is not None and bool(picture.trace) and self._own[0] >= picture.trace[0][0]
        return self._own[1] if self._own and kept else None


def hint(picture: Picture) -> Hint:
    return Hints().hint(picture)


def urgent_pod_fields(picture: Picture) -> dict[str, str]:
    """The fields of a pod that fits on a node only after preemption. It requests more cpu than is free on any
    node, and less than would be free without the pods of lower priority; without such a node, the fields are
    its name and class only."""
    classes = picture.user_classes()
    if not classes:
        return {"name": URGENT}
    name = max(classes, key=lambda each: classes[each])
    fields = {"name": URGENT, "priority_class": name}
    rooms = [free_cpu(picture, node, classes[name]) for node in picture.nodes]
    free, reach = (max((each[at] for each in rooms), default=0) for at in (0, 1))
    if reach > free:
        fields["cpu"] = f"{free + (reach - free + 1) // 2}m"
    return fields


def free_cpu(picture: Picture, name: str, priority: int) -> tuple[int, int]:
    """The free millicores of a node, now and without its pods of lower priority; (0, 0) for a node that the
    pod cannot use."""
    node = picture.nodes[name]
    if node.unschedulable or node.taints or node.conditions:
        return 0, 0
    pods = picture.by_node.get(name, {}).values()
    cpu = node.allocatable.get("cpu", 0)
    free = cpu - sum(pod.requests.get("cpu", 0) for pod in pods)
    lower = sum(pod.requests.get("cpu", 0) for pod in pods if pod.priority < priority)
    return max(free, 0), free + lower

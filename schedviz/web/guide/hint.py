"""The hint for a new user: a sentence and a button for the next step. It is the same for all viewers.

The steps lead to a preemption: create nodes, create pods that fill them, create a PriorityClass, create a pod
with it. From then on :mod:`guide_box` leads the viewer who created that pod, and no other. While the
sandbox's scheduler stands down, they lead to an outside scheduler, and to its comparison with the model."""

from typing import Final, Literal

import msgspec
from django.utils.translation import gettext

from schedviz.web.picture.picture import Picture
from schedviz.web.text.links import recorded_comparison

FULL: Final = 50
"""The percentage of requested cpu from which a pod can be too large for the free cpu of every node."""
URGENT: Final = "urgent-"
"""The prefix of the name of the proposed pod."""


class NextHint(msgspec.Struct, frozen=True):
    """A hint with a button. ``path``: the target of the button: a form or a panel, below the path of the
    sandbox, or a page."""

    text: str
    button: str
    path: str
    opens: Literal["dialog", "panel", "page"] = "dialog"


def hint(picture: Picture, sandbox: str = "") -> NextHint:
    """Return the hint for the state of the sandbox. sandbox: its name."""
    if picture.mirrors:
        text = gettext("Would the model of the scheduler have placed the same pods on the same nodes?")
        return NextHint(text, gettext("Compare with the model"), recorded_comparison(sandbox), "page")
    if not picture.nodes:
        return NextHint(gettext("There are no nodes."), gettext("Add nodes"), "new/node/?copies=3")
    if picture.stands_down:
        return hint_to_outside(picture, sandbox)
    if not picture.pods:
        text = gettext("The nodes are empty. Add pods for the scheduler to place.")
        return NextHint(text, gettext("Add pods"), "new/pod/?copies=6&cpu=1")
    if not any(value > 0 for value in picture.preempting_classes().values()):
        text = gettext("No PriorityClass of yours has a value above 0. Create one for more important pods.")
        if any(value > 0 for value in picture.user_classes().values()):
            text = gettext("Pods of your PriorityClasses do not preempt. Create a class whose pods may.")
        return NextHint(text, gettext("Add a PriorityClass"), "new/priorityclass/")
    if picture.load.requests["cpu"] * 100 < FULL * picture.room["cpu"]:
        text = gettext("Less than half of the CPU is requested. Add pods until the nodes are full.")
        return NextHint(text, gettext("Add pods"), "new/pod/?copies=6&cpu=1")
    text = gettext(
        "Add a pod of high priority. If it fits on no node, the scheduler evicts pods with lower priority "
        "where this makes it fit."
    )
    return NextHint(text, gettext("Add a pod of high priority"), "propose/")


def hint_to_outside(picture: Picture, sandbox: str) -> NextHint:
    """Return the next step while the sandbox's scheduler stands down."""
    if not picture.pods:
        text = gettext("The nodes are empty. Add pods for an outside scheduler to bind.")
        return NextHint(text, gettext("Add pods"), "new/pod/?copies=6&cpu=1")
    if not picture.outside:
        text = gettext("This sandbox's scheduler stands down: the pods wait for an outside scheduler.")
        return NextHint(text, gettext("Connect a scheduler"), "outside/", "panel")
    text = gettext("Would this sandbox's scheduler have placed the same pods on the same nodes?")
    return NextHint(text, gettext("Compare with the model"), recorded_comparison(sandbox), "page")


def urgent_pod_fields(picture: Picture) -> dict[str, str]:
    """Return the fields of a pod that fits on a node only after preemption. It requests more cpu than is free
    on any node, and less than would be free without the pods of lower priority; without such a node, the
    fields are its name and class only."""
    classes = picture.preempting_classes() or picture.user_classes()
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
    """Return the free millicores of a node, now and without its pods of lower priority; (0, 0) for a node
    that the pod cannot use."""
    node = picture.nodes[name]
    if node.unschedulable or node.taints or node.conditions:
        return 0, 0
    pods = picture.by_node.get(name, {}).values()
    cpu = node.allocatable.get("cpu", 0)
    free = cpu - sum(pod.requests.get("cpu", 0) for pod in pods)
    lower = sum(pod.requests.get("cpu", 0) for pod in pods if pod.priority < priority)
    return max(free, 0), free + lower

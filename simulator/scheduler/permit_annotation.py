"""A user's decision on a pod that waits on Permit, in place of its plugins.

It is an annotation of the pod, so that the watch log has it and a replay repeats it. ``schedviz/permit:
"approve 2"`` is for the wait of the pod's second attempt, and for no other."""

from typing import Final

from simulator.framework.waiting_pods import WaitingPod
from simulator.objects.pod import Pod

ANNOTATION: Final = "schedviz/permit"
APPROVE: Final = "approve"
REJECT: Final = "reject"
REJECTED: Final = "rejected by hand"


def annotation_value(verb: str, attempt: int) -> str:
    return f"{verb} {attempt}"


def apply_annotation(old: Pod | None, new: Pod, waiting: WaitingPod) -> None:
    """Approve or reject the waiting pod if its annotation is new."""
    value = _value(new)
    if old is None or value == _value(old):
        return
    plugins = waiting.pending_plugins
    if value == annotation_value(APPROVE, waiting.attempt):
        for plugin in plugins:
            waiting.allow(plugin)
    elif value == annotation_value(REJECT, waiting.attempt):
        waiting.reject(plugins[0], REJECTED)


def _value(pod: Pod) -> str:
    return str((pod.manifest["metadata"].get("annotations") or {}).get(ANNOTATION, ""))

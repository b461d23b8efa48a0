"""A person's word on a pod that waits on Permit, in place of its plugins'.

It comes as an annotation of the pod, so that it is in the watch log like everything else that comes from
outside, and a replay hears it again: ``schedviz/permit: "approve 2"`` is for the wait of the pod's second
attempt, and says nothing of any other.
"""

from typing import Final

from simulator.framework.waiting_pods import WaitingPod
from simulator.objects.pod import Pod

ANNOTATION: Final = "schedviz/permit"
APPROVE: Final = "approve"
REJECT: Final = "reject"
REJECTED: Final = "rejected by hand"


def written(word: str, attempt: int) -> str:
    """The annotation's value."""
    return f"{word} {attempt}"


def hear(old: Pod | None, new: Pod, waiting: WaitingPod) -> None:
    """Act on the annotation where it is new."""
    said = value(new)
    if old is None or said == value(old):
        return
    plugins = waiting.pending_plugins
    if said == written(APPROVE, waiting.attempt):
        for plugin in plugins:
            waiting.allow(plugin)
    elif said == written(REJECT, waiting.attempt):
        waiting.reject(plugins[0], REJECTED)


def value(pod: Pod) -> str:
    return str((pod.manifest["metadata"].get("annotations") or {}).get(ANNOTATION, ""))

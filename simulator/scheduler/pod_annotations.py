"""Annotations of pods by which a user acts on their cycles: a fault at an extension point, and a decision on
a pod that waits on Permit. They are in the watch log, so that a replay repeats them."""

from typing import Final

from simulator.framework.status import Status, error
from simulator.framework.waiting_pods import WaitingPod
from simulator.objects.pod import FAIL_AT, Pod


class FaultInjection:
    """Injects each fault once. A changed annotation, or one that was removed and set again, means another
    fault. A new leader cannot see which faults were injected before."""

    def __init__(self) -> None:
        self._injected: dict[str, str] = {}
        """The extension point by the pod's uid."""

    def is_planned(self, pod: Pod, point: str) -> bool:
        """Whether the pod is still to fail at this point, whether or not a plugin runs there."""
        return requested_point(pod) == point != self._injected.get(pod.uid)

    def inject(self, pod: Pod, point: str) -> Status | None:
        """Return the Error with which the pod fails at this point; None if it does not."""
        if not self.is_planned(pod, point):
            return None
        self._injected[pod.uid] = point
        return error(f'running {point} plugin "{FAIL_AT}": fault made on purpose')

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        changed = new is None or (
            old is not None and (new.uid != old.uid or requested_point(new) != requested_point(old))
        )
        if old is not None and changed:
            self._injected.pop(old.uid, None)


def requested_point(pod: Pod) -> str:
    """Return the value of the annotation; "" if there is none."""
    return str((pod.manifest["metadata"].get("annotations") or {}).get(FAIL_AT, ""))


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

"""Faults made on purpose: the annotation ``schedviz/fail-at: Bind`` lets the pod's next cycle fail at that
extension point, with an error as of a plugin there."""

from simulator.apiserver.pod_validation import FAIL_AT
from simulator.framework.interface import Status, error
from simulator.objects.pod import Pod


class Faults:
    """Which faults have struck: each does once. Another value of the annotation, or taking it away and
    setting it again, asks for another. A new leader has heard of none."""

    def __init__(self) -> None:
        self._struck: dict[str, str] = {}
        """The point by the pod's uid."""

    def aims(self, pod: Pod, point: str) -> bool:
        """Whether a fault is still to strike the pod at this point, be there a plugin or not."""
        return aimed_at(pod) == point != self._struck.get(pod.uid)

    def strike(self, pod: Pod, point: str) -> Status | None:
        if not self.aims(pod, point):
            return None
        self._struck[pod.uid] = point
        return error(f'running {point} plugin "{FAIL_AT}": fault made on purpose')

    def pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        if old is not None and (new is None or new.uid != old.uid or aimed_at(new) != aimed_at(old)):
            self._struck.pop(old.uid, None)


def aimed_at(pod: Pod) -> str:
    return str((pod.manifest["metadata"].get("annotations") or {}).get(FAIL_AT, ""))

"""Faults that a user injects: with the annotation ``schedviz/fail-at: Bind`` the pod's next cycle fails at
that extension point, as if a plugin had returned an Error there."""

from simulator.framework.status import Status, error
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

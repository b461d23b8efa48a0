"""Changes to a pod's status, as the components patch it."""

from simulator.api import Manifest, Micros
from simulator.apiserver.timestamps import timestamp


def with_status(pod: Manifest, **fields: object) -> Manifest:
    """The pod with these fields of its status set, or removed where None."""
    status = {**(pod.get("status") or {}), **fields}
    return {**pod, "status": {name: value for name, value in status.items() if value is not None}}


def condition(pod: Manifest, kind: str) -> Manifest | None:
    conditions = (pod.get("status") or {}).get("conditions") or ()
    return next((c for c in conditions if c["type"] == kind), None)


def with_condition(
    pod: Manifest, now: Micros, kind: str, status: str, *, reason: str = "", message: str = ""
) -> Manifest:
    """UpdatePodCondition (pkg/api/v1/pod/util.go, v1.34): the pod itself where the condition says so already.

    The time of the last transition stays where only the words change.
    """
    old = condition(pod, kind)
    new = {"type": kind, "status": status, "lastTransitionTime": timestamp(now)}
    new |= {name: text for name, text in (("reason", reason), ("message", message)) if text}
    if old is not None and old["status"] == status:
        new["lastTransitionTime"] = old.get("lastTransitionTime", new["lastTransitionTime"])
        if {**old, "lastTransitionTime": ""} == {**new, "lastTransitionTime": ""}:
            return pod
    conditions = [c for c in (pod.get("status") or {}).get("conditions") or () if c["type"] != kind]
    return with_status(pod, conditions=[*conditions, new])

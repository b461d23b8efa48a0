"""The containers of a pod as their kubelet reports them. All containers of a pod share one fate here."""

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.timestamps import micros, timestamp

FIRST_BACK_OFF: Micros = 10 * SECOND
LONGEST_BACK_OFF: Micros = 300 * SECOND
"""Between two restarts of a container that keeps failing (MaxContainerBackOff, pkg/kubelet/kubelet.go)."""
FORGOTTEN_AFTER: Micros = 2 * LONGEST_BACK_OFF
"""One that ran so long has its failures forgiven (client-go/util/flowcontrol/backoff.go)."""


def statuses(pod: Manifest) -> list[Manifest]:
    found: list[Manifest] = (pod.get("status") or {}).get("containerStatuses") or []
    return found


def restarts(pod: Manifest) -> int:
    return max((status.get("restartCount", 0) for status in statuses(pod)), default=0)


def running_since(pod: Manifest) -> Micros | None:
    """None where no container runs."""
    for status in statuses(pod):
        running = (status.get("state") or {}).get("running") or {}
        if running.get("startedAt"):
            return micros(running["startedAt"])
    return None


def restart_at(pod: Manifest) -> Micros | None:
    """When containers that failed are started again; None where they are not waiting for it.

    The first time at once, then after 10 s, doubling up to 5 minutes."""
    for status in statuses(pod):
        # A pod from elsewhere may wait for something else: an image, say.
        ended = (status.get("lastState") or {}).get("terminated") or {}
        if "waiting" in (status.get("state") or {}) and ended.get("finishedAt"):
            finished, count = micros(ended["finishedAt"]), int(status.get("restartCount", 0))
            ran = finished - micros(ended.get("startedAt") or ended["finishedAt"])
            if count == 0 or ran > FORGOTTEN_AFTER:
                return finished
            return finished + min(FIRST_BACK_OFF << min(count - 1, 10), LONGEST_BACK_OFF)
    return None


def started(pod: Manifest, now: Micros, *, ready: bool) -> list[Manifest]:
    """All containers run, for the first time or again."""
    known = {status["name"]: status for status in statuses(pod)}
    made = []
    for container in pod["spec"]["containers"]:
        old = known.get(container["name"])
        status = _status(container, {"running": {"startedAt": timestamp(now)}}, ready=ready)
        if old is not None:
            status["restartCount"] = old.get("restartCount", 0) + 1
            status["lastState"] = old.get("lastState", {})
        made.append(status)
    return made


def with_readiness(pod: Manifest, *, ready: bool) -> list[Manifest]:
    return [{**status, "ready": ready} for status in statuses(pod)]


def waiting(pod: Manifest, now: Micros, since: Micros) -> list[Manifest]:
    """All containers failed, and wait to be started again."""
    made = []
    for status, ended in zip(statuses(pod), ended_containers(pod, now, since, exit_code=1), strict=True):
        reason = {"waiting": {"reason": "CrashLoopBackOff"}}
        made.append(
            {**status, "ready": False, "started": False, "state": reason, "lastState": ended["state"]}
        )
    return made


def ended_containers(pod: Manifest, now: Micros, since: Micros, *, exit_code: int) -> list[Manifest]:
    """All containers are over, having run ``since`` then."""
    counts = {status["name"]: status.get("restartCount", 0) for status in statuses(pod)}
    terminated = {
        "exitCode": exit_code,
        "reason": "Error" if exit_code else "Completed",
        "startedAt": timestamp(since),
        "finishedAt": timestamp(now),
    }
    return [
        {
            **_status(container, {"terminated": terminated}, ready=False),
            "restartCount": counts.get(container["name"], 0),
        }
        for container in pod["spec"]["containers"]
    ]


def _status(container: Manifest, state: Manifest, *, ready: bool) -> Manifest:
    image = container.get("image") or ""
    return {
        "name": container["name"],
        "image": image,
        "imageID": image,
        "ready": ready,
        "started": "running" in state,
        "restartCount": 0,
        "state": state,
    }

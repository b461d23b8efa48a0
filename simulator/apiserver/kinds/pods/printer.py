"""The rows of pods (printPod)."""

from typing import Any

from simulator.api import Manifest, Micros
from simulator.apiserver.printers.column import AGE, NAME, NONE, Column, Printer, age_of, since
from simulator.objects.conditions import condition
from simulator.objects.metadata import is_terminating
from simulator.objects.status import phase_of, status_of

COLUMNS = (
    NAME,
    Column("Ready", "The aggregate readiness state of this pod for accepting traffic."),
    Column("Status", "The aggregate status of the containers in this pod."),
    Column(
        "Restarts",
        "The number of times the containers in this pod have been restarted and when the last container in "
        "this pod has restarted.",
    ),
    AGE,
    Column("IP", "PodStatus.podIP", wide=1),
    Column("Node", "PodSpec.nodeName", wide=1),
    Column("Nominated Node", "PodStatus.nominatedNodeName", wide=1),
    Column("Readiness Gates", "PodSpec.readinessGates", wide=1),
)
ENDED = {
    "Succeeded": ("Succeeded", "The pod has completed successfully."),
    "Failed": ("Failed", "The pod failed."),
}
"""Phase -> reason and message of the condition Completed of a row."""


def pod_cells(pod: Manifest, now: Micros) -> list[Any]:
    spec, status = pod["spec"], status_of(pod)
    summary = _ContainerSummary(pod)
    ips = [each["ip"] for each in status.get("podIPs") or () if each.get("ip")] or [status.get("podIP")]
    return [
        pod["metadata"]["name"],
        f"{summary.ready}/{len(spec['containers']) + summary.sidecars}",
        summary.reason,
        summary.restarts_text(now),
        age_of(pod, now),
        ips[0] or NONE,
        spec.get("nodeName") or NONE,
        status.get("nominatedNodeName") or NONE,
        _readiness_gates(pod),
    ]


def row_conditions(pod: Manifest) -> list[Manifest]:
    """Return the conditions of the row of a pod that has ended."""
    ended = ENDED.get(phase_of(pod))
    if ended is None:
        return []
    reason, message = ended
    return [{"type": "Completed", "status": "True", "reason": reason, "message": message}]


POD_PRINTER = Printer(COLUMNS, pod_cells, row_conditions)


class _ContainerSummary:
    """The state of a pod's containers in a word: ``Running``, ``CrashLoopBackOff``, ``Init:0/2``."""

    def __init__(self, pod: Manifest) -> None:
        status = status_of(pod)
        self.ready = 0
        self.restarts, self.restarts_of_sidecars = _Restarts(), _Restarts()
        self.reason = status.get("reason") or status.get("phase") or ""
        if (condition(pod, "PodScheduled") or {}).get("reason") == "SchedulingGated":
            self.reason = "SchedulingGated"
        restartable = {
            container["name"]
            for container in pod["spec"].get("initContainers") or ()
            if container.get("restartPolicy") == "Always"
        }
        self.sidecars = len(restartable)
        initialized = (condition(pod, "Initialized") or {}).get("status") == "True"
        if not self._read_init_containers(pod, restartable) or initialized:
            self.restarts = self.restarts_of_sidecars
            self._read_containers(pod)
        if is_terminating(pod):
            if status.get("reason") == "NodeLost":
                self.reason = "Unknown"
            elif status.get("phase") not in ENDED:
                self.reason = "Terminating"

    def restarts_text(self, now: Micros) -> str:
        if self.restarts.count and self.restarts.last:
            return f"{self.restarts.count} ({since(self.restarts.last, now)} ago)"
        return str(self.restarts.count)

    def _read_init_containers(self, pod: Manifest, restartable: set[str]) -> bool:
        """Whether the pod is initializing."""
        statuses = status_of(pod).get("initContainerStatuses") or ()
        for index, each in enumerate(statuses):
            self.restarts.add(each)
            if each["name"] in restartable:
                self.restarts_of_sidecars.add(each)
            state = each.get("state") or {}
            ended, waiting = state.get("terminated"), state.get("waiting")
            if ended is not None and not ended.get("exitCode"):
                continue
            if each["name"] in restartable and each.get("started"):
                self.ready += bool(each.get("ready"))
                continue
            if ended is not None:
                self.reason = f"Init:{ended.get('reason') or _end_of(ended)}"
            elif waiting is not None and waiting.get("reason") not in (None, "", "PodInitializing"):
                self.reason = f"Init:{waiting['reason']}"
            else:
                self.reason = f"Init:{index}/{len(pod['spec'].get('initContainers') or ())}"
            return True
        return False

    def _read_containers(self, pod: Manifest) -> None:
        running = False
        for each in reversed(status_of(pod).get("containerStatuses") or ()):
            self.restarts.add(each)
            state = each.get("state") or {}
            ended, waiting = state.get("terminated"), state.get("waiting") or {}
            if waiting.get("reason"):
                self.reason = waiting["reason"]
            elif ended is not None:
                self.reason = ended.get("reason") or _end_of(ended)
            elif each.get("ready") and state.get("running") is not None:
                running = True
                self.ready += 1
        if self.reason == "Completed" and running:
            ready = (condition(pod, "Ready") or {}).get("status") == "True"
            self.reason = "Running" if ready else "NotReady"


class _Restarts:
    """The number of restarts of containers, and the time of the last one."""

    def __init__(self) -> None:
        self.count = 0
        self.last = ""

    def add(self, status: Manifest) -> None:
        self.count += status.get("restartCount") or 0
        ended = (status.get("lastState") or {}).get("terminated") or {}
        self.last = max(self.last, ended.get("finishedAt") or "")


def _end_of(terminated: Manifest) -> str:
    if terminated.get("signal"):
        return f"Signal:{terminated['signal']}"
    return f"ExitCode:{terminated.get('exitCode') or 0}"


def _readiness_gates(pod: Manifest) -> str:
    gates = pod["spec"].get("readinessGates") or ()
    if not gates:
        return NONE
    true = sum((condition(pod, gate["conditionType"]) or {}).get("status") == "True" for gate in gates)
    return f"{true}/{len(gates)}"

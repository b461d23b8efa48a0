"""What the containers of a pod do: how long they run, and how they end. Annotations of the pod say it."""

from simulator.api import SECOND, Manifest, Micros
from simulator.controllers.kubelet.pod_status import KILLED, TERMINATED
from simulator.objects import container_status
from simulator.objects.durations import annotated_seconds
from simulator.objects.metadata import annotations_of
from simulator.objects.numbers import whole_number
from simulator.objects.owner_references import controller_of
from simulator.objects.pod import Pod
from simulator.objects.timestamps import micros

RUN_SECONDS = "schedviz/run-seconds"
"""The annotation after whose time the pod's containers succeed. Without it the pods of Jobs and those that
are hooks of Helm succeed after JOB_RUN_SECONDS, and other pods run until they are deleted."""
JOB_RUN_SECONDS = 10
"""The time after which the containers of a Job's pod succeed: work that ends by itself."""
HELM_HOOK = "helm.sh/hook"
"""The annotation of objects that Helm creates before or after a step, or for a test. It waits until a pod has
ended (WatchUntilReady in helm/pkg/kube/client.go)."""
FAIL_SECONDS = "schedviz/fail-after-seconds"
"""The annotation after whose time the pod's containers fail, each time that they run."""
EXIT_CODE = "schedviz/exit-code"
"""The annotation that sets the exit code of containers that fail and are not restarted, 1 without it, and of
those that stop within the grace period when their pod is deleted."""
READY_SECONDS = "schedviz/ready-after-seconds"
"""The annotation after whose time a started pod becomes ready; without it it is ready at once."""
STOP_SECONDS = "schedviz/stop-seconds"
"""The annotation that sets how long the containers of a deleted pod take to stop; without it they take all of
the grace period."""
TTL_SECONDS = "schedviz/ttl-seconds-after-finished"
"""The annotation after whose time a finished pod is removed, like a Job's ttlSecondsAfterFinished."""


def seconds_in(pod: Manifest, annotation: str) -> int | None:
    return annotated_seconds(annotations_of(pod), annotation)


def exit_code_in(pod: Manifest) -> int | None:
    return whole_number(annotations_of(pod).get(EXIT_CODE, ""))


def run_seconds(pod: Manifest) -> int | None:
    """Return the time after which the pod's containers succeed; None = they do not end by themselves, or
    fail before."""
    seconds = seconds_in(pod, RUN_SECONDS)
    if seconds is None and seconds_in(pod, FAIL_SECONDS) is None and _does_work_that_ends(pod):
        return JOB_RUN_SECONDS
    return seconds


def _does_work_that_ends(pod: Manifest) -> bool:
    """Whether the pod is a Job's or a hook of Helm, and its containers were started here: how long those of
    another cluster run is not known."""
    owner = controller_of(pod) or {}
    return (
        (owner.get("kind") == "Job" or (not owner and HELM_HOOK in annotations_of(pod)))
        and pod["spec"].get("restartPolicy") in ("Never", "OnFailure")
        and container_status.was_started_here(pod)
    )


def exit_code_of_stopped(pod: Manifest) -> int:
    """Return the exit code of the containers of a deleted pod: they end by SIGTERM, or are killed at the end
    of the grace period."""
    stop = seconds_in(pod, STOP_SECONDS)
    if stop is None or stop >= pod["metadata"].get("deletionGracePeriodSeconds", 0):
        return KILLED
    code = exit_code_in(pod)
    return TERMINATED if code is None else code


def stopped_at(pod: Pod) -> Micros | None:
    """Return the time at which the containers of a deleted pod have stopped; None = they have, and the pod
    has finalizers."""
    metadata = pod.manifest["metadata"]
    grace: int = metadata.get("deletionGracePeriodSeconds", 0)
    if pod.finished:
        return None if metadata.get("finalizers") and grace == 0 else 0
    stop = seconds_in(pod.manifest, STOP_SECONDS)
    needed = grace if stop is None or pod.phase != "Running" else min(stop, grace)
    return micros(metadata["deletionTimestamp"]) - (grace - needed) * SECOND

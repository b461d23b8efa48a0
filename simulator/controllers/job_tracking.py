"""The finalizer that keeps a Job's pods until the Job has counted them, and the delay after a failed pod
before it creates the next one (pkg/controller/job: tracking_utils.go, backoff_utils.go)."""

from collections.abc import Sequence
from typing import NamedTuple

from simulator.api import SECOND, Manifest, Micros
from simulator.objects.conditions import condition
from simulator.objects.metadata import created_at, finalizers_of, is_terminating, without_finalizer
from simulator.objects.timestamps import micros

TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"


def has_tracking_finalizer(pod: Manifest) -> bool:
    """Return whether the pod has the finalizer (hasJobTrackingFinalizer)."""
    return TRACKING_FINALIZER in finalizers_of(pod)


def without_tracking_finalizer(pod: Manifest) -> Manifest:
    """Return a copy of the pod without the finalizer. A deletion of this copy is not counted as a failure."""
    return without_finalizer(pod, TRACKING_FINALIZER)


FIRST_DELAY: Micros = 10 * SECOND
LONGEST_DELAY: Micros = 600 * SECOND
"""The delay doubles with each failure (DefaultJobPodFailureBackOff, MaxJobPodFailureBackOff)."""


class PodBackoff(NamedTuple):
    """The failures of a Job's pods since the last success (backoffRecord)."""

    failures: int = 0
    last_failure: Micros = 0

    def after(self, succeeded: Sequence[Manifest], failed: Sequence[Manifest]) -> "PodBackoff":
        """Return the failures after these pods have finished, too (newBackoffRecord)."""
        times = [finish_time(pod) for pod in failed]
        if not succeeded:
            return PodBackoff(self.failures + len(times), max(times, default=self.last_failure))
        last_success = max(map(finish_time, succeeded))
        later = [time for time in times if time > last_success]
        return PodBackoff(len(later), max(later, default=0))

    def next_creation(self) -> Micros:
        """Return the time at which the next pod may be created; 0 = at once (getRemainingTime)."""
        if not self.failures:
            return 0
        return self.last_failure + min(FIRST_DELAY << min(self.failures - 1, 10), LONGEST_DELAY)


def finish_time(pod: Manifest) -> Micros:
    """Return the time at which the pod finished or its deletion was requested (getFinishedTime)."""
    ready, metadata = condition(pod, "Ready") or {}, pod["metadata"]
    if ready.get("status") == "False" and ready.get("lastTransitionTime"):
        return micros(ready["lastTransitionTime"])
    if is_terminating(pod):
        grace: int = metadata.get("deletionGracePeriodSeconds", 0)
        return micros(metadata["deletionTimestamp"]) - grace * SECOND
    return created_at(pod)

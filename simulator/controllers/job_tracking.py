"""The finalizer that keeps a Job's pods until the Job has counted them (pkg/controller/job/tracking_utils.go,
v1.34)."""

from simulator.api import Manifest
from simulator.objects.metadata import finalizers_of, without_finalizer

TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"


def has_tracking_finalizer(pod: Manifest) -> bool:
    """Return whether the pod has the finalizer (hasJobTrackingFinalizer)."""
    return TRACKING_FINALIZER in finalizers_of(pod)


def without_tracking_finalizer(pod: Manifest) -> Manifest:
    """Return a copy of the pod without the finalizer. A deletion of this copy is not counted as a failure."""
    return without_finalizer(pod, TRACKING_FINALIZER)

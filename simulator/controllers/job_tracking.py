"""The finalizer that keeps a Job's pods until the Job has counted them (pkg/controller/job/tracking_utils.go,
v1.34)."""

from simulator.api import Manifest
from simulator.apiserver.deletion import without_finalizer
from simulator.objects.metadata import finalizers_of, with_metadata

TRACKING_FINALIZER = "batch.kubernetes.io/job-tracking"


def has_tracking_finalizer(pod: Manifest) -> bool:
    """Return whether the pod has the finalizer (hasJobTrackingFinalizer)."""
    return TRACKING_FINALIZER in finalizers_of(pod)


def release_pod(pod: Manifest) -> Manifest | None:
    """Return the pod without the finalizer; None if it is terminating and has no other one: it is removed
    then."""
    return without_finalizer(pod, TRACKING_FINALIZER)


def without_tracking_finalizer(pod: Manifest) -> Manifest:
    """Return a copy of the pod without the finalizer. A deletion of this copy is not counted as a failure."""
    kept = [finalizer for finalizer in finalizers_of(pod) if finalizer != TRACKING_FINALIZER]
    return with_metadata(pod, finalizers=kept)

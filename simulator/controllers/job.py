"""The Job controller: runs pods until enough have succeeded (pkg/controller/job/job_controller.go).

A Job counts its finished pods in its status and removes their finalizers in one write, so that each pod is
counted once."""

from collections.abc import Sequence
from functools import partial
from itertools import islice

import msgspec

from simulator.api import SECOND, Manifest
from simulator.client.world import CreateFailed
from simulator.controllers.controller import ControllerContext
from simulator.controllers.job_outcome import (
    SUCCESS_CRITERIA_MET,
    as_ranges,
    completed_indexes,
    completion_index,
    deadline_of,
    decide_outcome,
    finished_condition,
    matching_failure_rule,
    new_condition,
    outcome_condition,
    set_index,
)
from simulator.controllers.job_pod_groups import group_of_pods, is_gang, missing_object
from simulator.controllers.job_tracking import (
    TRACKING_FINALIZER,
    PodBackoff,
    has_tracking_finalizer,
    without_tracking_finalizer,
)
from simulator.controllers.pod_tally import PodState, PodTally
from simulator.controllers.pods import pod_from_template, pods_to_delete
from simulator.controllers.status_types import JobStatus, with_status_fields
from simulator.controllers.work_queue import ObjectKey
from simulator.controllers.workload_controller import WorkloadController
from simulator.kernel.parts import in_parts, size_of
from simulator.objects.conditions import JobCondition, conditions_of, holds_since
from simulator.objects.metadata import is_terminating, key_of, name_of, namespace_of, object_key, uid_of
from simulator.objects.owner_references import controller_of
from simulator.objects.pod_group import POD_GROUPS, WORKLOADS
from simulator.objects.status import status_of
from simulator.objects.timestamps import timestamp
from simulator.trace import JobFinished
from simulator.versions.feature_gates import WORKLOAD_WITH_JOB

JOBS = "jobs.batch"
MAX_CREATED = 500
"""The most pods created by one sync (MaxPodCreateDeletePerSync)."""


class JobController(WorkloadController):
    component = "Job"
    resource = JOBS
    dependents = ("pods", POD_GROUPS, WORKLOADS)
    watches = (JOBS, *dependents)

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._backoffs: dict[str, tuple[str, PodBackoff]] = {}
        """Job -> its uid and the failures of the pods that were counted. A new leader finds them in the pods
        that still exist."""

    def sync(self, key: str, manifest: Manifest) -> None:
        if is_terminating(manifest):
            return
        pods = self._ownership.pods_of(uid_of(manifest))
        if self._count_finished(key, manifest, pods):
            return
        finished = finished_condition(manifest)
        if finished is not None:
            self._sync_finished(key, manifest, pods, finished)
            return
        outcome = outcome_condition(manifest)
        if outcome is not None:
            self._finish(key, manifest, pods, outcome)
            return
        decided = decide_outcome(manifest, pods, self._world.now)
        if decided is not None:
            self._add_condition(manifest, decided, JobStatus(), [])
            return
        deadline = deadline_of(manifest)
        if deadline is not None:
            self.enqueue(key, deadline)
        has_group = self._world.features.enabled(WORKLOAD_WITH_JOB) and is_gang(manifest)
        missing: Manifest | None = None
        if has_group:
            missing = missing_object(manifest, self._world.informer, has_pods=bool(pods))
        if missing is not None:
            self.create(manifest, [missing])  # which makes another sync
            return
        group = group_of_pods(manifest, self._world.informer) if has_group else ""
        try:
            changed = self._manage(key, manifest, pods, group)
        except CreateFailed:
            self._set_counts(manifest, pods)
            raise
        if not changed:
            self._set_counts(manifest, pods)

    def _set_counts(self, manifest: Manifest, pods: PodTally) -> None:
        start = status_of(manifest).get("startTime", timestamp(self._world.now))
        status = JobStatus(
            active=pods.count(_is_active),
            ready=pods.count(lambda state: state.active and state.ready),
            terminating=pods.count(_is_unfinished_terminating),
            start_time=None if manifest["spec"]["suspend"] else start,
        )
        self.set_status(manifest, status)

    def sync_deleted(self, key: str) -> None:
        """Remove the finalizers of the deleted Job's pods."""
        self._backoffs.pop(key, None)
        tracked = [pod.manifest for pod in self._pods.values() if has_tracking_finalizer(pod.manifest)]
        own = [pod for pod in tracked if self._is_of(pod, key)]
        for pod in self.part_of(ObjectKey(self.resource, key), own):
            self.patch("pods", pod, without_tracking_finalizer)

    def _is_of(self, pod: Manifest, key: str) -> bool:
        """Whether the Job of this key controls the pod."""
        reference = controller_of(pod)
        return (
            reference is not None
            and reference["kind"] == self.component
            and object_key(namespace_of(pod), reference["name"]) == key
        )

    # Counting finished pods

    def _count_finished(self, key: str, manifest: Manifest, pods: PodTally) -> bool:
        """Count the finished pods that have the finalizer (trackJobStatusAndRemoveFinalizers); whether there
        were any."""
        only_failed = replaces_only_failed(manifest)
        succeeded = pods.pods(lambda state: state.tracked and state.phase == "Succeeded")
        failed = pods.pods(lambda state: state.tracked and _is_failed(state, only_failed=only_failed))
        if not succeeded and not failed:
            return False
        # The rest is counted by the next sync.
        part = {*map(key_of, next(in_parts([*succeeded, *failed], size_of)))}
        succeeded = [pod for pod in succeeded if key_of(pod) in part]
        failed = [pod for pod in failed if key_of(pod) in part]
        status = status_of(manifest)
        counted = [pod for pod in failed if matching_failure_rule(manifest, pod).action != "Ignore"]
        new = JobStatus(
            succeeded=status.get("succeeded", 0) + len(succeeded),
            failed=status.get("failed", 0) + len(counted),
            active=pods.count(_is_active),
        )
        if manifest["spec"]["completionMode"] == "Indexed":
            indexes = {completion_index(pod) for pod in succeeded} & {*range(manifest["spec"]["completions"])}
            indexes |= completed_indexes(manifest)
            new = msgspec.structs.replace(new, completed_indexes=as_ranges(indexes), succeeded=len(indexes))
        backoff = self._backoff(key, manifest, pods).after(succeeded, failed)
        update = self._world.server.update_by_component
        changes = update(JOBS, manifest, with_status_fields(manifest, new))
        for pod in (*succeeded, *failed):
            changes += update("pods", pod, without_tracking_finalizer(pod))
        self._world.commit(changes)
        self._backoffs[key] = uid_of(manifest), backoff
        return True

    def _backoff(self, key: str, manifest: Manifest, pods: PodTally) -> PodBackoff:
        uid, backoff = self._backoffs.get(key, ("", None))
        if backoff is not None and uid == uid_of(manifest):
            return backoff
        succeeded = pods.pods(lambda state: state.phase == "Succeeded" and not state.tracked)
        failed = pods.pods(lambda state: state.phase == "Failed" and not state.tracked)
        return PodBackoff().after(succeeded, failed)

    # Creating and deleting pods

    def _manage(self, key: str, manifest: Manifest, pods: PodTally, group: str) -> bool:
        """Create missing pods or delete surplus ones (manageJob); whether there were any, which makes another
        sync. ``group``: the PodGroup of new pods, "" = none."""
        spec = manifest["spec"]
        existing = pods.count(_is_active)
        wanted = 0 if spec["suspend"] else _wanted_active(manifest, existing)
        if existing > wanted:
            active = pods.pods(_is_active)
            # Pods that the Job itself deletes are not counted: upstream removes the finalizer first.
            surplus = map(without_tracking_finalizer, pods_to_delete(active, existing - wanted, active))
            self.delete(manifest, [*surplus], "suspended" if spec["suspend"] else "more than its parallelism")
            return True
        in_use = partial(_keeps_place, only_failed=replaces_only_failed(manifest))
        missing = min(wanted - pods.count(in_use), MAX_CREATED)
        if missing <= 0:
            return False
        due = self._backoff(key, manifest, pods).next_creation()
        if due > self._world.now:
            self.enqueue(key, due)
            return False
        if spec["completionMode"] == "Indexed":
            taken = completed_indexes(manifest) | {*map(completion_index, pods.pods(in_use))}
            free = (index for index in range(spec["completions"]) if index not in taken)
            self.create(manifest, (_new_pod(manifest, group, index) for index in islice(free, missing)))
        else:
            self.create(manifest, (_new_pod(manifest, group) for _ in range(missing)))
        return True

    # The end

    def _finish(self, key: str, manifest: Manifest, pods: PodTally, outcome: Manifest) -> None:
        """Delete the active pods; once all are finished, set the condition Complete or Failed."""
        active = pods.pods(_is_active)
        reason = outcome.get("reason", "")
        if active:
            self.delete(manifest, active, f"the Job is over: {reason}")
            return
        terminating = pods.count(_is_unfinished_terminating)
        if terminating:
            self.set_status(manifest, JobStatus(active=0, ready=0, terminating=terminating))
            return
        complete = outcome["type"] == SUCCESS_CRITERIA_MET
        kind, message = "Complete" if complete else "Failed", outcome.get("message", "")
        finished = new_condition(kind, reason, message, self._world.now)
        status = JobStatus(active=0, ready=0, terminating=0)
        event = JobFinished(t=self._world.now, job=key, succeeded=complete, reason=reason)
        self._add_condition(manifest, finished, status, [event])

    def _add_condition(
        self, manifest: Manifest, new: JobCondition, status: JobStatus, events: Sequence[JobFinished]
    ) -> None:
        conditions = [*conditions_of(manifest), msgspec.to_builtins(new)]
        status = msgspec.structs.replace(status, conditions=conditions)
        if new.type == "Complete":
            status = msgspec.structs.replace(status, completion_time=new.last_transition_time)
        added = with_status_fields(manifest, status)
        self._world.commit(self._world.server.update_by_component(JOBS, manifest, added), events)

    def _sync_finished(self, key: str, manifest: Manifest, pods: PodTally, finished: Manifest) -> None:
        """Delete the Job after its ttlSecondsAfterFinished (pkg/controller/ttlafterfinished)."""
        status = JobStatus(active=0, ready=0, terminating=pods.count(_is_unfinished_terminating))
        self.set_status(manifest, status)
        seconds = manifest["spec"].get("ttlSecondsAfterFinished")
        if seconds is None:
            return
        due = holds_since(finished, manifest) + seconds * SECOND
        if due > self._world.now:
            self.enqueue(key, due)
        else:
            self.delete(manifest, [manifest], "its ttlSecondsAfterFinished is over", "Foreground")


def _wanted_active(job: Manifest, active: int) -> int:
    """Return the number of active pods that a Job which is not suspended and has ``active`` should have."""
    succeeded: int = status_of(job).get("succeeded", 0)
    parallelism: int = job["spec"]["parallelism"]
    if "completions" not in job["spec"]:
        # A work queue: once a pod has succeeded, no more are created.
        return min(parallelism, active) if succeeded else parallelism
    completions: int = job["spec"]["completions"]
    return max(0, min(parallelism, completions - succeeded))


def _new_pod(job: Manifest, group: str, index: int | None = None) -> Manifest:
    pod = pod_from_template(job["spec"]["template"])
    if group:
        pod["spec"]["schedulingGroup"] = {"podGroupName": group}
    pod["metadata"]["generateName"] = name_of(job) + "-"
    pod["metadata"]["finalizers"] = [TRACKING_FINALIZER]
    if index is not None:
        set_index(pod, job, index)
    return pod


def replaces_only_failed(job: Manifest) -> bool:
    """Whether a pod is replaced when it has failed, not already when it is deleted
    (onlyReplaceFailedPods)."""
    spec = job["spec"]
    return bool(spec.get("podFailurePolicy")) or spec.get("podReplacementPolicy") == "Failed"


def _is_failed(state: PodState, *, only_failed: bool) -> bool:
    """Whether the pod counts as failed: a deleted pod does, unless the Job waits for its end
    (isPodFailed)."""
    if state.phase == "Failed" or only_failed:
        return state.phase == "Failed"
    return state.terminating and state.phase != "Succeeded"


def _is_active(state: PodState) -> bool:
    return state.active


def _is_unfinished_terminating(state: PodState) -> bool:
    return state.terminating and not state.finished


def _keeps_place(state: PodState, *, only_failed: bool) -> bool:
    """Whether no other pod is created in its place: it is active, or the Job waits for its end."""
    return state.active or (only_failed and _is_unfinished_terminating(state))

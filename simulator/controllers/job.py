"""Jobs: pods that are to end well, so many of them, so many at a time (pkg/controller/job/job_controller.go,
v1.34).

Pods bear a finalizer until they are counted: the count and its removal are one write."""

from collections.abc import Sequence

from simulator.api import SECOND, Change, Manifest, Micros
from simulator.apiserver.deletion import without_finalizer
from simulator.apiserver.timestamps import micros, timestamp
from simulator.controllers.controller import Controller, is_finished
from simulator.controllers.job_indexes import as_ranges, completed_indexes, give_index, index_of
from simulator.controllers.job_policies import fails_job, failure_rule, success_rule
from simulator.controllers.ownership import controller_of
from simulator.controllers.pods import from_template, is_active, is_ready, to_delete
from simulator.objects.pod_status import condition
from simulator.trace import JobFinished

TRACKING = "batch.kubernetes.io/job-tracking"
FAILURE_TARGET, SUCCESS_CRITERIA_MET = "FailureTarget", "SuccessCriteriaMet"
"""Conditions that say how a Job will end, when its last pods are over."""
FIRST_DELAY: Micros = 10 * SECOND
LONGEST_DELAY: Micros = 600 * SECOND
"""After a failure the next pod waits, twice as long each time (DefaultJobPodFailureBackOff)."""
MOST_AT_ONCE = 500
"""Pods made in one go, as upstream (MaxPodCreateDeletePerSync)."""


class JobController(Controller):
    resource = "jobs.batch"
    kind = "Job"

    def sync(self, key: str, manifest: Manifest) -> None:
        if "deletionTimestamp" in manifest["metadata"]:
            return
        pods = self.owned(manifest)
        if self._count(key, manifest, pods):
            return
        if finished(manifest):
            self._after_the_end(key, manifest, pods)
            return
        active = [pod for pod in pods if is_active(pod)]
        decided = condition(manifest, FAILURE_TARGET) or condition(manifest, SUCCESS_CRITERIA_MET)
        if decided is not None:
            self._end(key, manifest, pods, active, decided)
            return
        verdict = self._verdict(manifest, pods, active)
        if verdict is not None:
            self._write(key, manifest, verdict, [])
            return
        if not self._manage(key, manifest, pods, active):
            start = timestamp(self._world.now)
            suspended = manifest["spec"]["suspend"]
            self.set_status(
                manifest,
                active=len(active),
                ready=sum(map(is_ready, active)),
                terminating=_terminating(pods),
                startTime=None if suspended else _status(manifest).get("startTime", start),
            )
        deadline = manifest["spec"].get("activeDeadlineSeconds")
        begun = _status(manifest).get("startTime")
        if deadline is not None and begun is not None and not manifest["spec"]["suspend"]:
            self.enqueue(key, micros(begun) + deadline * SECOND)

    def gone(self, key: str) -> None:
        """Its pods may go, uncounted."""
        namespace, _, name = key.partition("/")
        for pod in [*self._world.informer.of("pods").values()]:
            reference = controller_of(pod)
            mine = reference is not None and (reference["kind"], reference["name"]) == (self.kind, name)
            if mine and pod["metadata"]["namespace"] == namespace and tracked(pod):
                self.patch("pods", pod, released)

    # Counting

    def _count(self, key: str, manifest: Manifest, pods: Sequence[Manifest]) -> bool:
        """Take the pods that are over into the status; whether there were any."""
        over = [pod for pod in pods if tracked(pod) and is_finished(pod)]
        if not over:
            return False
        status = dict(_status(manifest))
        succeeded = [pod for pod in over if pod["status"]["phase"] == "Succeeded"]
        if manifest["spec"]["completionMode"] == "Indexed":
            indexes = completed_indexes(manifest) | {index_of(pod) for pod in succeeded}
            status["completedIndexes"] = as_ranges(indexes)
            status["succeeded"] = len(indexes)
        else:
            status["succeeded"] = status.get("succeeded", 0) + len(succeeded)
        failed = [pod for pod in over if pod["status"]["phase"] == "Failed"]
        counted_failed = sum(failure_rule(manifest, pod).action != "Ignore" for pod in failed)
        status["failed"] = status.get("failed", 0) + counted_failed
        status["active"] = sum(map(is_active, pods))
        counted = Change(
            self.resource, key, {**manifest, "status": status}, int(manifest["metadata"]["resourceVersion"])
        )
        self._world.commit([counted, *map(_release, over)])
        return True

    # Who is missing, who is too many

    def _manage(self, key: str, manifest: Manifest, pods: Sequence[Manifest], active: list[Manifest]) -> bool:
        """Whether pods were made or deleted; it causes another look."""
        spec = manifest["spec"]
        wanted = 0 if spec["suspend"] else self._wanted(manifest)
        if len(active) > wanted:
            surplus = to_delete(active, len(active) - wanted, active)
            self.delete(manifest, surplus, "suspended" if spec["suspend"] else "more than its parallelism")
            return True
        missing = min(wanted - len(active), MOST_AT_ONCE)
        if missing <= 0:
            return False
        due = next_attempt(pods)
        if due > self._world.now:
            self.enqueue(key, due)
            return False
        made = [self._pod(manifest) for _ in range(missing)]
        if spec["completionMode"] == "Indexed":
            taken = completed_indexes(manifest) | {index_of(pod) for pod in active}
            free = (index for index in range(spec["completions"]) if index not in taken)
            for pod, index in zip(made, free, strict=False):
                give_index(pod, manifest, index)
        self.create(manifest, made)
        return True

    def _wanted(self, manifest: Manifest) -> int:
        spec, succeeded = manifest["spec"], _status(manifest).get("succeeded", 0)
        parallelism: int = spec["parallelism"]
        if "completions" not in spec:
            # A work queue: once one has ended well, no further ones are started.
            active = sum(map(is_active, self.owned(manifest)))
            return min(parallelism, active) if succeeded else parallelism
        left: int = spec["completions"] - succeeded
        return max(0, min(parallelism, left))

    def _pod(self, manifest: Manifest) -> Manifest:
        pod = from_template(manifest["spec"]["template"])
        pod["metadata"]["generateName"] = manifest["metadata"]["name"] + "-"
        pod["metadata"]["finalizers"] = [TRACKING]
        return pod

    # Its end

    def _verdict(
        self, manifest: Manifest, pods: Sequence[Manifest], active: Sequence[Manifest]
    ) -> Manifest | None:
        """The condition that says how it will end; None = it goes on."""
        reason, message = self._failure(manifest, pods)
        if reason:
            return self._condition(FAILURE_TARGET, reason, message)
        message = success_rule(manifest, completed_indexes(manifest))
        if message:
            return self._condition(SUCCESS_CRITERIA_MET, "SuccessPolicy", message)
        if self._is_complete(manifest, active):
            return self._condition(
                SUCCESS_CRITERIA_MET, "CompletionsReached", "Reached expected number of succeeded pods"
            )
        return None

    def _failure(self, manifest: Manifest, pods: Sequence[Manifest]) -> tuple[str, str]:
        """Why the Job fails, in a word and in a sentence; "" = it does not."""
        spec, status = manifest["spec"], _status(manifest)
        message = fails_job(manifest, (pod for pod in pods if pod["status"]["phase"] == "Failed"))
        if message:
            return "PodFailurePolicy", message
        restarts = sum(_restarts(pod) for pod in pods if is_active(pod))
        limit = spec["backoffLimit"]
        by_restarts = spec["template"]["spec"]["restartPolicy"] == "OnFailure" and restarts
        if status.get("failed", 0) > limit or (by_restarts and restarts >= max(limit, 1)):
            return "BackoffLimitExceeded", "Job has reached the specified backoff limit"
        deadline, begun = spec.get("activeDeadlineSeconds"), status.get("startTime")
        if deadline is None or begun is None or spec["suspend"]:
            return "", ""
        if micros(begun) + deadline * SECOND > self._world.now:
            return "", ""
        return "DeadlineExceeded", "Job was active longer than specified deadline"

    def _is_complete(self, manifest: Manifest, active: Sequence[Manifest]) -> bool:
        succeeded = _status(manifest).get("succeeded", 0)
        if "completions" in manifest["spec"]:
            return bool(succeeded >= manifest["spec"]["completions"])
        return bool(succeeded) and not active

    def _condition(self, kind: str, reason: str, message: str) -> Manifest:
        now = timestamp(self._world.now)
        return {
            "type": kind,
            "status": "True",
            "reason": reason,
            "message": message,
            "lastProbeTime": now,
            "lastTransitionTime": now,
        }

    def _end(
        self,
        key: str,
        manifest: Manifest,
        pods: Sequence[Manifest],
        active: list[Manifest],
        decided: Manifest,
    ) -> None:
        """It is over when its last pod is."""
        if active:
            self.delete(manifest, active, f"the Job is over: {decided['reason']}")
            return
        terminating = _terminating(pods)
        if terminating:
            self.set_status(manifest, active=0, ready=0, terminating=terminating)
            return
        complete = decided["type"] == SUCCESS_CRITERIA_MET
        kind, reason = "Complete" if complete else "Failed", decided["reason"]
        ended = self._condition(kind, reason, decided.get("message", ""))
        told = JobFinished(t=self._world.now, job=key, succeeded=complete, reason=reason)
        self._write(key, manifest, ended, [told], active=0, ready=0, terminating=0)

    def _write(
        self, key: str, manifest: Manifest, made: Manifest, told: Sequence[JobFinished], **fields: int
    ) -> None:
        status = {
            **_status(manifest),
            **fields,
            "conditions": [*(_status(manifest).get("conditions") or ()), made],
        }
        if made["type"] == "Complete":
            status["completionTime"] = made["lastTransitionTime"]
        version = int(manifest["metadata"]["resourceVersion"])
        self._world.commit([Change(self.resource, key, {**manifest, "status": status}, version)], told)

    def _after_the_end(self, key: str, manifest: Manifest, pods: Sequence[Manifest]) -> None:
        self.set_status(manifest, active=0, ready=0, terminating=_terminating(pods))
        seconds = manifest["spec"].get("ttlSecondsAfterFinished")
        ended = finished(manifest)
        if seconds is None or ended is None:
            return
        due = micros(ended["lastTransitionTime"]) + seconds * SECOND
        if due > self._world.now:
            self.enqueue(key, due)
        else:
            self.delete(manifest, [manifest], "its ttlSecondsAfterFinished is over", "Foreground")


def finished(job: Manifest) -> Manifest | None:
    """The condition that says how it ended; None = it has not."""
    return next((c for kind in ("Complete", "Failed") if (c := condition(job, kind)) is not None), None)


def _terminating(pods: Sequence[Manifest]) -> int:
    return sum("deletionTimestamp" in pod["metadata"] and not is_finished(pod) for pod in pods)


def tracked(pod: Manifest) -> bool:
    return TRACKING in (pod["metadata"].get("finalizers") or ())


def released(pod: Manifest) -> Manifest | None:
    """Without the finalizer; None = that was the last thing it waited for."""
    return without_finalizer(pod, TRACKING)


def _release(pod: Manifest) -> Change:
    metadata = pod["metadata"]
    key = f"{metadata['namespace']}/{metadata['name']}"
    return Change("pods", key, released(pod), int(metadata["resourceVersion"]))


def next_attempt(pods: Sequence[Manifest]) -> Micros:
    """When a pod may follow those that failed since the last success; 0 = at once."""
    ends = sorted((_ended(pod), pod["status"]["phase"] == "Failed") for pod in pods if is_finished(pod))
    failures = 0
    for _, failed in reversed(ends):
        if not failed:
            break
        failures += 1
    if not failures:
        return 0
    return ends[-1][0] + min(FIRST_DELAY << min(failures - 1, 10), LONGEST_DELAY)


def _ended(pod: Manifest) -> Micros:
    ready = condition(pod, "Ready") or {}
    return micros(ready.get("lastTransitionTime") or pod["metadata"]["creationTimestamp"])


def _restarts(pod: Manifest) -> int:
    return sum(c.get("restartCount", 0) for c in pod["status"].get("containerStatuses") or ())


def _status(job: Manifest) -> Manifest:
    found: Manifest = job.get("status") or {}
    return found

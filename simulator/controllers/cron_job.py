"""The CronJob controller: creates a Job at each time of a schedule
(pkg/controller/cronjob/cronjob_controllerv2.go)."""

import copy
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from simulator.api import SECOND, Manifest, Micros
from simulator.controllers.job import JOBS
from simulator.controllers.job_outcome import finished_condition
from simulator.controllers.status_types import CronJobStatus, ObjectReference
from simulator.controllers.workload_controller import WorkloadController
from simulator.objects import cron
from simulator.objects.metadata import created_at, is_terminating, name_of, namespace_of, object_key, uid_of
from simulator.objects.status import status_of
from simulator.objects.timestamps import micros, timestamp

CRON_JOBS = "cronjobs.batch"
SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"


class CronJobController(WorkloadController):
    component = "CronJob"
    resource = CRON_JOBS
    watches = (JOBS, CRON_JOBS)
    dependents = (JOBS,)

    def sync(self, key: str, manifest: Manifest) -> None:
        if is_terminating(manifest):
            return
        jobs = self.owned(manifest, JOBS)
        active = [job for job in jobs if finished_condition(job) is None]
        if self._delete_old_jobs(manifest, jobs):
            return
        self._sync_status(manifest, jobs, active)
        if manifest["spec"]["suspend"]:
            return
        missed, coming = self._schedule_times(manifest)
        if missed is not None:
            self._create_job(manifest, missed, active)
        if coming is not None:
            self.enqueue(key, coming)

    def _schedule_times(self, manifest: Manifest) -> tuple[Micros | None, Micros | None]:
        """Return the latest time of the schedule that is past and has no Job yet, and the next time
        (mostRecentScheduleTime)."""
        spec, now = manifest["spec"], self._world.now
        schedule, zone = cron.parse_schedule(spec["schedule"]), ZoneInfo(spec.get("timeZone", "UTC"))
        last = status_of(manifest).get("lastScheduleTime")
        earliest = micros(last) if last else created_at(manifest)
        deadline = spec.get("startingDeadlineSeconds")
        if deadline is not None:
            earliest = max(earliest, now - deadline * SECOND)
        latest = schedule.before(now, zone, earliest)
        missed = latest if latest is not None and latest > earliest else None
        return missed, schedule.after(now, zone, earliest)

    def _create_job(self, manifest: Manifest, time: Micros, active: Sequence[Manifest]) -> None:
        policy = manifest["spec"]["concurrencyPolicy"]
        if active and policy == "Forbid":
            return
        if active and policy == "Replace":
            # The next sync creates the Job, when these are deleted.
            self.delete(manifest, active, "replaced by the next", "Background")
            return
        template = manifest["spec"]["jobTemplate"]
        # The name has the minute, as upstream: of two times in one minute, only the first gets a Job.
        name = f"{name_of(manifest)}-{time // (60 * SECOND)}"
        if self._world.informer.get(JOBS, object_key(namespace_of(manifest), name)) is None:
            metadata = copy.deepcopy(template.get("metadata") or {})
            metadata["name"] = name
            metadata.setdefault("annotations", {})[SCHEDULED_AT] = timestamp(time)
            spec = copy.deepcopy(template["spec"])
            job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}
            self.create(manifest, [job])
        self.set_status(manifest, CronJobStatus(last_schedule_time=timestamp(time)))

    def _delete_old_jobs(self, manifest: Manifest, jobs: Sequence[Manifest]) -> bool:
        """Keep only the latest finished Jobs (cleanupFinishedJobs); whether any were deleted."""
        surplus: list[Manifest] = []
        for kind, field in (
            ("Complete", "successfulJobsHistoryLimit"),
            ("Failed", "failedJobsHistoryLimit"),
        ):
            finished = [job for job in jobs if (finished_condition(job) or {}).get("type") == kind]
            finished.sort(key=created_at)
            surplus += finished[: max(0, len(finished) - manifest["spec"][field])]
        if surplus:
            self.delete(manifest, surplus, "more than the history's limit", "Background")
        return bool(surplus)

    def _sync_status(self, manifest: Manifest, jobs: Sequence[Manifest], active: Sequence[Manifest]) -> None:
        times = [status_of(job).get("completionTime") for job in jobs]
        times.append(status_of(manifest).get("lastSuccessfulTime"))
        references = [
            ObjectReference(
                api_version=job["apiVersion"],
                kind=job["kind"],
                namespace=namespace_of(job),
                name=name_of(job),
                uid=uid_of(job),
            )
            for job in active
        ]
        status = CronJobStatus(
            active=references or None, last_successful_time=max(filter(None, times), default=None)
        )
        self.set_status(manifest, status)

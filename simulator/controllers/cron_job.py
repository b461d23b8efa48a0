"""CronJobs: a Job at each time of the schedule (pkg/controller/cronjob/cronjob_controllerv2.go, v1.34)."""

import copy
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.timestamps import micros, timestamp
from simulator.controllers.controller import Controller
from simulator.controllers.job import finished
from simulator.controllers.ownership import uid
from simulator.objects import cron

JOBS = "jobs.batch"
SCHEDULED_AT = "batch.kubernetes.io/cronjob-scheduled-timestamp"
MOST_MISSED = 100
"""Times looked at to find the latest of those missed, as upstream, which warns then."""


class CronJobController(Controller):
    resource = "cronjobs.batch"
    kind = "CronJob"
    dependents = (JOBS,)

    def sync(self, key: str, manifest: Manifest) -> None:
        if "deletionTimestamp" in manifest["metadata"]:
            return
        jobs = self.owned(manifest, JOBS)
        active = [job for job in jobs if finished(job) is None]
        if self._forget(manifest, jobs):
            return
        self._report(manifest, jobs, active)
        if manifest["spec"]["suspend"]:
            return
        missed, coming = self._times(manifest)
        if missed is not None:
            self._run(manifest, missed, active)
        if coming is not None:
            self.enqueue(key, coming)

    def _times(self, manifest: Manifest) -> tuple[Micros | None, Micros | None]:
        """The latest time that is due and was not seen to yet, and the next one to come."""
        spec, now = manifest["spec"], self._world.now
        schedule, zone = cron.parse(spec["schedule"]), ZoneInfo(spec.get("timeZone", "UTC"))
        since = (manifest.get("status") or {}).get("lastScheduleTime")
        earliest = micros(since or manifest["metadata"]["creationTimestamp"])
        deadline = spec.get("startingDeadlineSeconds")
        if deadline is not None:
            earliest = max(earliest, now - deadline * SECOND)
        missed, time = None, schedule.after(earliest, zone)
        for _ in range(MOST_MISSED):
            if time is None or time > now:
                break
            missed, time = time, schedule.after(time, zone)
        return missed, time if time is None or time > now else schedule.after(now, zone)

    def _run(self, manifest: Manifest, time: Micros, active: Sequence[Manifest]) -> None:
        policy = manifest["spec"]["concurrencyPolicy"]
        if active and policy == "Forbid":
            return
        if active and policy == "Replace":
            # It is looked at again when they are gone.
            self.delete(manifest, active, "replaced by the next")
            return
        metadata, template = manifest["metadata"], manifest["spec"]["jobTemplate"]
        # Minutes make a name that tells two times apart, and the same time never makes two.
        name = f"{metadata['name']}-{time // (60 * SECOND)}"
        if self._world.informer.get(JOBS, f"{metadata['namespace']}/{name}") is None:
            made = copy.deepcopy(template.get("metadata") or {})
            made["name"] = name
            made.setdefault("annotations", {})[SCHEDULED_AT] = timestamp(time)
            spec = copy.deepcopy(template["spec"])
            self.create(manifest, [{"apiVersion": "batch/v1", "kind": "Job", "metadata": made, "spec": spec}])
        self.set_status(manifest, lastScheduleTime=timestamp(time))

    def _forget(self, manifest: Manifest, jobs: Sequence[Manifest]) -> bool:
        """Only so many Jobs that are over are kept, the latest; whether there were more."""
        surplus: list[Manifest] = []
        for kind, field in (
            ("Complete", "successfulJobsHistoryLimit"),
            ("Failed", "failedJobsHistoryLimit"),
        ):
            over = [job for job in jobs if (finished(job) or {}).get("type") == kind]
            over.sort(key=lambda job: str(job["metadata"]["creationTimestamp"]))
            surplus += over[: max(0, len(over) - manifest["spec"][field])]
        if surplus:
            self.delete(manifest, surplus, "more than the history's limit")
        return bool(surplus)

    def _report(self, manifest: Manifest, jobs: Sequence[Manifest], active: Sequence[Manifest]) -> None:
        ends = [job["status"]["completionTime"] for job in jobs if "completionTime" in job.get("status", {})]
        known = (manifest.get("status") or {}).get("lastSuccessfulTime")
        references = [
            {
                "apiVersion": job["apiVersion"],
                "kind": job["kind"],
                "namespace": job["metadata"]["namespace"],
                "name": job["metadata"]["name"],
                "uid": uid(job),
            }
            for job in active
        ]
        self.set_status(
            manifest,
            active=references or None,
            lastSuccessfulTime=max(filter(None, (*ends, known)), default=None),
        )

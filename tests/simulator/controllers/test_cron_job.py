"""CronJobs: a Job at each time of the schedule.

The lab's clock starts on Wednesday, 1 January 2025, at midnight."""

import datetime
import re
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from simulator.api import SECOND, Manifest
from simulator.apiserver.status import Invalid
from simulator.kernel.go_text import parse_go_duration
from simulator.objects import cron
from simulator.objects.timestamps import micros, timestamp
from tests.simulator.controllers.workloads import names, new_leader, status, template
from tests.simulator.lab import START, Lab, node

CRON_JOBS, JOBS = "cronjobs.batch", "jobs.batch"
MINUTE = START // (60 * SECOND)


def cron_job(schedule: str = "*/5 * * * *", *, runs: int = 10, fails: bool = False, **spec: Any) -> Manifest:
    annotation = "schedviz/fail-after-seconds" if fails else "schedviz/run-seconds"
    made = template("report", annotations={annotation: str(runs)}, restartPolicy="Never")
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "report"},
        "spec": {
            "schedule": schedule,
            "jobTemplate": {"spec": {"template": made, "backoffLimit": 0}},
            **spec,
        },
    }


def begun(manifest: Manifest) -> Lab:
    lab = Lab()
    lab.create(node("n1"), manifest)
    return lab


def jobs(lab: Lab) -> list[int]:
    """The minutes since the start at which the existing Jobs were scheduled."""
    return [int(key.rpartition("-")[2]) - MINUTE for key in lab.api.objects.get(JOBS, {})]


def test_a_schedule_may_repeat_after_a_time_that_is_counted_from_the_last_job() -> None:
    lab = begun(cron_job("@every 7m"))
    lab.run(60 * 7 - 1)
    assert jobs(lab) == []
    lab.run(60 * 15)
    assert jobs(lab) == [7, 14, 21]


@pytest.mark.parametrize(
    ("text", "nanoseconds"),
    [("90m", 5_400_000_000_000), ("-1.5s", -1_500_000_000), ("0", 0), ("1h1ms", 3_600_001_000_000)],
)
def test_durations_are_read_as_go_does(text: str, nanoseconds: int) -> None:
    assert parse_go_duration(text) == nanoseconds


@pytest.mark.parametrize("text", ["", "-", "1", "s", "1.s5", "1x", "300000h99999999999999999999h"])
def test_an_invalid_duration_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^time: "):
        parse_go_duration(text)


def test_a_job_is_created_at_each_time_and_only_the_last_ones_are_kept() -> None:
    lab = begun(cron_job())
    lab.run(299)
    assert jobs(lab) == []
    lab.run(2)
    assert jobs(lab) == [5]
    assert [active["name"] for active in status(lab, CRON_JOBS, "report")["active"]] == [
        f"report-{MINUTE + 5}"
    ]
    lab.run(1800)
    found = status(lab, CRON_JOBS, "report")
    assert "active" in found or found["lastScheduleTime"] == "2025-01-01T00:35:00Z"
    assert jobs(lab) == [20, 25, 30, 35]
    lab.run(60)
    assert jobs(lab) == [25, 30, 35]
    assert status(lab, CRON_JOBS, "report")["lastSuccessfulTime"] == "2025-01-01T00:35:11Z"
    assert len(names(lab, alive=False)) == 3


@pytest.mark.parametrize(("policy", "expected"), [("Allow", [1, 2, 3]), ("Forbid", [1, 2]), ("Replace", [3])])
def test_the_concurrency_policy_decides_what_happens_while_the_last_job_runs(
    policy: str, expected: list[int]
) -> None:
    """A forbidden Job is created as soon as the previous Job is over."""
    lab = begun(cron_job("* * * * *", runs=90, concurrencyPolicy=policy))
    lab.run(200)
    assert jobs(lab) == expected


def test_failed_jobs_have_a_limit_of_their_own_and_a_suspended_schedule_makes_none() -> None:
    lab = begun(cron_job("* * * * *", fails=True))
    lab.run(310)
    assert jobs(lab) == [4, 5]
    lab.update(CRON_JOBS, "default/report", lambda m: {**m, "spec": {**m["spec"], "suspend": True}})
    lab.run(300)
    assert jobs(lab) == [5]


def test_a_new_leader_creates_the_job_of_the_latest_missed_time_before_its_deadline() -> None:
    for deadline, expected in ((None, [5, 30]), (60, [5])):
        spec: dict[str, Any] = {} if deadline is None else {"startingDeadlineSeconds": deadline}
        lab = begun(cron_job(**spec))
        lab.run(301)
        lab.now += 27 * 60 * SECOND
        assert jobs(new_leader(lab).run(20)) == expected


def test_a_schedule_that_cannot_be_parsed_is_refused_with_the_reason() -> None:
    with pytest.raises(Invalid, match=r"spec\.schedule.*end of range \(61\) above maximum \(59\): 61"):
        begun(cron_job("61 * * * *"))


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        ("*/15 * * * *", ["01-01T00:15", "01-01T00:30"]),
        ("5/20 0 * * *", ["01-01T00:05", "01-01T00:25"]),
        ("0 9-17/4 * * mon-fri", ["01-01T09:00", "01-01T13:00"]),
        ("30 6 1,15 * *", ["01-01T06:30", "01-15T06:30"]),
        ("0 0 13 * fri", ["01-03T00:00", "01-10T00:00"]),
        ("0 0 */7 * fri", ["01-03T00:00", "01-08T00:00"]),
        ("0 0 29 feb *", []),
        ("@weekly", ["01-05T00:00", "01-12T00:00"]),
        ("@monthly", ["02-01T00:00", "03-01T00:00"]),
    ],
)
def test_schedules_name_their_times(schedule: str, expected: list[str]) -> None:
    parsed, time = cron.parse_schedule(schedule), START
    found = []
    for _ in expected:
        coming = parsed.after(time)
        assert coming is not None
        time = coming
        found.append(datetime.datetime.fromtimestamp(time // SECOND, datetime.UTC).strftime("%m-%dT%H:%M"))
    assert found == expected


def test_a_schedule_of_an_impossible_day_is_never_due_and_time_zones_count() -> None:
    assert cron.parse_schedule("0 0 30 feb *").after(START) is None
    leap = cron.parse_schedule("0 0 29 feb *").after(START)
    assert leap == int(datetime.datetime(2028, 2, 29, tzinfo=datetime.UTC).timestamp()) * SECOND
    berlin = cron.parse_schedule("30 2 * * *")
    before = int(datetime.datetime(2025, 3, 29, 12, tzinfo=datetime.UTC).timestamp()) * SECOND
    after = berlin.after(before, ZoneInfo("Europe/Berlin"))
    expected = datetime.datetime(2025, 3, 31, 0, 30, tzinfo=datetime.UTC)
    assert after == int(expected.timestamp()) * SECOND, "on the 30th there is no 2:30"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("bad", "expected exactly 5 fields, found 1: [bad]"),
        ("@often", "unrecognized descriptor: @often"),
        ("* 5-3 * * *", "beginning of range (5) beyond end of range (3): 5-3"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("* * * * 1-7", "end of range (7) above maximum (6): 1-7"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("*/2/3 * * * *", "too many slashes: */2/3"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("*/-2 * * * *", "negative number (-2) not allowed: -2"),
        (
            "* * * * funday",
            'failed to parse int from funday: strconv.Atoi: parsing "funday": invalid syntax',
        ),
        ("TZ=Mars/Base * * * * *", "provided bad location Mars/Base: unknown time zone Mars/Base"),
    ],
)
def test_a_wrong_schedule_has_the_message_of_upstream(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(problem)}$"):
        cron.parse_schedule(text)


@pytest.mark.parametrize("last", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Tokyo"])
def test_a_time_at_the_end_of_the_calendar_causes_no_error(last: str, zone: str) -> None:
    found = cron.parse_schedule("* * * * *").after(micros(last), ZoneInfo(zone))
    assert found is None or timestamp(found) > last


@pytest.mark.parametrize("last", ["0001-01-01T00:00:00Z", "2000-01-01T00:00:00Z"])
def test_only_the_latest_of_many_missed_times_gets_a_job(last: str) -> None:
    lab = Lab()
    lab.create(node("n1"), cron_job("*/5 * * * *"))
    lab.run(1)
    key = f"default/{next(iter(lab.api.objects[CRON_JOBS].values()))['metadata']['name']}"
    lab.update(CRON_JOBS, key, lambda m: {**m, "status": {"lastScheduleTime": last}})
    lab.run(1)
    assert len(lab.api.objects[JOBS]) == 1

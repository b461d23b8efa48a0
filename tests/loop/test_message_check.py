"""The check whether a process receives messages, and the role of a process; without processes."""

from typing import cast

import pytest
from redis import Redis

from schedviz.jobs.job_runner import JobRunnerStep
from schedviz.loop.tasks import WorkerStep
from schedviz.processes.message_check import FAILURES_AT_MOST, MessageCheck
from schedviz.processes.role import Role


class Lists:
    """The lists of a Redis, all of the same length."""

    length = 0

    def llen(self, key: str) -> int:
        return self.length


@pytest.fixture
def lists() -> Lists:
    return Lists()


@pytest.fixture
def check(lists: Lists) -> MessageCheck:
    return MessageCheck(cast("Redis", lists), ["slices"])


def failures(check: MessageCheck) -> int:
    """How often the check is run until it is the last failure that is allowed."""
    return next(number for number in range(1, 100) if not check.run())


def test_waiting_messages_of_an_idle_process_are_failures(lists: Lists, check: MessageCheck) -> None:
    assert all(check.run() for _ in range(100)), "no messages wait"
    lists.length = 1
    assert failures(check) == FAILURES_AT_MOST


def test_only_consecutive_failures_count(lists: Lists, check: MessageCheck) -> None:
    def fail_nearly() -> None:
        lists.length = 1
        assert all(check.run() for _ in range(FAILURES_AT_MOST - 1))

    fail_nearly()
    lists.length = 0
    assert check.run()
    fail_nearly()
    check.reset()
    fail_nearly()
    check.task_began()
    assert all(check.run() for _ in range(100)), "a task may take long"
    check.task_ended()
    assert failures(check) == FAILURES_AT_MOST


@pytest.mark.parametrize(
    ("options", "role"),
    [({}, "worker"), ({"role": "worker"}, "worker"), ({"role": "job-runner"}, "job-runner")],
)
def test_a_process_has_the_role_of_its_option_and_is_a_worker_without_it(
    options: dict[str, Role], role: Role
) -> None:
    steps = [WorkerStep(None, **options), JobRunnerStep(None, **options)]
    assert [step.role for step in steps if step.include_if(None)] == [role]

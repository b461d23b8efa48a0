"""Checks of the processes: whether sandboxes and jobs make progress."""

from collections.abc import Iterator, Sequence
from typing import Final, cast

from schedviz.loop.due import KEY as DUE
from schedviz.operate.doctor.finding import Finding
from schedviz.operate.server_state import OVERDUE_SECONDS
from schedviz.processes.heartbeats import Heartbeats
from schedviz.processes.message_queues import backlogs
from schedviz.store import Store
from schedviz.store.wall import MICROSECONDS

NAMED: Final = 5


def check_processes(store: Store) -> list[Finding]:
    """Check the processes. Raises what redis-py raises."""
    return [
        *_check_workers(store),
        *_check_queues(store),
        *_check_overdue(store),
        *_check_failing(store),
        *_check_unreadable(store),
    ]


def _check_workers(store: Store) -> Iterator[Finding]:
    if not Heartbeats(store.redis, "worker").living():
        yield Finding(
            "no worker is alive, so the sandboxes stand still", "start a worker, or look into its log"
        )
    if not Heartbeats(store.redis, "job-runner").living():
        yield Finding(
            "no job runner is alive, so what-if questions and comparisons wait",
            "start a job runner, or look into its log",
        )


def _check_queues(store: Store) -> Iterator[Finding]:
    for queue, waiting in backlogs(store.redis).items():
        yield Finding(
            f"{waiting} messages wait in the queue {queue}",
            "start more processes that take them, or look into the logs of those there are",
        )


def _check_overdue(store: Store) -> Iterator[Finding]:
    before = (store.wall() - OVERDUE_SECONDS) * MICROSECONDS
    names = [name.decode() for name in cast("list[bytes]", store.redis.zrangebyscore(DUE, "-inf", before))]
    if names:
        yield Finding(
            f"{len(names)} sandboxes wait for a slice for more than {OVERDUE_SECONDS:g} s ({_some(names)})",
            "start more workers: all are busy, or take no messages",
        )


def _check_failing(store: Store) -> Iterator[Finding]:
    names = store.failing()
    if names:
        yield Finding(
            f"the loop of {len(names)} sandboxes failed ({_some(names)})",
            "look into the log of the workers; the page of the sandbox shows the error",
        )


def _check_unreadable(store: Store) -> Iterator[Finding]:
    _, names = store.summaries(())
    if names:
        yield Finding(
            f"{len(names)} sandboxes cannot be read ({_some([*names])})",
            "restore them from a backup, or delete them on their pages",
        )


def _some(names: Sequence[str]) -> str:
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {rest} more" if rest > 0 else "")

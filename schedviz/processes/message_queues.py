"""The names of the broker's queues, and of their keys in Redis."""

from typing import Final

from kombu import Queue
from redis import Redis

from schedviz.processes.role import Role
from schedviz.store.bounds import MAX_SANDBOXES

KEY_PREFIX: Final = "schedviz:celery:"
"""Prefix of every key of the broker."""

QUEUES: Final[dict[Role, str]] = {"worker": "slices", "job-runner": "jobs"}
"""The queue that all processes of a role consume. Workers and job runners have different ones, so that no
slice waits for a job."""

SLICES_QUEUE: Final = QUEUES["worker"]
"""Queue for the slices of sandboxes without a leader."""

JOBS_QUEUE: Final = QUEUES["job-runner"]
"""Queue for questions and comparisons, which take seconds each."""


BACKLOG: Final = 2 * MAX_SANDBOXES
"""Number of messages in a queue above which they are reported: a few wait for each sandbox at most."""


def list_key(queue: str) -> str:
    """Return the key of the list that has the messages of a queue."""
    return f"{KEY_PREFIX}{queue}"


def backlogs(redis: Redis) -> dict[str, int]:
    """Return the queues in which more than BACKLOG messages wait -> how many."""
    waiting = {queue: redis.llen(list_key(queue)) for queue in QUEUES.values()}
    return {queue: count for queue, count in waiting.items() if count > BACKLOG}


def own_queue(common: str, process: str) -> Queue:
    """Return the queue that only this process consumes, beside the common queue of its role. It is bound to
    no exchange: messages are routed by its name."""
    name = own_queue_name(common, process)
    return Queue(name, exchange="", routing_key=name)


def own_queue_name(common: str, process: str) -> str:
    return f"{common}.{process}"

"""The names of the broker's queues, and of their keys in Redis."""

from typing import Final

from kombu import Queue

from schedviz.processes.role import Role

KEY_PREFIX: Final = "schedviz:celery:"
"""Prefix of every key of the broker."""

QUEUES: Final[dict[Role, str]] = {"worker": "slices", "job-runner": "jobs"}
"""The queue that all processes of a role consume. Workers and job runners have different ones, so that no
slice waits for a job."""

SLICES_QUEUE: Final = QUEUES["worker"]
"""Queue for the slices of sandboxes without a leader."""

JOBS_QUEUE: Final = QUEUES["job-runner"]
"""Queue for questions and comparisons, which take seconds each."""


def own_queue(common: str, process: str) -> Queue:
    """The queue that only this process consumes, beside the common queue of its role. It is bound to no
    exchange: messages are routed by its name."""
    return Queue(f"{common}.{process}", exchange="", routing_key=f"{common}.{process}")

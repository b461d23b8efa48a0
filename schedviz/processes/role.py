"""The roles of Celery processes. A process has one, by its command-line option ``--role``."""

from typing import Final, Literal, get_args

Role = Literal["worker", "job-runner"]

ROLES: Final[tuple[Role, ...]] = get_args(Role)

QUEUES: Final[dict[Role, str]] = {"worker": "slices", "job-runner": "jobs"}
"""The queue that all processes of a role consume. Workers and job runners have different ones, so that no
slice waits for a job."""

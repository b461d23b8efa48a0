"""The roles of Celery processes. A process has one, by its command-line option ``--role``."""

from typing import Final, Literal, get_args

Role = Literal["worker", "job-runner"]

ROLES: Final[tuple[Role, ...]] = get_args(Role)

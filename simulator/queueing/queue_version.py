"""QueueVersion: the scheduling queues that a user can choose from."""

from enum import StrEnum
from typing import Any


class QueueVersion(StrEnum):
    """The scheduling queue: that of the version of Kubernetes, or an older one."""

    KUBERNETES = "kubernetes"
    V1_10 = "v1.10"
    FIFO = "fifo"

    @classmethod
    def _missing_(cls, value: object) -> "QueueVersion | None":
        # Scenarios and what is stored had this name while v1.34 was the only version.
        return cls.KUBERNETES if value == "v1.34" else None


def read_queue_version(text: Any) -> QueueVersion:
    """Return the queue of this name. Raises ValueError."""
    try:
        return QueueVersion(text)
    except ValueError:
        raise ValueError(f"must be one of {', '.join(QueueVersion)}") from None

"""The scheduling queues that a user can choose, with their descriptions."""

from typing import Final, NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from simulator.queueing.queue_version import QueueVersion


class Queue(NamedTuple):
    version: QueueVersion
    label: str | Promise
    tag: str | Promise
    """The text in the top bar; "" for the queue of the version of Kubernetes."""
    help: str | Promise


QUEUES: Final = (
    Queue(QueueVersion.KUBERNETES, _("current queue"), "", ""),
    Queue(
        QueueVersion.V1_10,
        _("queue of 1.10"),
        _("queue of 1.10"),
        _(
            "This sandbox has the scheduling queue of Kubernetes 1.10: pods in order of priority. "
            "Unschedulable pods wait until an event that might help moves them all back at once. There is no "
            "backoff for them, and there are no queueing hints: backoffQ has only pods whose attempt failed "
            "with an error."
        ),
    ),
    Queue(
        QueueVersion.FIFO,
        _("FIFO (before 1.9)"),
        _("FIFO queue"),
        _(
            "This sandbox has the scheduling queue used before Kubernetes 1.9: a FIFO queue, which ignores "
            "priority. Pods that fit no node go to the end of activeQ, some after a wait in backoffQ. What a "
            "preemptor's victims free is not reserved for it."
        ),
    ),
)


def older_queue(version: QueueVersion) -> Queue | None:
    """Return the description of an older queue; None for the queue of the version of Kubernetes."""
    return next((queue for queue in QUEUES if queue.version == version and queue.tag), None)

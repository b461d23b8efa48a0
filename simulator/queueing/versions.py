"""The scheduling queues that can be selected: the current version and two older ones for comparison."""

from typing import Final, Literal

from simulator.queueing.fifo import Fifo
from simulator.queueing.priority_queue_v1_10 import PriorityQueueV1_10
from simulator.queueing.scheduling_queue import SchedulingQueue

QueueVersion = Literal["v1.34", "v1.10", "fifo"]
TODAY: Final = "v1.34"
"""The default."""
QUEUES: Final[dict[QueueVersion, type[SchedulingQueue]]] = {
    "v1.34": SchedulingQueue,
    "v1.10": PriorityQueueV1_10,
    "fifo": Fifo,
}

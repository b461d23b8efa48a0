"""PrioritySort (pkg/scheduler/framework/plugins/queuesort/priority_sort.go)."""

from typing import Any

from simulator.framework.interface import QueueSortPlugin
from simulator.objects.pod import Pod


class PrioritySort(QueueSortPlugin):
    """Sorts activeQ: higher priority first, then the earlier timestamp."""

    name = "PrioritySort"

    def sort_key(self, pod: Pod, timestamp: int) -> tuple[Any, ...]:
        return (-pod.priority, timestamp)

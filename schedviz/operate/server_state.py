"""The metrics of the whole server, which are read from Redis at each request."""

from typing import Any, Final

from prometheus_client.core import GaugeMetricFamily

from schedviz.loop.due import KEY as DUE
from schedviz.processes.heartbeats import Heartbeats
from schedviz.processes.message_queues import QUEUES, list_key
from schedviz.processes.role import ROLES
from schedviz.rooms.count_rooms import count_rooms
from schedviz.rooms.room_store import ONLINE_SECONDS
from schedviz.store import Store
from schedviz.store.keys import FAILING, REGISTRY
from schedviz.store.wall import MICROSECONDS, seconds_of

OVERDUE_SECONDS: Final = 5.0
"""Seconds after which a due wake shows that the workers do not keep up. A wake is usually claimed within 50
ms."""

NAMES: Final = {
    "schedviz_processes": "Living processes by role, by their heartbeats.",
    "schedviz_sandboxes": "All sandboxes.",
    "schedviz_sandboxes_failing": "Sandboxes whose loop failed and has not run since.",
    "schedviz_wakes_overdue": f"Sandboxes whose slice is due for more than {OVERDUE_SECONDS:g} s.",
    "schedviz_broker_messages": "Messages that wait in a queue of the broker.",
    "schedviz_rooms": "Rooms that have not ended.",
    "schedviz_learners": "Members of these rooms.",
    "schedviz_learners_online": f"Those whose page was connected within {ONLINE_SECONDS:g} s.",
    "schedviz_redis_memory_used_bytes": "Memory that Redis uses.",
    "schedviz_redis_memory_max_bytes": "Redis's maxmemory; 0 = no limit.",
}


def server_state(store: Store) -> list[GaugeMetricFamily]:
    """Return the gauges of the state of the server. Raises what redis-py raises."""
    with store.redis.pipeline(transaction=False) as pipe:
        pipe.time()
        pipe.scard(REGISTRY)
        pipe.scard(FAILING)
        pipe.info("memory")
        for queue in QUEUES.values():
            pipe.llen(list_key(queue))
        now, sandboxes, failing, memory, *waiting = pipe.execute()
    due_before = (seconds_of(now) - OVERDUE_SECONDS) * MICROSECONDS
    processes: dict[str, int] = {role: len(Heartbeats(store.redis, role).living()) for role in ROLES}
    rooms, learners, online = count_rooms(store)
    return [
        _family("schedviz_processes", processes, "role"),
        _family("schedviz_sandboxes", {"": sandboxes}),
        _family("schedviz_sandboxes_failing", {"": failing}),
        _family("schedviz_wakes_overdue", {"": store.redis.zcount(DUE, "-inf", due_before)}),
        _family("schedviz_broker_messages", dict(zip(QUEUES.values(), waiting, strict=True)), "queue"),
        _family("schedviz_rooms", {"": rooms}),
        _family("schedviz_learners", {"": learners}),
        _family("schedviz_learners_online", {"": online}),
        _family("schedviz_redis_memory_used_bytes", {"": memory["used_memory"]}),
        _family("schedviz_redis_memory_max_bytes", {"": memory.get("maxmemory", 0)}),
    ]


def _family(name: str, values: dict[str, Any], label: str = "") -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, NAMES[name], labels=[label] if label else [])
    for value, amount in values.items():
        family.add_metric([value] if label else [], amount)
    return family

"""The metrics of schedviz itself. docs/OPERATIONS.md describes each."""

from typing import Final

from prometheus_client import Counter, Gauge, Histogram

from schedviz.metrics.registry import REGISTRY

SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Buckets of durations: from a round trip to Redis to what a person takes for a failure."""

REQUESTS: Final = Counter(
    "schedviz_requests_total", "HTTP requests, by view and status.", ["view", "method", "status"],
    registry=REGISTRY,
)  # fmt: skip
REQUEST_SECONDS: Final = Histogram(
    "schedviz_request_duration_seconds",
    "Seconds until the response of an HTTP request begins, by view.",
    ["view"],
    buckets=SECONDS,
    registry=REGISTRY,
)
VIEWERS: Final = Gauge("schedviz_viewers", "Open pages that are connected.", registry=REGISTRY)
WATCHES: Final = Gauge("schedviz_watches", "Open watches of the API.", registry=REGISTRY)
DRAW_SECONDS: Final = Histogram(
    "schedviz_frame_draw_seconds",
    "CPU seconds to draw a frame for all viewers of a sandbox.",
    buckets=SECONDS,
    registry=REGISTRY,
)
FRAMES_SENT: Final = Counter("schedviz_frames_sent_total", "Frames sent to viewers.", registry=REGISTRY)
FRAME_BYTES: Final = Counter("schedviz_frame_bytes_total", "Bytes of the frames sent.", registry=REGISTRY)
SLICE_DURATION: Final = Histogram(
    "schedviz_slice_duration_seconds", "Seconds of a slice.", buckets=SECONDS, registry=REGISTRY
)
SLICES_LATE: Final = Counter(
    "schedviz_slices_late_total",
    "Slices at whose end a sandbox was behind its clock.",
    registry=REGISTRY,
)
SLICE_FAILURES: Final = Counter(
    "schedviz_slice_failures_total", "Slices whose simulation failed.", registry=REGISTRY
)
LEADERS: Final = Gauge("schedviz_sandboxes_awake", "Sandboxes that a worker leads.", registry=REGISTRY)
COMMIT_SECONDS: Final = Histogram(
    "schedviz_commit_duration_seconds",
    "Seconds of a commit to Redis, by who writes: the leader of the sandbox, or a client.",
    ["writer"],
    buckets=SECONDS,
    registry=REGISTRY,
)
COMMITS_REFUSED: Final = Counter(
    "schedviz_commits_refused_total",
    "Commits of which nothing was stored, by reason; Conflict is an object that others changed meanwhile.",
    ["reason"],
    registry=REGISTRY,
)
ROUND_TRIP_SECONDS: Final = Histogram(
    "schedviz_redis_round_trip_seconds",
    "Seconds until Redis answers the smallest command; each process asks every few seconds.",
    buckets=SECONDS,
    registry=REGISTRY,
)
REFUSED: Final = Counter(
    "schedviz_refused_total", "What was refused because a limit was reached.", ["limit"], registry=REGISTRY
)
CPU_SECONDS: Final = Counter(
    "schedviz_process_cpu_seconds_total", "CPU seconds of the processes.", ["role"], registry=REGISTRY
)
RESIDENT_BYTES: Final = Gauge(
    "schedviz_process_resident_memory_bytes", "Memory of the processes.", ["role"], registry=REGISTRY
)

MIRROR_DECISIONS: Final = Counter(
    "schedviz_mirror_decisions_total",
    "Decisions of the schedulers of mirrored clusters, by what they are about and by verdict.",
    ["decision", "verdict"],
    registry=REGISTRY,
)
MIRROR_EVICTIONS: Final = Counter(
    "schedviz_mirror_evictions_total",
    "Pods that these schedulers evicted, by the controller of the preemptor.",
    ["owner"],
    registry=REGISTRY,
)
MIRROR_PENDING: Final = Gauge(
    "schedviz_mirror_pending_pods",
    "Pending pods of mirrored clusters, by cause and by age.",
    ["cause", "age"],
    registry=REGISTRY,
)


def refused(limit: str) -> None:
    """Count that something was refused because a limit was reached. ``limit``: the name of a constant or a
    setting, never what users sent."""
    REFUSED.labels(limit).inc()

"""The metrics of all processes, added up in Redis.

A process counts in its memory. Every WRITE_SECONDS it adds what its counters have grown to those of all
processes, so that nothing is lost when it ends, and writes its gauges, which are dropped after its end. Any
web process can answer a scrape.

Prometheus' own mode for several processes shares memory-mapped files of one directory: it ends at the border
of a machine or container. A push gateway or one scrape for each process would be further services, or ports
of workers, that an operator has to set up.
"""

import logging
import time
from collections.abc import Mapping
from pathlib import Path
from resource import getpagesize
from threading import Lock
from typing import Any, Final, NamedTuple, cast

import msgspec
from redis import Redis
from redis.exceptions import RedisError

from schedviz.metrics.registry import Series, counters, gauges
from schedviz.metrics.server import CPU_SECONDS, RESIDENT_BYTES, ROUND_TRIP_SECONDS
from schedviz.store.keys import PREFIX
from schedviz.store.wall import seconds_of
from simulator.kernel.prepared_types import prepared

log = logging.getLogger(__name__)

WRITE_SECONDS: Final = 5.0
"""Seconds between two writes. Scrapes are usually 15 to 60 s apart."""
TTL_SECONDS: Final = 3 * WRITE_SECONDS
"""Seconds without a write after which the gauges of a process are dropped."""
SERIES_AT_MOST: Final = 10_000
"""Maximum number of series in Redis, 150 bytes each. Some 3,000 are in use; further ones are not stored."""
PROCESSES_AT_MOST: Final = 1_000

COUNTERS: Final = f"{PREFIX}:metrics:counters"
"""The key of a hash: series -> sum over all processes since the store is there."""
GAUGES: Final = f"{PREFIX}:metrics:gauges"
"""The key of a hash: process -> ``<time of the write> <number of the write> <JSON>``."""

_WRITE: Final = """
local before = redis.call('HGET', KEYS[2], ARGV[1])
local t = redis.call('TIME')
if not before and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[5]) then return 0 end
redis.call('HSET', KEYS[2], ARGV[1], string.format('%d.%06d %s %s', t[1], t[2], ARGV[2], ARGV[3]))
-- The answer to this write was lost, and the process writes it again.
if before and tonumber(string.match(before, '^%S+ (%d+) ')) >= tonumber(ARGV[2]) then return 0 end
for i = 6, #ARGV, 2 do
  if redis.call('HEXISTS', KEYS[1], ARGV[i]) == 1 or redis.call('HLEN', KEYS[1]) < tonumber(ARGV[4]) then
    redis.call('HINCRBYFLOAT', KEYS[1], ARGV[i], ARGV[i + 1])
  end
end
return 1
"""


class Write(NamedTuple):
    """The amounts that a process adds to the counters. It is sent again until Redis has answered, and counts
    once."""

    number: int
    added: list[str]
    """The series and their increments, in turns."""
    reached: dict[Series, float]
    """The process' own counters after it."""


class SharedMetrics:
    """The metrics of all processes, which this one writes. ``process``: the name of this one. Any thread may
    use it."""

    def __init__(self, redis: Redis, role: str, process: str) -> None:
        self._redis = redis
        self._role = role
        self._process = process
        self._lock = Lock()
        self._number = 0
        self._written: dict[Series, float] = {}
        self._pending: Write | None = None
        self._cpu = 0.0
        self._script = redis.register_script(_WRITE)

    def write(self) -> None:
        """Add what this process has counted. Does not raise: what Redis did not take is added later."""
        with self._lock:
            try:
                self._write()
            except RedisError as error:
                log.debug("metrics: %s", error)

    def read(self) -> tuple[dict[Series, float], dict[Series, float]]:
        """Return the counters of all processes, and the sums of the gauges of the living ones."""
        with self._redis.pipeline(transaction=False) as pipe:
            pipe.hgetall(COUNTERS)
            pipe.hgetall(GAUGES)
            pipe.time()
            counted, measured, now = pipe.execute()
        sums: dict[Series, float] = {}
        for value in measured.values():
            at, _, encoded = value.split(b" ", 2)
            if abs(seconds_of(now) - float(at)) < TTL_SECONDS:
                for field, amount in msgspec.json.decode(encoded, type=dict[str, float]).items():
                    series = _decode(field)
                    sums[series] = sums.get(series, 0.0) + amount
        return {_decode(field.decode()): float(value) for field, value in counted.items()}, sums

    def stop(self) -> None:
        """Write what was counted, and remove the gauges of this process."""
        self.write()
        try:
            self._redis.hdel(GAUGES, self._process)
        except RedisError as error:
            log.debug("metrics: %s", error)

    def _write(self) -> None:
        began = time.monotonic()
        self._redis.ping()
        ROUND_TRIP_SECONDS.observe(time.monotonic() - began)
        self._measure_process()
        if self._pending:
            self._send(self._pending)
        if self._number == 0:
            self._drop_old()
        self._number += 1
        now = counters()
        self._pending = Write(self._number, _increments(self._written, now), now)
        self._send(self._pending)

    def _drop_old(self) -> None:
        """Remove the gauges of the processes that have ended, which take places of PROCESSES_AT_MOST."""
        now = seconds_of(cast("Any", self._redis.time()))
        for process, value in cast("dict[bytes, bytes]", self._redis.hgetall(GAUGES)).items():
            if abs(now - float(value.split(b" ", 1)[0])) >= TTL_SECONDS:
                self._redis.hdel(GAUGES, process)

    def _send(self, write: Write) -> None:
        measured = {_encode(series): value for series, value in gauges().items()}
        head: list[str | int | bytes] = [
            self._process,
            write.number,
            msgspec.json.encode(measured),
            SERIES_AT_MOST,
            PROCESSES_AT_MOST,
        ]
        self._script([COUNTERS, GAUGES], [*head, *write.added])
        self._written, self._pending = write.reached, None

    def _measure_process(self) -> None:
        cpu = time.process_time()
        CPU_SECONDS.labels(self._role).inc(cpu - self._cpu)
        self._cpu = cpu
        RESIDENT_BYTES.labels(self._role).set(_resident_bytes())


def _increments(before: Mapping[Series, float], now: Mapping[Series, float]) -> list[str]:
    added = []
    for series, value in now.items():
        grown = value - before.get(series, 0.0)
        # Also those that are 0: a histogram needs all of its buckets.
        if grown > 0 or series not in before:
            added += [_encode(series), repr(grown)]
    return added


def _encode(series: Series) -> str:
    return msgspec.json.encode(series).decode()


def _decode(field: str) -> Series:
    return msgspec.json.decode(field, type=prepared(Series))


def _resident_bytes() -> int:
    """Return the resident memory in bytes; 0 where the system has no /proc."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return 0
    return pages * getpagesize()

"""The watch events that a cache keeps."""

import pytest

from schedviz.cache import held
from schedviz.cache.held import Rings
from schedviz.store.model import LogEntry


def entry(version: int, resource: str = "pods") -> LogEntry:
    return LogEntry(version, "ADDED", resource, f"default/p{version}", b"{}")


def test_watch_events_are_dropped_when_they_are_old(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(held.time, "monotonic", lambda: now)
    rings = Rings(0)
    for version in (1, 2):
        rings.add(entry(version))
    rings.add(entry(3, "nodes"))
    now += held.RING_SECONDS + 1
    rings.add(entry(4))

    assert rings.after(("pods",), 1) is None
    assert [event.entry.version for event in rings.after(("pods",), 2) or ()] == [4]
    assert [event.entry.version for event in rings.after(("nodes",), 0) or ()] == [3]

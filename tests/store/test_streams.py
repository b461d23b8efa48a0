"""Reading on from a version: without a gap, or Gone."""

from functools import partial
from typing import cast

import msgspec
import pytest

from schedviz.store import Commit, Gone, LimitReached, Sandbox, Store, parts, whole_objects
from schedviz.store.archive import pairs
from schedviz.store.codec import Entries
from schedviz.store.commit_script import LIMITS
from schedviz.store.keys import Keys
from schedviz.store.object_text import json_size
from simulator.api import Change
from simulator.kernel.parts import in_parts
from simulator.trace import Bound

from .test_commit import create


def test_reading_continues_from_any_kept_version_in_pages(sandbox: Sandbox) -> None:
    sandbox.commit(
        Commit([create(f"p{i}") for i in range(5)], trace=[Bound(i, i, f"p{i}", "n") for i in range(5)])
    )
    for after in range(6):
        assert [event.version for event in sandbox.events(after)] == list(range(after + 1, 6))
        assert [seq for seq, _ in sandbox.trace(after)] == list(range(after + 1, 6))
    assert [event.version for event in sandbox.events(1, count=2)] == [2, 3]
    assert sandbox.trace(1, count=1) == [(2, Bound(1, 1, "p1", "n"))]
    assert sandbox.trace_tail(2) == [(4, Bound(3, 3, "p3", "n")), (5, Bound(4, 4, "p4", "n"))]
    assert sandbox.trace_head() == 5


@pytest.mark.parametrize("cycle", [-1, 0, 1, 2**63 - 1, 2**63, 2**64, 10**30])
def test_a_cycle_that_there_cannot_be_has_no_decision(sandbox: Sandbox, cycle: int) -> None:
    assert sandbox.decision(cycle) is None
    assert sandbox.history().decision(cycle) is None


def test_reading_from_a_trimmed_or_future_version_raises_gone(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, "log", 100)
    monkeypatch.setitem(LIMITS, "trace", 100)
    for start in range(0, 1000, 100):
        sandbox.commit(
            Commit(
                [create(f"p{start + i}") for i in range(100)],
                trace=[Bound(i, i, "p", "n") for i in range(start, start + 100)],
            )
        )
    for read in (sandbox.events, sandbox.trace):
        assert len(read(900)) == 100
        assert read(1000) == []
        for gone in (0, 500, 1001, -1):
            with pytest.raises(Gone):
                read(gone)
    assert len(sandbox.trace_tail(1000)) < 300
    assert len(sandbox.list("pods").items) == 1000


def test_the_log_is_bounded_in_bytes(sandbox: Sandbox, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader reads all of it at once, and its entries are copies of objects of any size."""
    monkeypatch.setitem(LIMITS, "log_bytes", 10_000)
    keys = Keys.of(sandbox.name)
    for start in range(0, 40, 4):
        sandbox.commit(Commit([create(f"p{start + i}", text="x" * 100 * start) for i in range(4)]))
        log = cast("Entries", store.redis.xrange(keys.log))
        stored = sum(json_size(fields[b"object"]) for _, fields in log)
        counted = cast("bytes", store.redis.hget(keys.state, "log_bytes"))
        assert stored == int(counted) <= 10_000
    assert len(sandbox.events(38)) == 2
    with pytest.raises(Gone):
        sandbox.events(0)
    sandbox.commit(Commit([create("large", text="x" * 20_000)]))
    assert [event.version for event in sandbox.events(40)] == [41]
    with pytest.raises(Gone):
        sandbox.events(39)


def test_a_commit_is_bounded_in_bytes_and_its_parts_are_taken(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, "commit_bytes", 1_000)
    large = [create(name, text="x" * 700) for name in ("a", "b")]
    with pytest.raises(LimitReached, match="one commit"):
        sandbox.commit(Commit(large))
    for change in large:
        sandbox.commit(Commit([change]))
    both = [Change("pods", f"default/{name}", None) for name in ("a", "b")]
    with pytest.raises(LimitReached, match="one commit"):
        sandbox.commit(Commit(both))
    assert len(sandbox.list("pods").items) == 2
    monkeypatch.setattr(parts, "in_parts", partial(in_parts, at_most=1_000))
    assert [*parts.parts_of(large)] == [[change] for change in large]
    for part in parts.parts_of(both, sandbox):
        sandbox.commit(Commit(part))
    assert sandbox.list("pods").items == []


def test_a_scan_reads_few_large_objects_at_once(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_objects, "PART_BYTES", 20_000)
    names = {f"default/p{number}" for number in range(200)}
    for name in names:
        sandbox.commit(Commit([create(name.removeprefix("default/"), text="x" * 1_000)]))
    found: set[str] = set()
    cursor, count = "0", whole_objects.SCANNED_FIRST
    while True:
        reply, cursor, count = sandbox.scan("pods", cursor, count)
        assert len(reply) < 40_000
        found |= {key for key, _ in pairs(msgspec.msgpack.decode(reply)[1])}
        if cursor == "0":
            break
    assert found == names == {*sandbox.keys_starting_with("pods", "default/")}

"""Reading on from a version: without a gap, or Gone."""

import pytest

from schedviz.store import Commit, Gone, Sandbox
from schedviz.store.commit_script import LIMITS
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

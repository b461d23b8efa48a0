"""``manage.py mirror report``: what the scheduler of a mirrored cluster did, from the stored trace."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.core.management import call_command

from schedviz.api import write
from schedviz.mirror.report import find_mirror, make_report
from schedviz.mirror.session import MirrorError
from schedviz.store import Clock, Commit, Meta, Sandbox, Store
from schedviz.store.model import Mirrored
from schedviz.up.management.commands import mirror
from simulator.api import SECOND
from simulator.trace import (
    AnyEvent,
    BindingJudged,
    OutsideBound,
    OutsideFailed,
    PreemptionJudged,
    QueuePlace,
    VictimReplaced,
)
from simulator.trace.verdicts import JudgedScore, JudgedState
from tests.loop.conftest import node

NOW = 1_764_280_000 * SECOND
HOUR = 3600 * SECOND
STATE = JudgedState(7, 0)
MIRRORED = Mirrored("prod", "https://prod.example", "v1.36.2")


def trace() -> list[AnyEvent]:
    """A binding of two days ago, one that the model would have made otherwise, and an eviction."""
    scheduler, early, late = "default-scheduler", NOW - 48 * HOUR, NOW - HOUR
    return [
        OutsideBound(early, "shop/old", "n1", scheduler, 9_000 * SECOND, None),
        BindingJudged(early, "shop/old", "n1", scheduler, "agrees", STATE, equal=1),
        OutsideFailed(late, "shop/web", scheduler, "Unschedulable", "0/2 nodes are available."),
        OutsideBound(late, "shop/web", "n1", scheduler, 90 * SECOND, None),
        BindingJudged(
            late, "shop/web", "n1", scheduler, "differs", STATE, "n2", 312, 340, [JudgedScore("Fit", 2, 30)]
        ),
        PreemptionJudged(late, "shop/low", "n2", scheduler, "agrees", STATE, "shop/high", "u", "Job train"),
        VictimReplaced(late, "shop/low", "n2", "shop/low-2", "n1", 5 * SECOND),
    ]


@pytest.fixture
def sandbox(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    meta = Meta(name=sandbox_name, title="prod", created=store.wall(), mirror=MIRRORED)
    write.create_sandbox(store, meta, [node("n1")])
    sandbox = store.sandbox(sandbox_name)
    sandbox.set_clock(Clock(sim=NOW, wall=store.wall(), paused=True), sandbox.clock())
    waits = QueuePlace(
        "shop/wait",
        "u",
        "outside",
        0,
        NOW - 2 * HOUR,
        NOW,
        0,
        message="no room",
        scheduler="default-scheduler",
    )
    sandbox.commit(Commit([], trace=trace(), queue_places={"shop/wait": waits}))
    yield sandbox
    store.delete(sandbox_name)


def test_it_has_what_the_last_hours_had(sandbox: Sandbox) -> None:
    report = make_report(sandbox, 24)
    assert (report.bindings, report.evictions) == ({"differs": 1}, {"agrees": 1})
    assert [(each.pod, each.seconds, each.message) for each in report.pending_longest] == [
        ("shop/wait", 7200.0, "no room"),
        ("shop/web", 90.0, "0/2 nodes are available."),
    ]
    [evicted] = report.evicted
    assert (evicted.preemptor, evicted.owner, evicted.replaced_by) == ("shop/high", "Job train", "shop/low-2")
    assert report.preemptors == {"Job train": 1}
    [other] = report.otherwise
    assert (other.what, other.why) == ("bound to n1", "n1 had 312, n2 340: Fit 2, not 30.")
    assert make_report(sandbox, 72).bindings == {"agrees": 1, "differs": 1}


def test_the_command_prints_it(
    sandbox: Sandbox, store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextmanager
    def stored() -> Iterator[Store]:
        yield store

    monkeypatch.setattr(mirror, "stored_data", stored)
    call_command("mirror", "report", "--name", sandbox.name)
    text = capsys.readouterr().out
    assert text.startswith("# The scheduler of prod\n")
    assert "- Bindings: 1 differs" in text
    assert "| shop/low | n2 | shop/high of Job train | shop/low-2 on n1 | agrees |" in text
    call_command("mirror", "report", "--name", sandbox.name, "-o", "json", "--hours", "72")
    assert json.loads(capsys.readouterr().out)["bindings"] == {"agrees": 1, "differs": 1}
    with pytest.raises(SystemExit):
        call_command("mirror", "report", "--name", "none")
    assert capsys.readouterr().err == "mirror: there is no mirror none\n"


def test_a_sandbox_that_is_no_mirror_is_refused(store: Store, sandbox_name: str) -> None:
    write.create_sandbox(store, Meta(name=sandbox_name, created=store.wall()), [])
    with pytest.raises(MirrorError, match="is no mirror"):
        find_mirror(store, sandbox_name)
    store.delete(sandbox_name)

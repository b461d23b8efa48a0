"""The comparison of an outside scheduler with the model on the same inputs."""

import time
from collections.abc import Iterator

import pytest
from django.test import Client

from schedviz.api import removal, schedulers, write
from schedviz.jobs.comparison_job import COMPARISONS, ComparisonJob
from schedviz.jobs.comparison_work import comparison_turns
from schedviz.jobs.job_store import JobStore
from schedviz.store import Clock, Meta, Sandbox, Store
from schedviz.store.recording import recording_lines
from schedviz.web.compare.form import InvalidField, parse_comparison
from simulator.api import SECOND
from simulator.compare.answer import Comparison
from simulator.compare.comparison_run import Side
from simulator.compare.outside_comparison import OutsideComparison
from simulator.compare.recorded_history import read_history
from simulator.recording import record_decoder
from tests.loop.conftest import node, pod
from tests.loop.test_outside import START, STILL, bind, slices_of
from tests.simulator.controllers.workloads import workload


@pytest.fixture
def sandbox(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    meta = Meta(sandbox_name, seed=1)
    yield write.create_sandbox(store, meta, [node("n0"), node("n1")], Clock(START, time.time(), STILL))
    store.delete(sandbox_name)


def compare(sandbox: Sandbox, seconds: int = 3600) -> Comparison:
    history = read_history(record_decoder.decode(line) for line in recording_lines(sandbox))
    run = OutsideComparison(history, Side(), seconds * SECOND)
    shares = [*run.run()]
    assert shares == sorted(shares)
    assert shares[-1] == 1.0
    return run.result()


def page_of(store: Store, client: Client, asked: dict[str, str]) -> str:
    """The page of a finished comparison."""
    jobs = JobStore(store, COMPARISONS)
    job = jobs.submit(ComparisonJob(request=parse_comparison(store, asked)))
    turns = comparison_turns(store)
    while turns.run_turn(job.key) is not None:
        pass
    return client.get(f"/compare/{job.id}/").content.decode()


def test_the_first_pod_that_the_model_places_elsewhere(
    store: Store, sandbox: Sandbox, client: Client
) -> None:
    slice_at = slices_of(store, sandbox)
    slice_at(1)
    schedulers.configure(sandbox, None, [], stands_down=True)
    slice_at(2)
    # The outside scheduler binds each pod to n0, which the leader observes after three seconds.
    for number in range(4):
        write.create(sandbox, [pod(f"p{number}", "1", schedulerName="other")])
        slice_at(10 * number + 10)
        slice_at(10 * number + 12)
        bind(sandbox, f"p{number}")
        slice_at(10 * number + 13)
    removal.delete(sandbox, "pods", "default/p0")
    slice_at(80)
    write.create(sandbox, [workload("ReplicaSet", pod={"schedulerName": "other"}, replicas=2)])
    slice_at(90)
    generated = [name for name in sandbox.names("pods") if "/web-" in name]
    assert len(generated) == 2
    bind(sandbox, generated[0].removeprefix("default/"))
    slice_at(100)

    found = compare(sandbox)
    assert found.complete
    assert found.pods
    first = found.pods.first
    assert first
    assert first.a == "n0"
    assert first.b == "n1"
    assert first.pod in ("default/p0", "default/p1")
    assert first.decision
    assert first.decision.selected == "n1"
    assert first.a_time is not None
    assert first.b_time is not None
    assert first.a_time - first.b_time == 3 * SECOND, "the model needs no time"
    assert found.pods.same + found.pods.different == 6
    assert found.reference["cpu"] == 1000
    assert found.a.bound == 5
    assert found.b.bound == 6
    waits = found.a.waits[0]
    assert (waits.median, waits.pending) == (3 * SECOND, 1)

    asked = {"workload": f"sandbox:{sandbox.name}", "a": "recorded", "b": "own", "until": "10m"}
    html = page_of(store, client, asked)
    assert "First difference: p0" in html
    assert "n0, after 11s" in html
    assert "why the outside scheduler chose this cannot be seen" in html
    assert "Scheduling cycles" not in html
    for wrong, field in (({"b": "recorded"}, "b"), ({"workload": "scenario:gang"}, "a")):
        with pytest.raises(InvalidField) as refused:
            parse_comparison(store, {**asked, **wrong})
        assert refused.value.field == field

    assert "when the sandbox&#x27;s scheduler stood down" in html
    whole = page_of(store, client, {**asked, "until": ""})
    assert "1m38s of simulated time" in whole

    short = compare(sandbox, 15)
    assert short.pods
    assert short.pods.same + short.pods.different == 1


def begin_another_term(sandbox: Sandbox) -> None:
    """Free the lease, which the next slice takes again."""
    lease = sandbox.lease()
    assert lease
    sandbox.release_lease(lease)


def test_the_comparison_covers_the_terms_of_several_leaders(store: Store, sandbox: Sandbox) -> None:
    slice_at = slices_of(store, sandbox)
    slice_at(1)
    write.create(sandbox, [pod("before")])
    slice_at(5)
    schedulers.switch_scheduler(sandbox, stands_down=True)
    slice_at(10)
    for number in range(3):
        write.create(sandbox, [pod(f"p{number}", "1")])
        slice_at(10 * number + 12)
        bind(sandbox, f"p{number}")
        slice_at(10 * number + 14)
        begin_another_term(sandbox)
        slice_at(10 * number + 16)
    schedulers.switch_scheduler(sandbox, stands_down=False)
    write.create(sandbox, [pod("after")])
    slice_at(50)
    slice_at(51)
    assert (sandbox.get("pods", "default/after") or {})["spec"]["nodeName"]

    found = compare(sandbox)
    assert found.start == START + 10 * SECOND
    assert found.pods
    assert found.pods.since == "stood-down"
    assert found.pods.same + found.pods.different == 4, "three of the outside scheduler, and one after it"
    assert found.a.bound == found.b.bound == 4


def test_without_a_stand_down_the_comparison_begins_before_the_first_outside_binding(
    store: Store, sandbox: Sandbox
) -> None:
    slice_at = slices_of(store, sandbox)
    slice_at(1)
    write.create(sandbox, [pod("own"), pod("theirs", schedulerName="other")])
    for second in (5, 10, 15):
        slice_at(second)
        begin_another_term(sandbox)
    slice_at(20)
    bind(sandbox, "theirs")
    slice_at(25)
    begin_another_term(sandbox)
    slice_at(30)
    found = compare(sandbox)
    assert found.start == START + 20 * SECOND
    assert found.pods
    assert found.pods.since == "bound"
    assert found.pods.same + found.pods.different == 1


def test_the_attempts_of_a_played_history_are_decided_by_another_version(
    store: Store, sandbox: Sandbox, client: Client
) -> None:
    slice_at = slices_of(store, sandbox)
    slice_at(1)
    tainted = {**node("n2"), "spec": {"taints": [{"key": "spot", "effect": "NoSchedule"}]}}
    write.create(sandbox, [tainted, pod("small"), pod("large", "1000")])
    slice_at(5)
    asked = {"workload": f"sandbox:{sandbox.name}", "a": "recorded", "b": "own", "until": ""}
    assert "would end otherwise" not in page_of(store, client, asked)
    page = " ".join(page_of(store, client, {**asked, "b_kubernetes": "v1.36.2"}).split())
    assert "in the cluster as it was: 1 of 2 would end otherwise." in page
    assert '<small lang="en">taint_message_names_taint</small>' in page

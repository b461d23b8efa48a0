"""What the pages say of outside schedulers."""

from collections.abc import Iterator

import pytest
from django.test import Client, RequestFactory

from schedviz.api import schedulers, write
from schedviz.routes import is_of_api
from schedviz.store import Clock, Commit, Meta, Sandbox, Store
from schedviz.web.picture.outside_latency import (
    Percentiles,
    Waits,
    duration,
    latencies,
    note_binding,
    percentile,
)
from simulator.api import SECOND
from simulator.trace import OutsideBound, OutsideFailed, OutsidePreempted, QueuePlace
from tests.loop.conftest import node, pod

NOW = 1_735_689_600 * SECOND
HTMX = {"HX-Request": "true"}
MESSAGE = "0/1 nodes are available: 1 Insufficient cpu."


@pytest.fixture
def sandbox(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    """A sandbox without a leader: the test writes what a leader would write."""
    clock = Clock(NOW, 1.0, paused=True)
    made = write.create_sandbox(
        store, Meta(sandbox_name), [node("n0"), pod("theirs", schedulerName="other")], clock
    )
    manifest = made.get("pods", "default/theirs")
    assert manifest
    entry = QueuePlace(
        pod="default/theirs",
        uid=manifest["metadata"]["uid"],
        lane="outside",
        priority=0,
        since=NOW,
        queued=NOW,
        attempts=0,
        message=MESSAGE,
        scheduler="other",
    )
    events = [
        OutsideFailed(
            t=NOW, pod="default/theirs", scheduler="other", reason="Unschedulable", message=MESSAGE
        ),
        OutsideBound(
            t=NOW, pod="default/gone", node="n0", scheduler="other", waited=2 * SECOND, waited_wall=35_000
        ),
        OutsidePreempted(
            t=NOW,
            pod="default/victim",
            node="n0",
            scheduler="other",
            preemptor="default/theirs",
            grace_seconds=30,
        ),
    ]
    made.commit(Commit(queue_places={entry.pod: entry}, trace=events, now=NOW))
    yield made
    store.delete(sandbox_name)


def test_the_page_shows_the_lane_the_acts_and_the_latency(client: Client, sandbox: Sandbox) -> None:
    html = client.get(f"/s/{sandbox.name}/").content.decode()
    assert "Outside scheduler <span" in html
    assert "last binding" in html
    assert html.count("<td>35 ms</td>") == 2
    assert html.count("<td>2 s</td>") == 2
    assert "Pause and Step do not hold it" in html
    assert "its grace period is 30 s" in html

    panel = client.get(f"/s/{sandbox.name}/pods/default/theirs/", headers=HTMX).content.decode()
    assert "waiting for the outside scheduler other since" in panel
    assert MESSAGE in panel
    assert "What would the model say?" in panel

    asked = client.get(f"/s/{sandbox.name}/pods/default/theirs/whatif/", headers=HTMX).content.decode()
    assert "other may decide otherwise" in asked
    predict = client.get(f"/s/{sandbox.name}/predict/", headers=HTMX).content.decode()
    assert "those that wait are for an outside scheduler" in predict


def test_the_page_of_a_sandbox_whose_scheduler_stands_down(client: Client, sandbox: Sandbox) -> None:
    page, panel = f"/s/{sandbox.name}/", f"/s/{sandbox.name}/outside/"
    html = client.get(page).content.decode()
    assert 'id="t-cycle"' in html
    assert "0.25\u00d7" in html
    assert "No scheduling cycle yet" in html
    connect = client.get(panel).content.decode()
    assert 'value="stand-down"' in connect
    assert f"guest_scheduler.py http://testserver/s/{sandbox.name} guest" in connect

    schedulers.switch_scheduler(sandbox, stands_down=True)
    html = client.get(page).content.decode()
    for name in ("t-next", "t-cycle", "t-predict"):
        assert f'id="{name}"' not in html, "there are no cycles"
    assert "Scheduler stands down" in html
    assert "No scheduling cycle yet" not in html
    assert "Pods that wait" in html
    assert "last acts, one mark each" in html
    acts = html[html.index('id="cycle-acts"') :]
    assert acts.index("preempted on n0") < acts.index("bound to n0 after 35 ms real, 2 s simulated")
    assert acts.count("Insufficient cpu") >= 1
    assert "lane-activeQ brief" in html
    connect = client.get(panel).content.decode()
    assert 'value="take-over"' in connect
    assert f"guest_scheduler.py http://testserver/s/{sandbox.name} default-scheduler" in connect

    predict = client.get(f"/s/{sandbox.name}/predict/", headers=HTMX).content.decode()
    assert "those that wait are for an outside scheduler" in predict
    assert "Pause and begin" not in predict
    past = client.get(f"{page}at/{sandbox.trace_head()}/").content.decode()
    assert "stood down at this moment" in past
    assert "Schedule again" not in past


def test_the_switch_on_the_page_and_of_the_api(client: Client, store: Store, sandbox: Sandbox) -> None:
    form, settings = f"/s/{sandbox.name}/scheduler/", f"/s/{sandbox.name}/scheduler"
    rest = {"kubernetes": "v1.34.1", "featureGates": {}}
    assert client.get(settings).json() == {"standsDown": False, "configuration": None, **rest}
    assert "Stand down" in client.get(form).content.decode()
    assert client.post(form, {"do": "stand-down"}, headers=HTMX).status_code == 204
    assert sandbox.meta().stands_down
    assert client.get(settings).json()["standsDown"] is True
    assert "Schedule again" in client.get(form).content.decode()
    assert "This sandbox&#x27;s scheduler stands down" in client.get(f"/s/{sandbox.name}/").content.decode()

    def change(data: object) -> tuple[int, object]:
        answer = client.patch(settings, data, content_type="application/json")
        return answer.status_code, answer.json()

    packing = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    assert change({"standsDown": False}) == (200, {"standsDown": False, "configuration": None, **rest})
    assert change({"configuration": packing}) == (
        200,
        {"standsDown": False, "configuration": packing, **rest},
    )
    gates = {"StorageCapacityScoring": True}
    code, status = change({"featureGates": gates})
    assert (code, status) == (
        200, {"standsDown": False, "configuration": packing, **rest, "featureGates": gates},
    )  # fmt: skip
    code, status = change({"featureGates": {"No": True}})
    assert code == 422
    assert "featureGates: unrecognized feature gate: No" in str(status)
    code, status = change({"configuration": packing | {"parallelism": 0}})
    assert code == 422
    assert "parallelism" in str(status)
    code, status = change({"standsDown": "yes"})
    assert code == 400
    assert "standsDown" in str(status)
    assert change({"other": 1})[0] == 400
    assert client.delete(settings).status_code == 405
    assert sandbox.meta().config == packing
    assert client.get("/s/none/scheduler").status_code == 404
    # Errors of the API are a Status. The Django view of the same name responds with pages.
    requests = RequestFactory()
    assert is_of_api(requests.get(settings))
    assert not is_of_api(requests.get(form))

    made = client.post("/api/sandboxes", {"stands_down": True}, content_type="application/json").json()
    assert made["stands_down"] is True
    store.delete(made["name"])


def test_latency_is_of_the_last_bindings_of_each_scheduler() -> None:
    waits: Waits = {}
    for number in range(1, 101):
        event = OutsideBound(
            t=NOW,
            pod="a/b",
            node="n",
            scheduler="other" if number > 4 else f"s{number}",
            waited=number * SECOND,
            waited_wall=None if number % 2 else number * 1000,
        )
        note_binding(waits, event)
    found = {each.scheduler: each for each in latencies(waits)}
    assert found["other"].bound == 96
    assert found["other"].simulated == Percentiles("52 s", "96 s")
    assert found["other"].real == Percentiles("52 ms", "96 ms")
    assert found["s1"].real is None


def test_a_percentile_is_one_of_the_values() -> None:
    assert percentile([3, 1, 2], 50) == 2
    assert percentile([7], 95) == 7
    assert percentile([*range(1, 21)], 95) == 19


def test_durations_have_the_unit_of_their_size() -> None:
    assert [duration(micros) for micros in (1_400, 999_400, 1_234_567, 119_400_000, 3_600_000_000)] == [
        "1 ms", "999 ms", "1.23 s", "119 s", "60 min",
    ]  # fmt: skip


def test_the_latency_of_several_schedulers_is_folded(client: Client, sandbox: Sandbox) -> None:
    page = f"/s/{sandbox.name}/"
    assert 'class="latency-of"' not in client.get(page).content.decode()
    theirs = OutsideBound(
        t=NOW, pod="default/gone", node="n0", scheduler="volcano", waited=SECOND, waited_wall=None
    )
    sandbox.commit(Commit(trace=[theirs], now=NOW))
    html = client.get(page).content.decode()
    assert html.count('class="latency-of"') == 2
    folded = html[html.index('id="latency-volcano"') :]
    assert "<b>1 s</b>" in folded
    assert 'id="latency-other"' in html

"""The metrics of a scheduler, from its trace, its decisions and its queue, on a real Simulation."""

import itertools

import pytest

from schedviz.api import write
from schedviz.loop.driver import Driver
from schedviz.loop.observer import WorkObserver, measured_plugins
from schedviz.loop.presence import Presence
from schedviz.loop.wakes import Wakes
from schedviz.metrics.registry import Series, counters, gauges
from schedviz.store import Meta, Store
from simulator.api import Storage
from simulator.apiserver.component_writes import MakeServer
from simulator.simulation import Options, Simulation
from tests.loop.conftest import node, pod

numbers = itertools.count()


def simulation(api: Storage, server: MakeServer, options: Options) -> Simulation:
    return Simulation(
        api, server, options, plugins=measured_plugins(options.features()), observer=WorkObserver()
    )


@pytest.fixture
def driver(store: Store) -> Driver:
    presence = Presence(store, f"meter-{next(numbers)}")
    presence.beat()
    return Driver(store, Wakes(store), presence, simulation)


def grown(before: dict[Series, float], name: str, **labels: str) -> float:
    """The increase of the counters with this name and these labels."""
    return sum(
        value - before.get(series, 0.0)
        for series, value in counters().items()
        if series.name == name and labels.items() <= dict(series.labels).items()
    )


def value(name: str, **labels: str) -> float:
    return gauges().get(Series(name, tuple(sorted(labels.items()))), 0.0)


def test_a_run_is_counted_as_kube_scheduler_counts_it(
    store: Store, driver: Driver, sandbox_name: str
) -> None:
    before = counters()
    made = [
        node("n"),
        pod("small", cpu="2"),
        pod("large", cpu="64"),
        pod("gated", schedulingGates=[{"name": "g"}]),
    ]
    sandbox = write.create_sandbox(store, Meta(name=sandbox_name, created=1_700_000_000.0), made)
    driver.slice(sandbox.name, None)
    attempts = "scheduler_schedule_attempts_total"
    profile = "default-scheduler"
    assert grown(before, attempts, result="scheduled", profile=profile) == 1
    assert grown(before, attempts, result="unschedulable", profile=profile) == 1
    duration = "scheduler_scheduling_attempt_duration_seconds_count"
    assert grown(before, duration, result="scheduled", profile=profile) == 1
    assert grown(before, duration, result="unschedulable", profile=profile) == 1
    assert grown(before, "scheduler_pod_scheduling_sli_duration_seconds_count", attempts="1") == 1
    assert grown(before, "scheduler_pod_scheduling_attempts_count") == 1
    assert grown(before, "scheduler_preemption_attempts_total") == 1
    assert grown(before, "scheduler_preemption_victims_count") == 0
    incoming = "scheduler_queue_incoming_pods_total"
    assert grown(before, incoming, queue="active", event="UnschedulablePodAdd") == 2
    assert grown(before, incoming, queue="unschedulable", event="ScheduleAttemptFailure") == 1
    points = "scheduler_framework_extension_point_duration_seconds_count"
    assert grown(before, points, extension_point="Filter", status="Success", profile=profile) == 2
    assert grown(before, points, extension_point="PostFilter", status="Unschedulable", profile=profile) == 1
    assert grown(before, "schedviz_commit_duration_seconds_count", writer="leader") > 0
    assert grown(before, "schedviz_commit_duration_seconds_count", writer="client") == 1
    assert grown(before, "schedviz_slice_duration_seconds_count") == 1

    driver.measure()
    assert value("scheduler_pending_pods", queue="unschedulable") == 1
    assert value("scheduler_pending_pods", queue="gated") == 1
    assert value("scheduler_pending_pods", queue="active") == 0
    assert value("scheduler_unschedulable_pods", plugin="NodeResourcesFit", profile=profile) == 1
    assert value("schedviz_sandboxes_awake") == 1
    driver._forget(sandbox.name)
    driver.measure()
    assert value("scheduler_pending_pods", queue="gated") == 0
    store.delete(sandbox.name)


def test_victims_and_plugins_are_counted(store: Store, driver: Driver, sandbox_name: str) -> None:
    before = counters()
    priority = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
    }
    small = [pod(f"small-{number}", cpu="300m") for number in range(10)]
    high = pod("high", cpu="3", priorityClassName="high")
    sandbox = write.create_sandbox(
        store, Meta(name=sandbox_name, created=1_700_000_000.0), [node("n"), priority, *small]
    )
    driver.slice(sandbox.name, None)
    write.create(sandbox, [high])
    driver.slice(sandbox.name, None)
    assert grown(before, "scheduler_preemption_attempts_total") == 1
    assert grown(before, "scheduler_preemption_victims_count") == 1
    assert grown(before, "scheduler_preemption_victims_sum") == 7
    assert grown(before, "scheduler_schedule_attempts_total", result="unschedulable") == 1
    # Plugins are measured in the tenth cycle.
    name = "scheduler_plugin_execution_duration_seconds_count"
    assert grown(before, name, plugin="NodeResourcesFit", extension_point="Filter", status="Success") == 1
    assert grown(before, name, plugin="InterPodAffinity", extension_point="PreFilter", status="Skip") == 1
    store.delete(sandbox.name)


def test_names_that_users_choose_are_not_used_as_labels(
    store: Store, driver: Driver, sandbox_name: str
) -> None:
    before = counters()
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "mine"}],
    }
    sandbox = write.create_sandbox(
        store,
        Meta(name=sandbox_name, created=1_700_000_000.0, config=config),
        [node("n"), pod("p", schedulerName="mine")],
    )
    driver.slice(sandbox.name, None)
    assert grown(before, "scheduler_schedule_attempts_total", result="scheduled", profile="other") == 1
    assert "mine" not in {label for series in counters() for _, label in series.labels}
    store.delete(sandbox.name)

"""Pods run and end on their nodes."""

from simulator import trace
from simulator.simulation import Options
from tests.simulator.lab import Lab, node, pod

RUNS = {"schedviz/run-seconds": "10"}


def test_a_pod_runs_as_long_as_its_annotation_says_and_is_removed_after_its_ttl() -> None:
    lab = Lab()
    lab.create(node("n1"), pod("job", annotations={**RUNS, "schedviz/ttl-seconds-after-finished": "5"}))
    lab.run(10.9)
    assert lab.pod("job")["status"]["phase"] == "Running"
    lab.run(0.2)
    assert lab.pod("job")["status"]["phase"] == "Succeeded"
    [status] = lab.pod("job")["status"]["containerStatuses"]
    assert status["state"]["terminated"]["reason"] == "Completed"
    assert lab.condition("job", "Ready")["reason"] == "PodCompleted"
    lab.run(10)
    assert not lab.exists("job")
    assert [lab.seconds(event) for event in lab.of(trace.PodFinished)] == [11]
    assert [lab.seconds(event) for event in lab.of(trace.PodRemoved)] == [16]


def test_a_finished_pod_frees_its_resources_and_stays_without_a_ttl() -> None:
    lab = Lab()
    lab.create(node("n1", cpu="1"), pod("job", annotations=RUNS), pod("next"))
    lab.run(5)
    assert lab.lane("next") == "unschedulable"
    lab.run(60)
    assert lab.node_of("next") == "n1"
    assert lab.exists("job")


def test_a_pod_created_with_a_node_name_runs_from_the_start() -> None:
    lab = Lab()
    lab.create(node("n1"), pod("placed", nodeName="n1"))
    lab.run(0)
    assert [lab.seconds(event) for event in lab.of(trace.PodStarted)] == [0]
    assert lab.condition("placed", "PodScheduled")["status"] == "True"
    assert lab.decisions == []


def test_a_deleted_pod_ends_within_its_grace_period() -> None:
    lab = Lab()
    lab.create(node("n1"), pod("calm", terminationGracePeriodSeconds=7), pod("usual"))
    lab.create(pod("hasty", terminationGracePeriodSeconds=0))
    lab.run(10)
    for name in ("calm", "usual", "hasty"):
        lab.delete_pod(name)
    lab.run(60)
    gone = {event.pod: lab.seconds(event) for event in lab.of(trace.PodRemoved)}
    assert gone == {"default/hasty": 10, "default/calm": 17, "default/usual": 40}


def test_pods_bound_to_a_missing_node_start_when_it_is_created() -> None:
    lab = Lab()
    lab.create(pod("placed", nodeName="n1"))
    lab.run(10)
    assert lab.pod("placed")["status"]["phase"] == "Pending"
    lab.create(node("n1"))
    lab.run(1)
    assert lab.pod("placed")["status"]["phase"] == "Running"


def test_a_new_leader_ends_pods_at_the_same_moment() -> None:
    lab = Lab()
    lab.create(node("n1"), pod("job", annotations=RUNS), pod("ends", terminationGracePeriodSeconds=9))
    lab.run(5)
    lab.delete_pod("ends")
    new_leader = Lab(Options(), api=lab.api, now=lab.now)
    new_leader.run(60)
    assert [new_leader.seconds(event) for event in new_leader.of(trace.PodFinished)] == [11]
    assert [new_leader.seconds(event) for event in new_leader.of(trace.PodRemoved)] == [14]


def test_pods_of_a_deleted_node_are_deleted() -> None:
    lab = Lab()
    lab.create(node("n1"), node("n2"), pod("a", nodeName="n1"), pod("b", nodeName="n2"))
    lab.run(10)
    lab.delete("nodes", "n1")
    lab.delete("nodes", "n2")
    lab.run(30)
    lab.create(node("n2"))
    lab.run(60)
    assert not lab.exists("a")
    assert lab.exists("b")
    assert [lab.seconds(event) for event in lab.of(trace.PodRemoved)] == [50]

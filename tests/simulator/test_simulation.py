"""Pods in the whole simulated cluster, from creation to their end."""

from collections.abc import Sequence
from typing import Any

import msgspec

from simulator import trace
from simulator.api import SECOND, ApiError, Change
from simulator.decision_columns import plain_encoder
from simulator.memory import MemoryStorage
from simulator.plugins.node_name import NodeName
from simulator.plugins.registry import in_tree
from simulator.simulation import Options
from tests.simulator.lab import Lab, node, pod, priority_class

PACE = Options(pace=SECOND // 2)


def test_a_pod_goes_through_the_queue_to_a_node_and_runs() -> None:
    lab = Lab(PACE)
    lab.create(node("n1"), pod("web"))
    lab.run(5)
    assert lab.moves("web") == [
        ("", "activeQ", "UnschedulablePodAdd"),
        ("activeQ", "inFlight", "Pop"),
        ("inFlight", "", "AssignedPodAdd"),
    ]
    [bound], [started] = lab.of(trace.Bound), lab.of(trace.PodStarted)
    assert (lab.seconds(bound), bound.node, bound.cycle) == (0.5, "n1", 1)
    assert lab.seconds(started) == 1.5
    assert lab.pod("web")["status"]["phase"] == "Running"
    assert lab.condition("web", "PodScheduled")["status"] == "True"
    assert lab.condition("web", "Ready")["status"] == "True"
    assert [d.selected for d in lab.decisions] == ["n1"]
    assert lab.lanes == {}


def test_a_pod_without_resources_waits_until_a_node_with_resources_is_added() -> None:
    lab = Lab()
    lab.create(node("small", cpu="1"), pod("big", cpu="3"))
    lab.run(2)
    assert lab.lane("big") == "unschedulable"
    assert lab.lanes["default/big"].plugins == ["NodeResourcesFit"]
    message = "0/1 nodes are available: 1 Insufficient cpu."
    assert lab.condition("big", "PodScheduled")["message"].startswith(message)
    assert lab.lanes["default/big"].message.startswith(message)
    lab.create(node("tiny", cpu="2"))
    lab.run(1)
    assert lab.lane("big") == "unschedulable"
    lab.create(node("large", cpu="8"))
    lab.run(1)
    assert lab.node_of("big") == "large"
    woken = [event for event in lab.of(trace.QueueMoved) if event.event == "NodeAdd"]
    assert [(event.pod, event.plugin) for event in woken] == [("default/big", "NodeResourcesFit")]


def preemption() -> Lab:
    lab = Lab()
    lab.create(priority_class("high", 1000), node("n1", cpu="4"))
    lab.create(*(pod(f"low-{i}", cpu="2", terminationGracePeriodSeconds=5) for i in range(2)))
    lab.run(10)
    lab.create(pod("urgent", cpu="3", priorityClassName="high"))
    return lab


def test_a_preemptor_is_bound_when_its_victims_have_ended_in_their_own_time() -> None:
    lab = preemption().run(1)
    [nominated] = lab.of(trace.Nominated)
    assert (nominated.pod, nominated.node) == ("default/urgent", "n1")
    assert sorted(nominated.victims) == ["default/low-0", "default/low-1"]
    assert lab.pod("urgent")["status"]["nominatedNodeName"] == "n1"
    assert lab.lane("urgent") == "unschedulable"
    assert lab.lanes["default/urgent"].nominated_node == "n1"
    for victim in ("low-0", "low-1"):
        disrupted = lab.condition(victim, "DisruptionTarget")
        assert disrupted["reason"] == "PreemptionByScheduler"
        assert lab.pod(victim)["metadata"]["deletionGracePeriodSeconds"] == 5
    lab.run(3)
    assert lab.exists("low-0")
    assert not lab.node_of("urgent")
    lab.run(3)
    assert not lab.exists("low-0")
    assert not lab.exists("low-1")
    assert lab.node_of("urgent") == "n1"
    assert [lab.seconds(event) for event in lab.of(trace.PodRemoved)] == [15, 15]
    assert [event.outcome for event in lab.decisions[-2:]] == ["preempting", "scheduled"]


def test_resources_freed_by_victims_are_reserved_for_the_preemptor() -> None:
    lab = preemption().run(1)
    lab.create(pod("latecomer", cpu="2"))
    lab.run(30)
    assert lab.node_of("urgent") == "n1"
    assert lab.lane("latecomer") == "unschedulable"


def test_a_preemptor_of_higher_priority_clears_the_nomination_of_a_lower_one() -> None:
    lab = preemption().run(1)
    lab.create(priority_class("highest", 2000), pod("boss", cpu="4", priorityClassName="highest"))
    lab.run(1)
    assert lab.pod("boss")["status"]["nominatedNodeName"] == "n1"
    lab.run(10)
    assert lab.node_of("boss") == "n1"
    assert lab.lane("urgent") == "unschedulable"
    assert "nominatedNodeName" not in lab.pod("urgent")["status"]


def test_resources_freed_for_a_deleted_preemptor_are_available_to_other_pods() -> None:
    lab = preemption().run(1)
    lab.create(pod("waiting", cpu="1"))
    lab.run(1)
    assert lab.lane("waiting") == "unschedulable"
    lab.delete_pod("urgent")
    lab.run(10)
    assert lab.node_of("waiting") == "n1"
    assert "default/urgent" not in lab.lanes


def test_pods_with_preemption_policy_never_evict_no_pod() -> None:
    lab = Lab()
    polite = {**priority_class("polite", 1000), "preemptionPolicy": "Never"}
    lab.create(polite, node("n1"), pod("low", cpu="4"))
    lab.run(5)
    lab.create(pod("waits", cpu="4", priorityClassName="polite"))
    lab.run(60)
    assert lab.lane("waits") == "unschedulable"
    assert lab.exists("low")
    assert "preemption: not eligible due to preemptionPolicy=Never." in lab.lanes["default/waits"].message


def test_a_gated_pod_is_not_tried_until_its_gate_is_lifted() -> None:
    lab = Lab()
    lab.create(node("n1"), pod("gated", schedulingGates=[{"name": "example.com/quota"}]))
    lab.run(400)
    assert lab.lane("gated") == "gated"
    assert lab.lanes["default/gated"].gate == "SchedulingGates"
    assert lab.decisions == []
    lab.update("pods", "default/gated", lambda p: {**p, "spec": {**p["spec"], "schedulingGates": []}})
    lab.run(5)
    assert lab.node_of("gated") == "n1"


def test_a_pod_that_no_event_moved_is_tried_again_after_five_minutes() -> None:
    lab = Lab()
    lab.create(node("n1", cpu="1"), pod("big", cpu="3"))
    lab.run(299)
    assert len(lab.decisions) == 1
    lab.run(61)
    timeouts = [event for event in lab.of(trace.QueueMoved) if event.event == "UnschedulableTimeout"]
    assert [lab.seconds(event) for event in timeouts] == [330]
    assert len(lab.decisions) == 2


def test_each_pod_is_scheduled_by_the_profile_that_it_names() -> None:
    packing = {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}
    args = [{"name": "NodeResourcesFit", "args": {"scoringStrategy": packing}}]
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{}, {"schedulerName": "packer", "pluginConfig": args}],
    }
    lab = Lab(Options(config=config))
    lab.create(node("busy"), node("idle"), pod("there", cpu="2", nodeName="busy"))
    lab.create(pod("spread"), pod("packed", schedulerName="packer"), pod("other", schedulerName="mine"))
    lab.run(5)
    assert (lab.node_of("spread"), lab.node_of("packed")) == ("idle", "busy")
    assert not lab.node_of("other")
    assert lab.lane("other") == "outside"


def test_the_search_of_a_cycle_begins_where_that_of_the_cycle_before_it_ended() -> None:
    """Without a score plugin, the first feasible node ends the search."""
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"score": {"disabled": [{"name": "*"}]}}}],
    }
    lab = Lab(Options(config=config))
    lab.create(node("n0"), node("n1"), node("n2"), *(pod(name) for name in "abcd"))
    lab.run(5)
    assert [lab.node_of(name) for name in "abcd"] == ["n0", "n1", "n2", "n0"]


class Broken(NodeName):
    def filter(self, state: Any, pod: Any, nodes: Any) -> Any:
        if pod.labels["app"] == "unlucky":
            raise ZeroDivisionError("by zero")
        return super().filter(state, pod, nodes)


def test_a_plugin_that_raises_fails_one_attempt_and_not_the_loop() -> None:
    lab = Lab(plugins={**in_tree(), "NodeName": Broken})
    lab.create(node("n1"), pod("unlucky"), pod("lucky"))
    lab.run(0.5)
    assert lab.node_of("lucky") == "n1"
    [fault] = lab.of(trace.SchedulerError)
    assert fault.message == "ZeroDivisionError: by zero"
    assert lab.lane("unlucky") == "backoffQ"
    assert lab.condition("unlucky", "PodScheduled")["reason"] == "SchedulerError"
    lab.run(30)
    backoffs = [lab.seconds(event) for event in lab.of(trace.SchedulerError)]
    assert backoffs == [0, 2, 5, 10, 19, 30]


class Grudging(MemoryStorage):
    """Refuses the first binding, as after a conflicting write or a deletion of the pod."""

    def __init__(self, reason: Any) -> None:
        super().__init__()
        self.reason = reason
        self.refusals = 1

    def commit(self, changes: Sequence[Change]) -> list[int]:
        for change in changes:
            binds = change.expected and change.object and change.object["spec"].get("nodeName")
            if change.resource == "pods" and binds and self.refusals:
                self.refusals -= 1
                if self.reason == "Conflict":
                    # Somebody labels the pod at this very moment.
                    pod = self.objects["pods"][change.key]
                    labels = {**pod["metadata"]["labels"], "quick": "yes"}
                    metadata = {**pod["metadata"], "labels": labels}
                    super().commit([Change("pods", change.key, {**pod, "metadata": metadata})])
                raise ApiError(self.reason, change.resource, change.key)
        return super().commit(changes)


def test_a_binding_is_repeated_on_a_newer_version_of_the_pod() -> None:
    lab = Lab(api=Grudging("Conflict"))
    lab.create(node("n1"), pod("web"))
    lab.run(5)
    assert lab.node_of("web") == "n1"
    assert lab.pod("web")["metadata"]["labels"]["quick"] == "yes"
    assert len(lab.of(trace.Bound)) == len(lab.decisions) == 1


def test_a_refused_binding_requeues_the_pod_and_frees_its_resources() -> None:
    lab = Lab(api=Grudging("AlreadyExists"))
    lab.create(node("n1", cpu="1"), pod("web"))
    lab.run(0.5)
    [failed] = lab.of(trace.BindFailed)
    assert failed.node == "n1"
    assert lab.lane("web") == "backoffQ"
    lab.run(5)
    assert lab.node_of("web") == "n1"


def test_a_pod_that_is_deleted_during_its_cycle_frees_its_resources() -> None:
    lab = Lab(PACE)
    lab.create(node("n1", cpu="1"), pod("web"))
    lab.run(0.2)
    assert lab.lane("web") == "inFlight"
    lab.delete_pod("web")
    lab.create(pod("next"))
    lab.run(5)
    assert lab.node_of("next") == "n1"
    assert lab.lanes == {}
    assert [event.pod for event in lab.of(trace.BindFailed)] == ["default/web"]


def test_the_same_inputs_give_the_same_trace_byte_for_byte() -> None:
    def story() -> bytes:
        lab = Lab(msgspec.structs.replace(PACE, seed=7))
        lab.create(priority_class("high", 1000), *(node(f"n{i}") for i in range(5)))
        lab.create(*(pod(f"p{i}", annotations={"schedviz/run-seconds": "9"}) for i in range(30)))
        lab.run(3)
        lab.create(*(pod(f"u{i}", cpu="2", priorityClassName="high") for i in range(3)))
        lab.delete("nodes", "n2")
        lab.run(60)
        return msgspec.json.encode(lab.trace) + plain_encoder.encode(lab.decisions)

    first = story()
    assert first == story()
    assert len(first) > 10_000


def test_a_new_leader_restores_its_state_from_the_api_server() -> None:
    """A new leader has only what is stored, and continues from there."""
    lab = Lab(PACE)
    lab.create(priority_class("high", 1000), node("n1", cpu="2"))
    lab.create(pod("low", cpu="2", terminationGracePeriodSeconds=4))
    lab.run(5)
    lab.create(pod("urgent", cpu="2", priorityClassName="high"))
    lab.run(1)
    assert lab.pod("urgent")["status"]["nominatedNodeName"] == "n1"
    new_leader = Lab(PACE, api=lab.api, now=lab.now)
    new_leader.run(10)
    assert new_leader.node_of("urgent") == "n1"
    assert not new_leader.exists("low")
    assert [event.outcome for event in new_leader.decisions] == ["unschedulable", "scheduled"]


def test_trace_events_have_the_time_at_which_work_was_due_and_not_that_of_the_call() -> None:
    """The trace events of a step that is called late have the time at which its work was due."""
    lab = Lab(PACE)
    lab.create(node("n1"), *(pod(f"p{i}") for i in range(3)))
    lab.run(0)
    lab.now += 100 * SECOND
    lab.run(0)
    assert [lab.seconds(event) for event in lab.of(trace.Bound)] == [0.5, 1, 1.5]
    assert [lab.seconds(event) for event in lab.of(trace.PodStarted)] == [1.5, 2, 2.5]


def test_a_change_from_outside_is_observed_before_earlier_work_which_then_runs_late() -> None:
    lab = Lab()
    lab.create(node("n1", cpu="1"), pod("first", annotations={"schedviz/run-seconds": "5"}))
    lab.run(2)
    [started] = lab.of(trace.PodStarted)
    lab.now += 10 * SECOND
    lab.create(pod("second"))
    lab.run(0)
    [finished] = lab.of(trace.PodFinished)
    added = next(event for event in lab.of(trace.QueueMoved) if event.pod == "default/second")
    tried = next(event for event in lab.of(trace.CycleStarted) if event.pod == "default/second")
    assert started.t + 5 * SECOND < finished.t == added.t == tried.t, "all at the time of the call"
    order = [event for event in lab.trace if event in (added, finished, tried)]
    assert order == [added, finished, tried]

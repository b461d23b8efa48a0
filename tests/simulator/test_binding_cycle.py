"""The binding cycle: Reserve, Permit, PreBind, Bind, PostBind, and Unreserve after a failure."""

from typing import Any, ClassVar

import pytest

from simulator import trace
from simulator.api import SECOND, Change, Manifest
from simulator.framework.cluster_event import NODE, ActionType
from simulator.framework.cycle_state import CycleState
from simulator.framework.interface import (
    BindPlugin,
    EnqueueExtensions,
    PermitPlugin,
    PostBindPlugin,
    PreBindPlugin,
    ReservePlugin,
)
from simulator.framework.queueing_hint import ClusterEventWithHint, register
from simulator.framework.status import SKIP, Status, error, unschedulable
from simulator.kernel.requests import Refused, Steps, Wait, Write, Written
from simulator.objects.pod import Pod
from simulator.plugins.registry import in_tree
from simulator.simulation import Options
from tests.simulator.lab import Lab, node, pod, priority_class


class Recorder(EnqueueExtensions, ReservePlugin, PermitPlugin, PreBindPlugin, BindPlugin, PostBindPlugin):
    """Notes its calls. The test sets its result at each point."""

    name = "Recorder"
    calls: ClassVar[list[str]] = []
    answers: ClassVar[dict[str, Any]] = {}

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [register(NODE, ActionType.ADD)]

    def _at(self, point: str) -> Any:
        self.calls.append(point)
        answer = self.answers.get(point)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def reserve(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        answer: Status | None = self._at("Reserve")
        return answer

    def unreserve(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._at("Unreserve")

    def permit(self, state: CycleState, pod: Pod, node_name: str) -> tuple[Status | None, int]:
        return self._at("Permit"), 10 * SECOND

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        answer: Status | None = self._at("PreBind")
        return answer

    def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
        answer: Status | None = self._at("Bind")
        return answer

    def post_bind(self, state: CycleState, pod: Pod, node_name: str) -> None:
        self._at("PostBind")


PLUGINS = {**in_tree(), "Recorder": Recorder}
WAIT = Status("Wait")


def with_plugin(name: str, *, instead_of: str = "") -> Options:
    changed: Manifest = {
        "enabled": [{"name": name}],
        "disabled": [{"name": instead_of}] if instead_of else [],
    }
    return Options(config={"profiles": [{"plugins": {"multiPoint": changed}}]})


@pytest.fixture
def recorder() -> type[Recorder]:
    Recorder.calls.clear()
    Recorder.answers = {}
    return Recorder


def recorded_lab() -> Lab:
    lab = Lab(with_plugin("Recorder", instead_of="DefaultBinder"), plugins=PLUGINS)
    lab.create(node("n1"))
    return lab


def test_the_extension_points_are_called_in_order(recorder: type[Recorder]) -> None:
    lab = recorded_lab()
    lab.create(pod("web"))
    lab.run(2)
    assert recorder.calls == ["Reserve", "Permit", "PreBind", "Bind", "PostBind"]
    assert lab.node_of("web") == "n1"


@pytest.mark.parametrize("point", ["Reserve", "Permit", "PreBind", "Bind"])
@pytest.mark.parametrize("answer", [error("out of order"), ZeroDivisionError("out of order")])
def test_a_fault_at_any_point_unwinds_what_was_done(
    recorder: type[Recorder], point: str, answer: Any
) -> None:
    recorder.answers[point] = answer
    lab = recorded_lab()
    lab.create(pod("web", cpu="4"))
    lab.run(0.5)
    assert recorder.calls[-2:] == [point, "Unreserve"]
    assert lab.lane("web") == "backoffQ"
    assert lab.condition("web", "PodScheduled")["reason"] == "SchedulerError"
    text = lab.condition("web", "PodScheduled")["message"]
    assert text.startswith(f'running {point} plugin "Recorder": ')
    assert text.endswith("out of order")
    recorder.answers[point] = None
    lab.run(5)
    assert lab.node_of("web") == "n1"


def test_a_binding_that_is_refused_names_the_plugin_that_bound() -> None:
    class Skipping(BindPlugin):
        """Skips, so that the next Bind plugin binds the pod. Meanwhile a user deletes the pod."""

        name = "Skipping"

        def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
            lab.api.commit([Change("pods", pod.key, None)])
            return SKIP

    bind = {"enabled": [{"name": "Skipping"}, {"name": "DefaultBinder"}], "disabled": [{"name": "*"}]}
    config = {"profiles": [{"plugins": {"bind": bind}}]}
    lab = Lab(Options(config=config), plugins={**in_tree(), "Skipping": Skipping})
    lab.create(node("n1"), pod("web"))
    lab.run(1)
    lab.simulation.observe(lab.api.take_events())
    lab.run(1)
    [failed] = lab.of(trace.BindFailed)
    assert failed.message == 'running Bind plugin "DefaultBinder": pods "default/web" not found'


@pytest.mark.parametrize("point", ["Reserve", "Permit"])
def test_a_refusal_before_binding_is_a_verdict_on_the_pod(recorder: type[Recorder], point: str) -> None:
    recorder.answers[point] = unschedulable("not on this node")
    lab = recorded_lab()
    lab.create(pod("web"))
    lab.run(1)
    assert recorder.calls[-2:] == [point, "Unreserve"]
    assert lab.lane("web") == "unschedulable"
    assert lab.lanes["default/web"].plugins == ["Recorder"]
    scheduled = lab.condition("web", "PodScheduled")
    assert scheduled["message"] == "0/1 nodes are available: 1 not on this node."
    lab.create(pod("no-help"))
    lab.run(60)
    assert lab.lane("web") == "unschedulable"
    recorder.answers[point] = None
    lab.create(node("n2"))
    lab.run(2)
    assert lab.node_of("web")


def test_a_pod_waits_on_permit_until_its_time_is_up(recorder: type[Recorder]) -> None:
    recorder.answers["Permit"] = WAIT
    lab = recorded_lab()
    lab.create(pod("web", cpu="4"), pod("other", cpu="4"))
    lab.run(9.5)
    assert lab.lane("web") == "waiting"
    assert lab.lane("other") == "unschedulable"
    lab.run(1)
    scheduled = lab.condition("web", "PodScheduled")
    assert scheduled["message"] == (
        "0/1 nodes are available: 1 rejected due to timeout after waiting 10s at plugin Recorder."
    )
    assert scheduled["reason"] == "Unschedulable"
    # The freed resources are for other pods.
    assert lab.lane("web") == "unschedulable"
    assert lab.lane("other") == "waiting"


def test_a_waiting_pod_that_is_deleted_frees_its_resources(recorder: type[Recorder]) -> None:
    recorder.answers["Permit"] = WAIT
    lab = recorded_lab()
    lab.create(pod("web", cpu="4"), pod("other", cpu="4"))
    lab.run(1)
    lab.delete_pod("web")
    recorder.answers["Permit"] = None
    lab.run(1)
    assert lab.node_of("other") == "n1"
    assert "default/web" not in lab.lanes


def test_a_waiting_victim_is_rejected_and_not_deleted(recorder: type[Recorder]) -> None:
    recorder.answers["Permit"] = WAIT
    lab = recorded_lab()
    lab.create(priority_class("high", 1000), pod("low", cpu="4"))
    lab.run(1)
    recorder.answers["Permit"] = None
    lab.create(pod("urgent", cpu="4", priorityClassName="high"))
    lab.run(1)
    assert lab.exists("low")
    assert lab.condition("low", "PodScheduled")["message"].endswith("1 preempted.")
    assert lab.of(trace.VictimDeleted) == []
    lab.run(5)
    assert lab.node_of("urgent") == "n1"
    assert lab.lane("low") == "unschedulable"


class Stamp(PreBindPlugin):
    """Waits for three seconds, then writes a label into a ConfigMap."""

    name = "Stamp"
    outcomes: ClassVar[list[object]] = []

    def pre_bind(self, state: CycleState, pod: Pod, node_name: str) -> Steps[Status | None]:
        client = self.handle.client
        yield Wait(client.clock() + 3 * SECOND)
        stamp = client.get("configmaps", "default/stamp")
        if stamp is None:
            return error("there is no stamp")
        version = int(stamp["metadata"]["resourceVersion"])
        made = {**stamp, "data": {"node": node_name}}
        for expected in (version, version):
            outcome = yield Write(Change("configmaps", "default/stamp", made, expected))
            self.outcomes.append(outcome)
        return None


def test_a_pre_bind_plugin_may_wait_and_write(recorder: type[Recorder]) -> None:
    Stamp.outcomes.clear()
    lab = Lab(with_plugin("Stamp"), plugins={**in_tree(), "Stamp": Stamp})
    config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "stamp"}}
    lab.create(node("n1"), config_map, pod("web"))
    lab.run(2.999)
    assert (lab.node_of("web"), lab.lane("web")) == ("", "inFlight")
    lab.run(0.001)
    assert lab.node_of("web") == "n1"
    assert lab.api.objects["configmaps"]["default/stamp"]["data"] == {"node": "n1"}
    assert [type(outcome) for outcome in Stamp.outcomes] == [Written, Refused], "the second is a conflict"


def test_a_pre_bind_plugin_that_fails_after_a_wait_unwinds_what_was_done() -> None:
    lab = Lab(with_plugin("Stamp"), plugins={**in_tree(), "Stamp": Stamp})
    lab.create(node("n1"), pod("web"))
    lab.run(3)
    [failed] = lab.of(trace.BindFailed)
    assert failed.message == 'running PreBind plugin "Stamp": there is no stamp'
    assert lab.lane("web") == "backoffQ"

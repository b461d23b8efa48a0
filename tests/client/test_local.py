"""Sandboxes in this process."""

import gzip
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

import schedviz
from schedviz.bundled_scenarios import STANDARD_CLASS, scenarios
from schedviz.client import NotReached, Sandbox, StatusError
from simulator.apiserver.manifest import ManifestError, parse_manifests
from simulator.config import ConfigError
from simulator.objects.timestamps import micros
from simulator.trace import Bound, Nominated, VictimDeleted

NODES = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {disk: ssd}}
status: {allocatable: {cpu: "4", pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: n2}
status: {allocatable: {cpu: "2", pods: "110"}}
"""

MOST = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {
        "type": "MostAllocated", "resources": [{"name": "cpu", "weight": 1}]}}}]}],
}  # fmt: skip


def pod(name: str, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    container = {"name": "main", "image": "x", "resources": {"requests": {"cpu": cpu}}}
    found = {"containers": [container], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": found}


def encoded(sandbox: Sandbox) -> bytes:
    return msgspec.json.encode(sandbox.trace())


CLAIM = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "metadata": {"name": "home"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}


def test_a_claim_without_a_class_is_bound_in_an_empty_sandbox() -> None:
    volume = {"name": "home", "persistentVolumeClaim": {"claimName": "home"}}
    with schedviz.sandbox(manifests=NODES) as sandbox:
        sandbox.create(CLAIM)
        sandbox.run_for("5s")
        assert sandbox.get("PersistentVolumeClaim", "home")["status"]["phase"] == "Pending"
        sandbox.create(pod("user", volumes=[volume]))
        sandbox.run_for("5s")
        assert sandbox.get("PersistentVolumeClaim", "home")["spec"]["storageClassName"] == "standard"
        assert sandbox.get("PersistentVolumeClaim", "home")["status"]["phase"] == "Bound"
        assert sandbox.get("Pod", "user")["status"]["phase"] == "Running"


def test_scenarios_manifests_and_dumps_keep_their_own_classes(tmp_path: Path) -> None:
    own = {**STANDARD_CLASS, "metadata": {"name": "fast"}}
    dump = tmp_path / "cluster.yaml"
    dump.write_text(NODES)
    for made, classes in (
        (schedviz.sandbox(), ["standard"]),
        (schedviz.sandbox(manifests=[own]), ["fast"]),
        (schedviz.sandbox(scenario="gang"), []),
        (schedviz.sandbox(dump=dump), []),
    ):
        with made as sandbox:
            assert [each["metadata"]["name"] for each in sandbox.list("StorageClass")] == classes


@pytest.mark.parametrize("name", ["online-vs-offline", "gang", "taints-and-affinity"])
def test_the_same_calls_give_the_same_trace(name: str) -> None:
    traces = []
    for _ in range(2):
        with schedviz.sandbox(scenario=name) as sandbox:
            sandbox.run_until("20s")
            sandbox.create(pod("more"))
            sandbox.run_for("5s")
            assert sandbox.elapsed == timedelta(seconds=25)
            traces.append(encoded(sandbox))
    assert traces[0] == traces[1]
    assert len(json.loads(traces[0])) > 10


def test_an_explanation_says_where_a_pod_is_and_why() -> None:
    with schedviz.sandbox(manifests=NODES) as sandbox:
        web = sandbox.create(pod("web", "3"))
        before = sandbox.explain(web)
        assert (before.state, before.lane, before.cycle, before.nodes) == ("pending", "activeQ", 0, [])
        sandbox.run_until("bound", pod=web)
        found = sandbox.explain("web")
        assert (found.state, found.node, found.outcome) == ("bound", "n1", "scheduled")
        assert found.of_node("n2").plugin == "NodeResourcesFit"
        assert found.of_node("n2").reasons == ["Insufficient cpu"]
        assert found.of_node("n1").verdict == "chosen"
        big = sandbox.create(pod("big", "8"))
        sandbox.run_until("idle", within="10s")
        found = sandbox.explain(big)
        assert (found.state, found.lane) == ("pending", "unschedulable")
        assert found.message.startswith("0/2 nodes are available: 2 Insufficient cpu.")
        assert "big is pending in unschedulable" in str(found)
        assert [each.kind for each in sandbox.what_if(big).suggestions] == ["request"]
        assert sandbox.ask("more", manifests=[pod("small")]).figure >= 1
        assert sandbox.ask("evictions").figure == 0
        with pytest.raises(ValueError, match="nodes: there is no node 'n9'"):
            sandbox.ask("drain", nodes=["n9"])
        with pytest.raises(StatusError) as refused:
            sandbox.explain("nobody")
        assert (refused.value.code, refused.value.reason) == (404, "NotFound")
        with pytest.raises(LookupError):
            found.of_node("n3")


def test_a_workload_is_played_in_a_sandbox() -> None:
    arrivals = "time,name,cpu,duration,count\n0,web,1,,2\n5,train,2,30s,2\n"
    with schedviz.sandbox(arrivals=arrivals, nodes=NODES, seed=3) as sandbox:
        sandbox.run_for("10s")
        names = sorted(pod["metadata"]["name"] for pod in sandbox.list("pods") if pod["spec"].get("nodeName"))
        assert names == ["train-1", "train-2", "web-1", "web-2"]
        sandbox.run_until("60s")
        assert len(sandbox.list("pods")) == 2
    with pytest.raises(ValueError, match="1 of 1 pods fit no node, not even an empty one: line 2: big: "):
        schedviz.sandbox(arrivals="time,name,cpu\n0,big,64\n", nodes=NODES)
    with pytest.raises(ValueError, match="arrivals: not with scenario, manifests and dump"):
        schedviz.sandbox("gang", arrivals=arrivals)


def test_a_sandbox_says_what_of_its_arrivals_is_not_played() -> None:
    ended = '{"metadata": {"name": "done"}, "spec": {}, "status": {"phase": "Succeeded"}}'
    container = '{"name": "main", "image": "a", "resources": {"requests": {"cpu": 64}}}'
    big = f'{{"metadata": {{"name": "big"}}, "spec": {{"containers": [{container}]}}}}'
    export = f'{{"pods": [{ended}, {big}], "nodes": [], "schedulerConfig": {{}}}}'
    with schedviz.sandbox(arrivals=export, nodes=NODES, anyway=True) as sandbox:
        left_out, unfit = sandbox.notes
    assert left_out == "pods 1: left out: Pod done, which has ended"
    assert unfit.startswith("big: 0/2 nodes are available: ")
    with schedviz.sandbox(manifests=NODES) as sandbox:
        assert sandbox.notes == ()


def test_a_workload_is_played_under_one_scheduler_or_two() -> None:
    arrivals = "time,name,cpu,duration,count\n0,web,1,,2\n5,train,2,30s,2\n"
    played = schedviz.play(arrivals, NODES, until="1m", b={"kubernetes": "v1.34", "seed": 2})
    assert (played.pods, played.a.bound, played.b and played.b.bound) == (4, 4, 4)
    with pytest.raises(ValueError, match="line 3, column cpu: 'x'"):
        schedviz.play("time,name,cpu\n0,a,1\n1,b,x\n", NODES)
    with pytest.raises(ValueError, match="unknown field"):
        schedviz.play(arrivals, NODES, colour="red")


def test_equal_nodes_share_a_line() -> None:
    nodes = NODES + "".join(
        "---" + NODES[NODES.index("---") + 3 :].replace("n2", f"small-{i}") for i in range(20)
    )
    with schedviz.sandbox(manifests=nodes) as sandbox:
        big = sandbox.create(pod("big", "8"))
        sandbox.run_until("idle", within="10s")
        lines = str(sandbox.explain(big)).splitlines()
        assert "  22 nodes like n1: NodeResourcesFit: Insufficient cpu: needs 8, free at most 4 of 4" in lines
        claim = [{"name": "d", "persistentVolumeClaim": {"claimName": "missing"}}]
        stuck = sandbox.create(pod("stuck", volumes=claim))
        sandbox.run_until("idle", within="10s")
        assert str(sandbox.explain(stuck)).splitlines()[-1] == (
            "  22 nodes: not looked at: VolumeRestrictions rejected the pod for all nodes"
        )


def test_scores_are_those_of_the_cycle() -> None:
    with schedviz.sandbox(manifests=NODES) as sandbox:
        sandbox.create(pod("web"))
        sandbox.run_until("nothing-pending")
        found = sandbox.explain("web")
        for each in found.nodes:
            assert each.score == sum(each.scores.values())
        assert found.of_node(found.node).score == max(each.score or 0 for each in found.nodes)


def test_the_explanation_of_a_preempted_pod_names_its_preemptor() -> None:
    with schedviz.sandbox(manifests=NODES) as sandbox:
        sandbox.create(pod("low", "4"))
        sandbox.run_until("bound", pod="low")
        sandbox.create(pod("high", "4", priorityClassName="system-cluster-critical"))
        sandbox.run_until("preemption")
        high = sandbox.explain("high")
        assert (high.outcome, high.victims, high.nominated_node) == ("preempting", ["default/low"], "n1")
        assert "Preempted for it: default/low" in str(high)
        sandbox.run_until("bound", pod="high")
        low = sandbox.explain("low")
        assert (low.state, low.preemptor, low.evicted_in) == ("deleted", "default/high", high.cycle)
        [evicted] = sandbox.trace(VictimDeleted)
        assert (evicted.pod, evicted.node) == ("default/low", "n1")
        assert "default/high preempted it on n1" in str(low)
        # Another pod of the same name has not been preempted.
        sandbox.create(pod("low", "8"))
        again = sandbox.explain("low")
        assert (again.state, again.preemptor, again.cycle) == ("pending", "", 0)


def test_a_run_ends_when_its_condition_holds_or_says_that_it_does_not() -> None:
    with schedviz.sandbox(manifests=NODES) as sandbox:
        sandbox.run_until("10s")
        assert sandbox.elapsed == timedelta(seconds=10)
        sandbox.create(pod("big", "8"))
        for condition, named in (("bound", "big"), ("nothing-pending", ""), ("preemption", "")):
            with pytest.raises(NotReached, match="not within 20s"):
                sandbox.run_until(condition, pod=named, within="20s")
        with pytest.raises(ValueError, match="is over"):
            sandbox.run_until("1s")
        with pytest.raises(ValueError, match="needs a pod"):
            sandbox.run_until("bound")
        with pytest.raises(ValueError, match="is not a duration"):
            sandbox.run_until("forever")


def test_steps_are_those_of_the_page() -> None:
    with schedviz.sandbox(manifests=NODES) as sandbox:
        for number in range(3):
            sandbox.create(pod(f"p{number}"))
        sandbox.step()
        assert len(sandbox.trace(Bound)) == 1
        sandbox.step("cycle", 2)
        assert [event.pod for event in sandbox.trace(Bound)] == ["default/p0", "default/p1", "default/p2"]
        assert len(sandbox.trace(Bound, pod="p1")) == 1


def test_objects_are_changed_as_by_the_api() -> None:
    with schedviz.sandbox(manifests=NODES) as sandbox:
        assert sandbox.patch("no", "n1", {"spec": {"unschedulable": True}})["spec"]["unschedulable"] is True
        sandbox.create(pod("web"))
        sandbox.run_until("nothing-pending")
        assert sandbox.get("Pod", "web")["spec"]["nodeName"] == "n2"
        sandbox.delete("pods", "web", grace_seconds=0)
        assert sandbox.list("po", "default") == []
        with pytest.raises(StatusError, match='pods "web" not found'):
            sandbox.get("pod", "web")
        with pytest.raises(StatusError, match=r"spec\.containers"):
            sandbox.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {}})
        with pytest.raises(ValueError, match="there is no kind"):
            sandbox.list("gadgets")


def test_a_branch_continues_independently() -> None:
    with schedviz.sandbox(scenario="online-vs-offline") as sandbox:
        sandbox.run_until("30s")
        sandbox.create(pod("web"))
        sandbox.run_for("3s")
        branch = sandbox.branch()
        assert encoded(branch) == encoded(sandbox)
        branch.run_for("10s")
        sandbox.run_for("10s")
        assert encoded(branch) == encoded(sandbox)
        branch.delete("node", "node-1")
        branch.run_for("10s")
        assert sandbox.get("node", "node-1")
        [first, *_] = (number for number, _ in sandbox.numbered_trace(Nominated))
        past = sandbox.branch(at=first)
        assert past.now == sandbox.trace()[first - 1].t
        assert sandbox.trace()[: past.trace_head()] == past.trace()
        past.run_until("43s")
        assert past.now == sandbox.now
        with pytest.raises(ValueError, match="no trace event"):
            sandbox.branch(at=10_000)


def test_what_a_sandbox_is_created_from(tmp_path: Path) -> None:
    (tmp_path / "nodes.yaml").write_text(NODES)
    chosen = []
    for config in (None, MOST):
        with schedviz.sandbox(manifests=tmp_path / "nodes.yaml", config=config, seed=7, pace="1s") as sandbox:
            sandbox.create(pod("web"))
            sandbox.run_until("nothing-pending")
            assert sandbox.elapsed == timedelta(seconds=1)
            chosen.append(sandbox.explain("web").node)
    assert chosen == ["n1", "n2"]
    file = tmp_path / "own.yaml"
    file.write_text(
        f"apiVersion: schedviz/v1\nkind: Scenario\nmetadata: {{name: own}}\nspec: {{pace: 200ms}}\n---{NODES}"
    )
    assert len(schedviz.sandbox(scenario=file, manifests=[pod("web")]).list("pods")) == 1
    newest = schedviz.sandbox(kubernetes="v1.36", feature_gates={"StorageCapacityScoring": True})
    assert str(newest.memory.options.features) == "v1.36.2, StorageCapacityScoring=true"
    with pytest.raises(ValueError, match='Kubernetes "v1" is not modelled'):
        schedviz.sandbox(kubernetes="v1")
    with pytest.raises(ValueError, match="unrecognized feature gate: No"):
        schedviz.sandbox(feature_gates={"No": True})
    with pytest.raises(KeyError):
        schedviz.sandbox(scenario="nowhere")
    with pytest.raises(ConfigError):
        schedviz.sandbox(config={**MOST, "profiles": [{"schedulerName": ""}, {"schedulerName": ""}]})
    with pytest.raises(StatusError):
        schedviz.sandbox(manifests=[pod("web"), pod("web")])


def test_a_dump_of_a_cluster(tmp_path: Path) -> None:
    """Bound pods stay where they are, and pending ones are scheduled beside them."""
    bound = pod("there", "3", nodeName="n1") | {"status": {"phase": "Running"}}
    bound["metadata"] |= {"uid": "u1", "creationTimestamp": "2026-03-01T12:00:00Z"}
    items = [*parse_manifests(NODES), bound, pod("new", "2")]
    dump = {"apiVersion": "v1", "kind": "List", "items": items}
    file = tmp_path / "cluster.json.gz"
    file.write_bytes(gzip.compress(json.dumps(dump).encode()))
    traces = []
    for _ in range(2):
        with schedviz.sandbox(dump=file, manifests=[pod("more", "2")]) as sandbox:
            assert sandbox.start == micros("2026-03-01T12:00:00Z")
            sandbox.run_for("10s")
            assert sandbox.explain("there").node == "n1"
            assert (sandbox.explain("new").node, sandbox.explain("more").state) == ("n2", "pending")
            traces.append(encoded(sandbox))
            assert encoded(sandbox.branch()) == traces[-1]
    assert traces[0] == traces[1]
    with pytest.raises(ValueError, match="on its page only"):
        schedviz.sandbox(dump=file, server="http://127.0.0.1:1")
    file.write_text("{}")
    with pytest.raises(ManifestError):
        schedviz.sandbox(dump=file)


@pytest.mark.parametrize("name", scenarios())
def test_every_bundled_scenario_runs(name: str) -> None:
    with schedviz.sandbox(scenario=name) as sandbox:
        sandbox.run_until("20s")
        for each in sandbox.list("pods"):
            assert sandbox.explain(each).state in ("bound", "pending")


def test_the_local_client_imports_no_django() -> None:
    program = (
        "import sys, schedviz; schedviz.sandbox(); print('django' in sys.modules, 'redis' in sys.modules)"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert printed.stdout == "False False\n"

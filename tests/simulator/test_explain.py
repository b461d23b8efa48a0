import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.__main__ import main
from simulator.decision import Decision
from simulator.decision_columns import decision_decoder
from simulator.framework.status import PluginError
from simulator.plugins.node_resources.fit import NodeResourcesFit
from tests.simulator.builders import a_node, a_pod

NODE, POD = {"apiVersion": "v1", "kind": "Node"}, {"apiVersion": "v1", "kind": "Pod"}
CLASS = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high"},
    "value": 100,
}
POD_YAML = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  priorityClassName: high
  containers:
  - {name: c, image: app, resources: {limits: {cpu: 2500m}}}
"""


class Asked:
    """The files of a question, and the command's answer to it."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capsys = capsys

    def __call__(
        self, items: Any, *options: str, pod: str = POD_YAML, config: str = "", command: str = "explain"
    ) -> tuple[int, str, str]:
        dump = items if isinstance(items, str) else json.dumps({"kind": "List", "items": items})
        for name, text in [("pod.yaml", pod), ("dump.json", dump), ("config.yaml", config)]:
            (self.folder / name).write_text(text)
        files = [str(self.folder / "pod.yaml"), "--cluster", str(self.folder / "dump.json")]
        if config:
            files += ["--config", str(self.folder / "config.yaml")]
        status = main([command, *files, *options])
        return status, *self._capsys.readouterr()


@pytest.fixture
def explain(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Asked:
    return Asked(tmp_path, capsys)


def nodes() -> list[dict[str, Any]]:
    tainted = a_node("n2", taints=[{"key": "gpu", "effect": "NoSchedule"}])
    return [NODE | a_node("n0"), NODE | a_node("n1", "2"), NODE | tainted, CLASS]


def dumped(name: str, cpu: str, **rest: Any) -> dict[str, Any]:
    """A pod as an API server prints it."""
    pod = POD | a_pod(name, cpu, **rest)
    pod["spec"]["containers"][0]["image"] = "app:1"
    return pod


def test_a_pod_that_fits_is_shown_with_every_score_and_every_refusal(explain: Asked) -> None:
    status, out, _ = explain(nodes())
    assert status == 0
    lines = [line.split() for line in out.splitlines()]
    assert lines[0][:4] == ["Pod", "default/web,", "priority", "100,"]
    table = {line[0]: line for line in lines[2:6]}
    assert table["NODE"][1:4] == ["TaintToleration", "NodeResourcesFit", "DynamicResources"]
    assert table["n0"][-2:] == ["fits,", "chosen"]
    assert int(table["n0"][-3]) == sum(map(int, table["n0"][1:-3])), "the total of the scores beside it"
    assert " ".join(table["n1"][1:]) == "NodeResourcesFit: Insufficient cpu: needs 2.5, free 2 of 2"
    assert table["n2"][1:] == ["TaintToleration:", "node(s)", "had", "untolerated", "taint(s)"]
    assert "It would be bound to n0." in out


def test_a_pod_that_must_preempt_is_shown_with_its_victims_and_the_rule_that_decided(explain: Asked) -> None:
    low = [dumped(f"low{i}", "2", nodeName="n0", priority=i) for i in range(2)]
    finished = dumped("done", "4", nodeName="n0", status={"phase": "Succeeded"})
    itself = dumped("web", "4", nodeName="n0")
    items = [
        *nodes(),
        *low,
        finished,
        itself,
        {"apiVersion": "x.example/v1", "kind": "Unknown", "metadata": {"name": "u"}},
    ]
    status, out, _ = explain(items)
    assert status == 0
    assert "It fits nowhere: 0/3 nodes are available: 2 Insufficient cpu, 1 node(s)" not in out
    assert "1 node(s) had untolerated taint(s), 2 Insufficient cpu." in out
    assert out.splitlines()[-1] == "Preemption would free n0. n0 is the only candidate."
    assert "n0         default/low1, default/low0" in out
    status, out, _ = explain(items, "-o", "json")
    decision = decision_decoder(Decision).decode(out)
    assert decision.preemption is not None
    assert (decision.outcome, decision.preemption.chosen) == ("preempting", "n0")


def test_the_rule_of_a_preemption_is_said_in_the_words_of_the_page(explain: Asked) -> None:
    low = [dumped(f"low{i}", "4", nodeName=f"n{i}", priority=7 - i) for i in range(2)]
    _, out, _ = explain([*(NODE | a_node(f"n{i}") for i in range(2)), CLASS, *low])
    said = "Rule 2 decided: n1's highest victim priority, 6, is the lowest."
    assert out.splitlines()[-1] == f"Preemption would free n1. {said}"


def test_a_pod_may_have_a_generate_name(explain: Asked) -> None:
    status, out, _ = explain(nodes(), pod=POD_YAML.replace("name: web", "generateName: web-"))
    assert (status, out.partition(",")[0]) == (0, "Pod default/web-xxxxx")


def test_the_command_uses_the_given_configuration(explain: Asked) -> None:
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{plugins: {filter: {disabled: [{name: NodeResourcesFit}, {name: TaintToleration}]}}}]
"""
    _, out, _ = explain(nodes(), config=config)
    assert out.count("  fits") == 3


@pytest.mark.parametrize(
    ("dump", "pod", "said"),
    [
        ("[]", POD_YAML, "no object that the simulator uses"),
        ("[1]", POD_YAML, "dump.json: line 1: not an object of Kubernetes"),
        ("{}", POD_YAML, "no object that the simulator uses"),
        ('{"kind": "List", "items": [{}]}', POD_YAML, "no object that the simulator uses"),
        (nodes()[:3], POD_YAML, "no PriorityClass with name high was found"),
        (nodes(), POD_YAML.replace("image:", "imago:"), "spec.containers[0].imago"),
        (nodes(), POD_YAML.replace("2500m", "-1"), "limits"),
        (nodes(), POD_YAML + "---" + POD_YAML, "pod.yaml: expected one Pod, or one workload"),
        (nodes(), "apiVersion: v1\nkind: Service\nmetadata: {name: s}", "found Service s"),
        (nodes(), "apiVersion: batch/v1\nkind: CronJob\nspec: {}", "found CronJob"),
        (nodes(), "kind: [", "pod.yaml: line"),
        (nodes(), POD_YAML.replace("metadata: {name: web}", ""), "metadata.name: name or generateName"),
        ([NODE | {"metadata": {}}], POD_YAML, "no object that the simulator uses"),
    ],
)  # fmt: skip
def test_a_question_that_cannot_be_answered_gets_one_error_line(
    explain: Asked, dump: Any, pod: str, said: str
) -> None:
    status, out, error = explain(dump, pod=pod)
    assert (status, out) == (1, "")
    assert said in error
    assert len(error.splitlines()) == 1


def test_a_pod_gets_what_the_admission_of_the_dumped_cluster_gives_it(explain: Asked) -> None:
    """The overhead and the selector of its RuntimeClass, and the default requests of its LimitRange."""
    meta = {"name": "kata"}
    runtime = {"apiVersion": "node.k8s.io/v1", "kind": "RuntimeClass", "metadata": meta, "handler": "kata"}
    runtime["overhead"] = {"podFixed": {"cpu": "500m"}}
    runtime["scheduling"] = {"nodeSelector": {"kernel": "kata"}}
    limits = {"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "l", "namespace": "default"}}
    limits["spec"] = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]}
    pod = POD_YAML.replace("resources: {limits: {cpu: 2500m}}", "").replace(
        "spec:", "spec:\n  runtimeClassName: kata"
    )
    status, out, _ = explain([*nodes(), runtime, limits], pod=pod)
    assert status == 0
    assert "priority 100, requests cpu 1.5" in out
    assert "didn't match Pod's node affinity/selector" in out


def test_an_object_with_a_wrong_quantity_is_left_out_with_a_line(explain: Asked) -> None:
    wrong = NODE | a_node("n3")
    wrong["status"]["allocatable"]["cpu"] = "2 cores"
    status, out, error = explain([*nodes(), wrong])
    assert status == 0
    assert "n3" not in out
    assert 'left out: Node n3: status.allocatable.cpu: not a quantity: "2 cores" (meant as 2?)\n' in error


def test_the_objects_that_are_not_named_are_counted(explain: Asked) -> None:
    wrong = [NODE | {"metadata": {"name": f"N{number}"}} for number in range(60)]
    lines = explain([*nodes(), *wrong])[2].splitlines()
    assert len(lines) == 51
    assert lines[-1].endswith("left out: and 10 more objects")


def test_a_folder_is_a_dump(explain: Asked, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What kubectl cluster-info dump --output-directory writes, with the logs of containers."""
    (tmp_path / "dump" / "default" / "web").mkdir(parents=True)
    (tmp_path / "dump" / "default" / "web" / "logs.txt").write_text("[")
    (tmp_path / "dump" / "nodes.json").write_text(json.dumps({"kind": "List", "items": nodes()}))
    (tmp_path / "pod.yaml").write_text(POD_YAML)
    for command in (["explain"], ["whatif"]):
        assert main([*command, str(tmp_path / "pod.yaml"), "--cluster", str(tmp_path / "dump")]) == 0
        assert "bound to n0" in capsys.readouterr().out
    assert main(["clean", str(tmp_path / "dump")]) == 0
    assert "4 of 4 objects taken" in capsys.readouterr().err


# One sentence for each outcome


def test_a_gated_pod_gets_an_answer(explain: Asked) -> None:
    gated = POD_YAML.replace("spec:", "spec:\n  schedulingGates: [{name: a.example/x}, {name: b.example/y}]")
    status, out, _ = explain(nodes(), pod=gated)
    assert status == 0
    said = "It is gated: it waits until its scheduling gates are removed (a.example/x, b.example/y)."
    assert out.splitlines()[-1] == said
    status, out, _ = explain(nodes(), "-o", "json", pod=gated)
    answer = json.loads(out)
    assert (status, answer["outcome"], answer["sentences"]) == (0, "gated", [said])


def test_a_pod_that_another_plugin_gates_gets_its_message(explain: Asked) -> None:
    claim = "  resourceClaims: [{name: gpu, resourceClaimName: missing}]"
    status, out, _ = explain(nodes(), pod=POD_YAML + claim)
    assert status == 0
    assert out.splitlines()[-1] == (
        "It is gated: DynamicResources keeps it out of activeQ. "
        'Its message: could not find ResourceClaim "default/missing"'
    )


def test_requests_begin_with_cpu_and_memory(explain: Asked) -> None:
    requests = "{a.example/b: 1, memory: 1Gi, cpu: 1}, limits: {a.example/b: 1}"
    _, out, _ = explain(nodes(), pod=POD_YAML.replace("limits: {cpu: 2500m}", f"requests: {requests}"))
    assert "requests cpu 1, memory 1Gi, a.example/b 1;" in out


def test_a_pod_of_another_scheduler_gets_an_answer(explain: Asked) -> None:
    status, out, _ = explain(nodes(), pod=POD_YAML + "  schedulerName: other")
    assert status == 0
    assert out.splitlines()[-1] == (
        "No profile has the schedulerName other: this scheduler does not see the pod."
    )


def test_a_pod_with_a_node_is_said_to_bypass_the_scheduler(explain: Asked) -> None:
    status, out, _ = explain(nodes(), pod=POD_YAML + "  nodeName: n1")
    assert status == 0
    assert out.splitlines()[1].startswith("It has spec.nodeName n1: the scheduler does not see it.")
    assert "NodeName: node(s) didn't match the requested node name" in out
    answer = json.loads(explain(nodes(), "-o", "json", pod=POD_YAML + "  nodeName: n1")[1])
    assert answer["sentences"][0].startswith("It has spec.nodeName n1")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"spec": {"nodeName": "gone"}},
            ["It has spec.nodeName gone, a node that does not exist: the scheduler does not see it."],
        ),
        (
            {"spec": {"nodeName": "n1"}, "status": {"phase": "Succeeded"}},
            ["It has ended (status.phase Succeeded)", "It has spec.nodeName n1: the scheduler does not"],
        ),
        ({"status": {"phase": "Failed"}}, ["It has ended (status.phase Failed)", "about a new pod like it."]),
        (
            {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}},
            ["Its deletion was requested (metadata.deletionTimestamp)", "about a new pod like it."],
        ),
    ],
)
def test_a_pod_that_the_scheduler_does_not_take_is_said_to_be_one(
    explain: Asked, changed: dict[str, Any], said: list[str]
) -> None:
    """Also by whatif."""
    pod = yaml.safe_load(POD_YAML)
    for field, values in changed.items():
        pod[field] = {**pod.get(field, {}), **values}
    lines = explain(nodes(), pod=json.dumps(pod))[1].splitlines()[1 : 1 + len(said)]
    assert all(text in line for text, line in zip(said, lines, strict=True)), lines
    out = explain(nodes(), pod=json.dumps(pod), command="whatif")[1]
    assert out.splitlines()[1 : 1 + len(said)] == lines


def test_a_pod_that_pre_filter_rejects_is_rejected_for_all_nodes(explain: Asked) -> None:
    claim = "  volumes: [{name: data, persistentVolumeClaim: {claimName: missing}}]"
    status, out, _ = explain(nodes(), pod=POD_YAML + claim)
    assert status == 0
    assert out.splitlines()[2].startswith(
        "VolumeRestrictions rejects it for all nodes, before one is looked at"
    )
    assert 'persistentvolumeclaim "missing" not found' in out
    assert "nominated" not in out


def test_an_attempt_with_an_error_is_not_said_to_fit_nowhere(
    explain: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise PluginError("broken")

    monkeypatch.setattr(NodeResourcesFit, "filter", fail)
    status, out, _ = explain(nodes())
    assert status == 0
    assert "The attempt ends with an error, and is repeated: " in out
    assert "fits nowhere" not in out


# Amounts and equal nodes


def test_a_rejected_node_is_shown_with_the_amounts_of_each_resource(explain: Asked) -> None:
    there = dumped("there", "1500m", nodeName="n0")
    full = NODE | a_node("n1", "4", pods="0")
    pod = POD_YAML.replace("{cpu: 2500m}", "{cpu: 3, memory: 9000Mi}")
    status, out, _ = explain([NODE | a_node("n0"), full, there, CLASS], pod=pod)
    assert status == 0
    assert "requests cpu 3, memory 9000Mi" in out
    cpu, memory = (
        "Insufficient cpu: needs 3, free 2.5 of 4",
        "Insufficient memory: needs 8.8Gi, free 8Gi of 8Gi",
    )
    assert f"NodeResourcesFit: {cpu}; {memory}" in out
    assert "Too many pods: needs 1, free 0 of 0" in out


def test_amounts_count_the_pods_that_are_nominated_to_the_node(explain: Asked) -> None:
    nominated = dumped("nominated", "3", priority=100, status={"nominatedNodeName": "n0"})
    below = dumped("below", "3", priority=1, status={"nominatedNodeName": "n0"})
    _, out, _ = explain([NODE | a_node("n0"), nominated, below, CLASS])
    assert "Insufficient cpu: needs 2.5, free 1 of 4" in out


@pytest.mark.parametrize(
    ("written", "amounts"),
    [
        ("100G", "needs 100G, free 8.6G of 8.6G"),
        ("8193Mi", "needs 8.001Gi, free 8Gi of 8Gi"),
        ("8589934593", "needs 8589934593, free 8589934592 of 8.6G"),
    ],
)
def test_memory_is_printed_as_it_is_written(explain: Asked, written: str, amounts: str) -> None:
    _, out, _ = explain(nodes(), pod=POD_YAML.replace("cpu: 2500m", f"memory: '{written}'"))
    assert f"requests memory {written};" in out
    assert f"Insufficient memory: {amounts}" in out


def test_equal_nodes_of_a_large_cluster_share_a_row(explain: Asked) -> None:
    small = [NODE | a_node(f"small-{i}", "1") for i in range(1200)]
    there = dumped("there", "500m", nodeName="small-0")
    others = [dumped(f"on-{i}", "600m", nodeName=f"small-{i}") for i in range(1, 10)]
    large = [NODE | a_node(f"large-{i}") for i in range(30)]
    status, out, _ = explain([*small, *large, there, *others, CLASS])
    assert status == 0
    rows = out.splitlines()[3:-2]
    assert [row.split("  ")[0] for row in rows] == [
        row.split("  ")[0] for row in rows if "nodes like" in row or "chosen" in row
    ]
    [refused] = [row for row in rows if "Insufficient" in row]
    assert refused.startswith("1,200 nodes like small-10 ")
    assert refused.endswith("NodeResourcesFit: Insufficient cpu: needs 2.5, free at most 1 of 1")
    assert sum("fits" in row for row in rows) == 2
    assert any(row.startswith("29 nodes like large-") for row in rows)


# Files


@pytest.mark.parametrize(
    "kind", ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob", "Rollout"]
)
def test_a_workload_is_taken_as_the_pod_of_its_template(explain: Asked, kind: str) -> None:
    spec = {"priorityClassName": "high", "containers": [{"name": "c", "image": "i"}]}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    workload: dict[str, Any] = {
        "apiVersion": "any/v1",
        "kind": kind,
        "metadata": {"name": "w", "namespace": "x"},
    }
    workload["spec"] = (
        {"jobTemplate": {"spec": {"template": template}}} if kind == "CronJob" else {"template": template}
    )
    status, out, _ = explain(nodes(), pod=json.dumps(workload))
    assert status == 0
    name = "w-0" if kind == "StatefulSet" else "w-xxxxx"
    assert out.startswith(f"Pod x/{name}, priority 100, requests nothing")
    assert f"It is the pod of the template of {kind} w." in out
    assert "It would be bound to " in out


def test_a_malformed_template_gets_one_line(explain: Asked) -> None:
    workload = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "w"}}
    template = {"metadata": {"labels": 5}, "spec": {}}
    status, out, error = explain(nodes(), pod=json.dumps({**workload, "spec": {"template": template}}))
    assert (status, out) == (1, "")
    assert error.endswith("the pod template of Deployment w does not have the form of one\n")


def test_other_objects_of_the_file_are_named(explain: Asked) -> None:
    service = "\n---\napiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: []}"
    status, out, _ = explain(nodes(), pod=POD_YAML + service)
    assert status == 0
    assert out.splitlines()[1] == "Not considered: Service web."


def test_a_pod_may_be_written_in_utf_16(explain: Asked) -> None:
    explain(nodes())
    (explain.folder / "pod.yaml").write_bytes(POD_YAML.encode("utf-16"))
    assert (
        main(["explain", str(explain.folder / "pod.yaml"), "--cluster", str(explain.folder / "dump.json")])
        == 0
    )


def test_a_dash_is_standard_input(
    explain: Asked, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    explain(nodes())
    dump = str(explain.folder / "dump.json")

    def ask(given: str, *arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        status = main([*arguments])
        return status, *capsys.readouterr()

    for command in ("explain", "whatif"):
        assert ask(POD_YAML, command, "-", "--cluster", dump)[0] == 0
    assert ask("a: b: c", "explain", "-", "--cluster", dump)[2].startswith("explain: standard input: line 1")
    twice = ask(POD_YAML, "explain", "-", "--cluster", "-")
    assert twice[0] == 1
    assert "at most one of the files can be -" in twice[2]


def test_a_file_that_does_not_exist_is_named(explain: Asked, capsys: pytest.CaptureFixture[str]) -> None:
    explain(nodes())
    assert main(["explain", "no.yaml", "--cluster", str(explain.folder / "dump.json")]) == 1
    assert capsys.readouterr().err == "explain: no.yaml: No such file or directory\n"


def test_fields_of_a_pod_count_in_the_versions_that_have_them(explain: Asked) -> None:
    rules = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [1]}}]
    container = {"name": "c", "image": "app", "restartPolicy": "Never", "restartPolicyRules": rules}
    pod = yaml.safe_dump(POD | {"metadata": {"name": "web"}, "spec": {"containers": [container]}})
    machine = a_node("n0")
    machine["status"]["nodeInfo"] = {"kubeletVersion": "v1.36.2"}  # it declares no features
    _, older, _ = explain([NODE | machine], "--kubernetes", "v1.34", pod=pod)
    assert "It would be bound to n0." in older
    _, newest, _ = explain([NODE | machine], pod=pod)
    assert "node(s) didn't match Pod's required features" in newest

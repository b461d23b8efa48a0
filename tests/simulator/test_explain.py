import json
from pathlib import Path
from typing import Any

import pytest

from simulator.__main__ import main
from simulator.decision import Decision
from simulator.decision_columns import decision_decoder
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
        self, items: Any, *options: str, pod: str = POD_YAML, config: str = ""
    ) -> tuple[int, str, str]:
        dump = items if isinstance(items, str) else json.dumps({"kind": "List", "items": items})
        for name, text in [("pod.yaml", pod), ("dump.json", dump), ("config.yaml", config)]:
            (self.folder / name).write_text(text)
        files = [str(self.folder / "pod.yaml"), "--cluster", str(self.folder / "dump.json")]
        if config:
            files += ["--config", str(self.folder / "config.yaml")]
        status = main(["explain", *files, *options])
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
    assert table["NODE"][1:4] == ["TaintToleration", "NodeResourcesFit", "NodeResourcesBalancedAllocation"]
    assert table["n0"][-2:] == ["fits,", "chosen"]
    assert int(table["n0"][-3]) == sum(map(int, table["n0"][1:-3])), "the total of the scores beside it"
    assert table["n1"][1:] == ["NodeResourcesFit:", "Insufficient", "cpu"]
    assert table["n2"][1:] == ["TaintToleration:", "node(s)", "had", "untolerated", "taint", "{gpu:", "}"]
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
    assert "1 node(s) had untolerated taint {gpu: }, 2 Insufficient cpu." in out
    assert out.splitlines()[-1] == "Preemption would free n0: it is the only candidate."
    assert "n0         default/low1, default/low0" in out
    status, out, _ = explain(items, "-o", "json")
    decision = decision_decoder(Decision).decode(out)
    assert decision.preemption is not None
    assert (decision.outcome, decision.preemption.chosen) == ("preempting", "n0")


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
        ("[1]", POD_YAML, "line 1: expected an object"),
        ("{}", POD_YAML, "no object that the simulator uses"),
        ('{"kind": "List", "items": [{}]}', POD_YAML, "no object that the simulator uses"),
        (nodes()[:3], POD_YAML, "no PriorityClass with name high was found"),
        (nodes(), POD_YAML.replace("image:", "imago:"), "spec.containers[0].imago"),
        (nodes(), POD_YAML.replace("2500m", "-1"), "limits"),
        (nodes(), POD_YAML + "---" + POD_YAML, "expected one Pod, found 2 in 2 documents"),
        (nodes(), "kind: [", "line"),
        (nodes(), POD_YAML.replace("metadata: {name: web}", ""), "metadata.name: name or generateName"),
        (nodes(), POD_YAML + "  schedulerName: other", "no profile has the schedulerName 'other'"),
        (nodes(), POD_YAML.replace("spec:", "spec:\n  schedulingGates: [{name: wait}]"), "not even queued"),
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
    assert "priority 100, requests cpu 1500m" in out
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

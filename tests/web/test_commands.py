"""The command bar: what a line does, its messages, and its completions."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from schedviz.api import write
from schedviz.store import Commit, Sandbox
from schedviz.web.commands import COMMANDS, CommandError, complete, run

from .samples import SCHEDULED

HTMX = {"HX-Request": "true"}
POD = {"apiVersion": "v1", "kind": "Pod"}
SPEC = {"containers": [{"name": "main", "image": "app:1"}]}


@pytest.fixture
def cluster(sandbox: Sandbox) -> Sandbox:
    """Two nodes, a running pod, a class, a Deployment."""
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"n{n}"},
            "status": {"allocatable": amounts},
        }
        for n in (1, 2)
    ]
    important = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 1000,
    }
    template = {"metadata": {"labels": {"app": "shop"}}, "spec": SPEC}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "shop"},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "shop"}}, "template": template},
    }
    bound = {
        **POD,
        "metadata": {"name": "old"},
        "spec": {**SPEC, "nodeName": "n1"},
        "status": {"phase": "Running"},
    }
    write.create(sandbox, [*nodes, important, deployment, bound])
    return sandbox


def stored(sandbox: Sandbox, resource: str, key: str) -> dict[str, Any]:
    found = sandbox.get(resource, key)
    assert found is not None
    return found


def test_a_command_creates_the_object_that_the_form_and_kubectl_create(cluster: Sandbox) -> None:
    said = run(cluster, "create pod web --cpu 2 --priority high --copies 3 --memory=1Gi")
    assert said.text.count("created") == 3
    pods = [pod for pod in cluster.list("pods").items if pod["metadata"].get("generateName") == "web-"]
    assert {pod["spec"]["priority"] for pod in pods} == {1000}
    assert pods[0]["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "2", "memory": "1Gi"}
    assert said.kubectl.startswith("for n in $(seq 3); do kubectl create -f - <<'EOF'\napiVersion: v1\n")
    assert run(cluster, "kubectl create node big --cpu 64").text == "node/big created"
    assert run(cluster, "create deployment cart --copies 2").text == "deployment/cart created"
    assert stored(cluster, "deployments.apps", "default/cart")["spec"]["replicas"] == 2
    run(cluster, "create priorityclass urgent --value 5 --preemption-policy Never")
    assert stored(cluster, "priorityclasses.scheduling.k8s.io", "urgent")["preemptionPolicy"] == "Never"


def test_objects_are_changed_as_kubectl_changes_them(cluster: Sandbox) -> None:
    assert run(cluster, "cordon n1").text == "node/n1 cordoned"
    assert stored(cluster, "nodes", "n1")["spec"]["unschedulable"] is True
    assert run(cluster, "taint nodes n1 a=b:NoSchedule c:NoExecute").kubectl == (
        "kubectl taint nodes n1 a=b:NoSchedule c:NoExecute"
    )
    assert len(stored(cluster, "nodes", "n1")["spec"]["taints"]) == 2
    assert run(cluster, "taint n1 a- c:NoExecute-").text == "node/n1 untainted"
    assert "taints" not in stored(cluster, "nodes", "n1")["spec"]
    run(cluster, "label node/n2 disk=ssd")
    assert stored(cluster, "nodes", "n2")["metadata"]["labels"]["disk"] == "ssd"
    run(cluster, "label no n2 disk-")
    assert "disk" not in stored(cluster, "nodes", "n2")["metadata"]["labels"]
    said = run(cluster, "fail node n2")
    assert said.kubectl == "kubectl annotate node n2 schedviz/failed=true"
    assert stored(cluster, "nodes", "n2")["metadata"]["annotations"] == {"schedviz/failed": "true"}
    assert run(cluster, "scale deployment shop 3").text == "deployment.apps/shop scaled"
    assert stored(cluster, "deployments.apps", "default/shop")["spec"]["replicas"] == 3
    said = run(cluster, "drain n1")
    assert said.text == "node/n1 cordoned\nevicting pod default/old\nnode/n1 drained"
    assert "deletionTimestamp" in stored(cluster, "pods", "default/old")["metadata"]
    assert run(cluster, "delete deploy shop").text == "deployment.apps shop deleted"
    assert cluster.get("deployments.apps", "default/shop") is None
    run(cluster, "rm node n1 n2")
    assert cluster.count("nodes") == 0


def test_a_drain_does_not_evict_pods_that_a_budget_protects(cluster: Sandbox) -> None:
    write.patch(cluster, "pods", "default/old", {"metadata": {"labels": {"app": "a"}}})
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "a"},
        "spec": {"selector": {"matchLabels": {"app": "a"}}, "minAvailable": 1},
        "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1},
    }
    write.create(cluster, [budget])
    assert "violate the pod's disruption budget" in run(cluster, "drain n1").text
    assert "deletionTimestamp" not in stored(cluster, "pods", "default/old")["metadata"]


def test_commands_control_time_and_the_page(cluster: Sandbox) -> None:
    run(cluster, "pause")
    assert cluster.clock().paused
    run(cluster, "step cycle 3")
    steps = cluster.clock().steps
    assert steps
    assert (steps.unit, steps.left) == ("cycle", 3)
    run(cluster, "speed 4x")
    assert cluster.clock().speed == 4
    run(cluster, "speed max")
    assert cluster.clock().unpaced
    run(cluster, "run until bound web")
    assert cluster.clock().until == "bound default/web"
    run(cluster, "resume")
    assert not cluster.clock().until
    assert not cluster.clock().paused
    assert run(cluster, "goto cycle 12").panel == "cycles/12/"
    assert run(cluster, "describe pod old").panel == "pods/default/old/"
    assert run(cluster, "show deploy shop").panel == "objects/deployments.apps/default/shop/"
    assert run(cluster, "edit node n1").dialog == "edit/nodes/n1/"
    assert run(cluster, "config").dialog == "scheduler/"
    assert run(cluster, "as table").panel == "nodes/"
    assert run(cluster, "try every pending pod once").panel == "pending/"
    assert cluster.clock().until == "tried"
    assert run(cluster, "pending").panel == "pending/"
    assert run(cluster, "objects pdb").panel == "objects/poddisruptionbudgets.policy/"
    assert run(cluster, "filter is:pending -web").page == "?q=is%3Apending+-web"
    assert run(cluster, "theme dark").cookie == ("theme", "dark")
    assert run(cluster, "language zh").cookie == ("django_language", "zh-hans")
    listed = run(cluster, "get pods -o wide").text.splitlines()
    assert listed[0].split()[:3] == ["NAME", "READY", "STATUS"]
    assert listed[1].split()[0] == "old"
    assert run(cluster, "get jobs").text == "No resources found in default namespace."


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("", "create pod"),
        ("dance", "no command “dance”"),
        ("cordon", "cordon NODE"),
        ("cordon n1 n2", "cordon NODE"),
        ("cordon none", "not found"),
        ("create pod 'a", "quotation mark"),
        ("create pod Not/Good", "cannot be a name here"),
        ("create pod web --cpu lots", "--cpu"),
        ("create pod web --priority none-such", "--priority"),
        ("create pod web --copies", "needs a value"),
        ("create pod web --speed 3", "has no flag --speed"),
        ("delete spaceship x", "no kind"),
        ("delete pod", "delete KIND NAME..."),
        ("taint n1 nonsense", "key=value:Effect"),
        ("label node n1", "key=value"),
        ("label node n1 plain", "key=value"),
        ("scale node n1 3", "cannot be scaled"),
        ("scale deploy shop many", "number"),
        ("speed 1000", "from 0.1 to 100"),
        ("speed fast", "not a number"),
        ("step inf", "“inf” is not a number"),
        ("step cycle nan", "“nan” is not a number"),
        ("step 1.5", "“1.5” is not a number"),
        ("goto -1", "“-1” is not a number"),
        ("until never", "nothing-pending"),
        ("describe node none", "no node none"),
        ("x" * 2000, "at most"),
    ],
)
def test_a_wrong_command_gets_a_message_and_writes_nothing(cluster: Sandbox, line: str, part: str) -> None:
    before = cluster.version()
    with pytest.raises(CommandError) as error:
        run(cluster, line)
    assert part in str(error.value)
    assert cluster.version() == before


def test_a_line_is_completed_by_commands_names_flags_and_choices(cluster: Sandbox) -> None:
    cluster.commit(Commit(decisions=[SCHEDULED]))

    def lines(text: str) -> list[str]:
        return [option.line for option in complete(cluster, text)]

    assert lines("cre")[:2] == ["create pod ", "create priorityclass "]
    assert "drain " in lines("dr")
    assert lines("cordon ") == ["cordon n1 ", "cordon n2 "]
    assert lines("delete po") == ["delete pod "]
    assert lines("describe pod ol") == ["describe pod old "]
    assert "create pod web --priority high " in lines("create pod web --priority ")
    assert "create pod web --cpu " in lines("create pod web --c")
    assert lines("goto ") == ["goto 7 "]
    assert "until preemption " in lines("until p")
    assert complete(cluster, "create pod 'unfinished") == []
    words = [name for command in COMMANDS for name in (command.words, *command.also)]
    assert len(words) == len(set(words)), "two commands have the same name"


def test_every_command_is_documented() -> None:
    document = Path(__file__).parent.parent.parent / "docs" / "COMMANDS.md"
    documented = re.findall(r"^\| `([^`]+)` \|", document.read_text(), re.MULTILINE)
    assert set(documented) == {command.usage for command in COMMANDS}


def test_the_command_bar_is_a_page_without_scripts_and_a_part_with_them(cluster: Sandbox) -> None:
    client = Client(headers={"host": "localhost"})
    path = f"/s/{cluster.name}/command/"
    assert "drain NODE" in client.get(path).content.decode()
    wrong = client.post(path, {"text": "cordon <none>"})
    assert wrong.status_code == 422
    assert "&lt;none&gt;" in wrong.content.decode()
    assert client.post(path, {"text": "describe pod old"}).headers["Location"].endswith("/pods/default/old/")
    went = client.post(path, {"text": "describe pod old"}, headers=HTMX)
    assert "schedviz:go" in went.headers["HX-Trigger"]
    done = client.post(path, {"text": "cordon n1"}, headers=HTMX).content.decode()
    assert "kubectl cordon n1" in done
    shop = client.get(f"/s/{cluster.name}/objects/deployments.apps/default/shop/").content.decode()
    assert "kubectl scale deployment shop --replicas=3" in shop
    assert "<html" not in done
    dark = client.post(path, {"text": "theme dark"}, headers=HTMX)
    assert (dark.cookies["theme"].value, "HX-Redirect" in dark.headers) == ("dark", True)
    assert 'data-theme="dark"' in client.get(f"/s/{cluster.name}/").content.decode()
    client.post(path, {"text": "theme light"})
    assert 'data-theme="light"' in client.get(f"/s/{cluster.name}/").content.decode()
    client.post(path, {"text": "theme system"})
    assert 'data-theme=""' in client.get("/").content.decode()
    offered = client.get(f"{path}options/", {"text": "cordon n"}).content.decode()
    assert offered.count('role="option"') == 2


def test_the_scheduler_stands_down_and_schedules_again(cluster: Sandbox) -> None:
    assert run(cluster, "outside").panel == "outside/"
    assert "stands down" in run(cluster, "stand down").text
    assert cluster.meta().stands_down
    for line in ("step", "step cycle"):
        with pytest.raises(CommandError, match="no cycle to step through"):
            run(cluster, line)
    assert run(cluster, "step event").text == "paused; steps taken: 1"
    assert "schedules the pods of its profiles again" in run(cluster, "schedule again").text
    assert not cluster.meta().stands_down

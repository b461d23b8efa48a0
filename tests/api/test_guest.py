"""A scheduler outside of schedviz binds the pods that name it: the example of docs/GUEST.md."""

import subprocess
import sys
from pathlib import Path

from schedviz.api import write
from schedviz.store import Store
from tests.waiting import eventually

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "guest_scheduler.py"


def test_the_example_binds_its_pods_to_the_node_with_the_most_free_cpu(
    store: Store, cluster: str, url: str
) -> None:
    sandbox = store.sandbox(cluster)
    nodes = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name},
            "status": {"capacity": {"cpu": cpu, "memory": "1Gi"}},
        }
        for name, cpu in (("small", "1"), ("large", "4"))
    ]
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": "2"}}}
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {"containers": [container], "schedulerName": scheduler},
        }
        for name, scheduler in (("first", "guest"), ("other", "default-scheduler"), ("second", "guest"))
    ]
    write.create(sandbox, [*nodes, *pods])

    def node_of(name: str) -> str:
        pod = sandbox.get("pods", f"default/{name}")
        assert pod is not None
        return str(pod["spec"].get("nodeName", ""))

    with subprocess.Popen(
        [sys.executable, EXAMPLE, url, "guest"], stdout=subprocess.PIPE, text=True
    ) as guest:
        eventually(lambda: node_of("first") and node_of("second"), "the guest binds its pods")
        third = {**pods[0], "metadata": {"name": "third"}}
        write.create(sandbox, [third])
        assert guest.stdout is not None
        said = [guest.stdout.readline() for _ in range(3)]
        guest.terminate()
    assert (node_of("first"), node_of("second"), node_of("other")) == ("large", "large", "")
    assert said[2] == "third: no node has enough CPU\n"
    assert node_of("third") == ""

"""What is parsed of a pod's spec is shared by all pods with an equal spec, and by no others."""

from typing import Any

from simulator.objects.pod import Pod
from simulator.objects.spec_fields import MAX_SPEC_BYTES

AFFINITY = {
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "zone", "labelSelector": {}}]
    }
}


def pod(name: str, namespace: str = "default", status: dict[str, Any] | None = None, **spec: Any) -> Pod:
    container = {"name": "main", "image": "app", "resources": {"requests": {"cpu": "1"}}}
    return Pod.parse(
        {
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"containers": [container], "affinity": AFFINITY, **spec},
            "status": status or {},
        }
    )


def test_equal_specs_share_what_is_parsed_also_with_a_node() -> None:
    one, other = pod("a"), pod("b", nodeName="node-1")
    assert one.requests is other.requests
    assert one.affinity is other.affinity
    assert other.node_name == "node-1"
    assert not one.node_name


def test_other_namespaces_specs_and_statuses_have_their_own() -> None:
    one = pod("a")
    assert pod("b", "other").affinity.required[0].namespaces == {"other"}
    assert one.affinity.required[0].namespaces == {"default"}
    assert pod("c", overhead={"cpu": "1"}).requests == {"cpu": 2000}
    resized = {"containerStatuses": [{"name": "main", "resources": {"requests": {"cpu": "3"}}}]}
    assert pod("d", status=resized).requests == {"cpu": 3000}
    assert pod("e").requests == one.requests == {"cpu": 1000}


def test_large_specs_are_parsed_each_time() -> None:
    args = {"terminationMessagePath": "x" * MAX_SPEC_BYTES}
    one, other = pod("a", **args), pod("b", **args)
    assert one.requests == other.requests
    assert one.requests is not other.requests
    assert one.tolerations is one.tolerations

from typing import Any

import pytest

from simulator.objects.node import Node
from simulator.objects.pod import HostPort, Pod
from simulator.objects.pod_requests import is_extended_resource, is_scalar_resource

MI = 1 << 20


def container(name: str = "c", *, sidecar: bool = False, **requests: str) -> dict[str, Any]:
    made: dict[str, Any] = {"name": name, "resources": {"requests": requests}}
    return made | ({"restartPolicy": "Always"} if sidecar else {})


def pod(*containers: dict[str, Any], status: Any = None, **spec: Any) -> Pod:
    manifest = {"metadata": {"name": "p"}, "spec": {"containers": list(containers), **spec}}
    return Pod.parse(manifest | ({"status": status} if status else {}))


def test_fractions_are_added_before_they_are_rounded_up() -> None:
    assert pod(container(cpu="0.4m"), container(cpu="0.4m")).requests == {"cpu": 1}


def test_an_init_container_counts_with_the_sidecars_before_it_and_not_with_those_after() -> None:
    init = [
        container("a", sidecar=True, cpu="1"),
        container("b", cpu="3"),
        container("d", sidecar=True, cpu="1"),
    ]
    assert pod(container(cpu="500m"), initContainers=init).requests == {"cpu": 4000}


def test_pod_level_requests_replace_and_overhead_comes_last() -> None:
    made = pod(
        container(cpu="2", memory="1Gi", **{"ephemeral-storage": "1Gi"}),
        resources={"requests": {"cpu": "1", "ephemeral-storage": "7Gi"}},
        overhead={"cpu": "250m"},
    )
    assert made.requests == {"cpu": 1250, "memory": 1024 * MI, "ephemeral-storage": 1024 * MI}


def test_a_container_being_resized_counts_at_the_most_of_what_it_asks_is_given_and_has() -> None:
    given = {
        "containerStatuses": [
            {
                "name": "c",
                "resources": {"requests": {"cpu": "1", "memory": "64Mi"}},
                "allocatedResources": {"cpu": "2"},
            }
        ]
    }
    assert pod(container(cpu="3"), status=given).requests == {"cpu": 3000, "memory": 64 * MI}
    infeasible = {"conditions": [{"type": "PodResizePending", "reason": "Infeasible"}], **given}
    assert pod(container(cpu="3"), status=infeasible).requests == {"cpu": 2000, "memory": 64 * MI}
    assert pod(container(cpu="3"), status=given).own_requests == {"cpu": 3000}, (
        "not while it is being scheduled"
    )


def test_containers_without_requests_count_a_default_in_scoring_only() -> None:
    made = pod(container("a"), container("b", cpu="0"), container("d", memory="1Mi"))
    assert made.requests == {"cpu": 0, "memory": MI}
    assert made.non_zero == (200, 401 * MI), "a request of zero is a request"
    assert made.scored_requests == {"cpu": 200, "memory": 401 * MI}


def test_defaults_fill_only_what_pod_level_requests_leave_at_zero_on_a_node_and_ignore_them_when_scored() -> (
    None
):
    made = pod(container("a"), container("b"), resources={"requests": {"memory": "1Mi"}})
    assert made.non_zero == (200, MI)
    assert made.scored_requests == {"cpu": 200, "memory": 400 * MI}


@pytest.mark.parametrize(
    ("name", "extended", "scalar"),
    [
        ("cpu", False, False),
        ("example.com/gpu", True, True),
        ("hugepages-2Mi", False, True),
        ("kubernetes.io/batch", False, True),
        ("attachable-volumes-aws-ebs", False, True),
        ("requests.example.com/gpu", False, False),
        ("Example.com/gpu", False, False),
        ("example.com/", False, False),
    ],
)
def test_resources_are_classified_by_their_names(name: str, extended: bool, scalar: bool) -> None:
    assert is_extended_resource(name) is extended
    assert is_scalar_resource(name) is scalar


def test_host_ports_of_sidecars_count_and_those_of_ordinary_init_containers_do_not() -> None:
    def at(port: int, **more: Any) -> dict[str, Any]:
        return {"name": f"c{port}", "ports": [{"containerPort": 1, "hostPort": port, **more}]}

    made = pod(
        at(80, hostIP="10.0.0.1", protocol="UDP"),
        at(0),
        initContainers=[at(81), {**at(82), "restartPolicy": "Always"}],
    )
    assert made.host_ports == (HostPort("10.0.0.1", "UDP", 80), HostPort("0.0.0.0", "TCP", 82))


def test_an_assumed_pod_is_the_same_pod_on_a_node() -> None:
    waiting = pod(container(cpu="1"))
    assumed = waiting.assumed("n1")
    assert (assumed.node_name, assumed.manifest["spec"]["nodeName"]) == ("n1", "n1")
    assert (waiting.node_name, "nodeName" in waiting.manifest["spec"]) == ("", False)
    assert assumed.requests == waiting.requests


def test_a_node_offers_what_is_allocatable() -> None:
    node = Node.parse(
        {
            "metadata": {"name": "n"},
            "status": {
                "capacity": {"cpu": "9"},
                "allocatable": {"cpu": "3.94", "pods": "8", "example.com/a": "2", "strange": "1"},
            },
        }
    )
    assert (node.allocatable, node.allowed_pods) == ({"cpu": 3940, "example.com/a": 2}, 8)

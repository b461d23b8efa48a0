"""The status that the kubelets write of pods: addresses, containers, conditions, and the last one of a pod
that is deleted."""

import ipaddress
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from simulator import trace
from simulator.api import Change, Manifest, WatchEvent
from simulator.memory import MemoryStorage
from tests.simulator.controllers.workloads import new_leader, phase, pods, workload
from tests.simulator.lab import Lab, node, pod


def addressed(name: str, *addresses: str, cidrs: Sequence[str] = ()) -> Manifest:
    """A node that says what its addresses and those of its pods are."""
    spec: dict[str, Any] = {"podCIDR": cidrs[0], "podCIDRs": [*cidrs]} if cidrs else {}
    made = node(name, **spec)
    if addresses:
        made["status"]["addresses"] = [{"type": "InternalIP", "address": each} for each in addresses]
    return made


def address(lab: Lab, name: str) -> str:
    found: str = lab.pod(name)["status"]["podIP"]
    return found


def addresses_of_node(lab: Lab, name: str) -> list[tuple[str, str]]:
    listed = lab.api.objects["nodes"][name]["status"]["addresses"]
    return [(each["type"], each["address"]) for each in listed]


def watched(lab: Lab, name: str) -> list[WatchEvent]:
    """The changes of a pod that were not observed yet."""
    return [event for event in lab.api.take_events() if event.key == f"default/{name}"]


def test_a_running_pod_has_the_status_that_a_kubelet_of_v1_34_writes() -> None:
    lab = Lab()
    lab.create(addressed("n1", "192.168.0.7", cidrs=["10.244.3.0/24"]), pod("web"))
    lab.run(5)
    status = lab.pod("web")["status"]
    assert (status["podIP"], status["podIPs"]) == ("10.244.3.2", [{"ip": "10.244.3.2"}])
    assert (status["hostIP"], status["hostIPs"]) == ("192.168.0.7", [{"ip": "192.168.0.7"}])
    assert status["observedGeneration"] == 1
    assert [(each["type"], each["status"], each["observedGeneration"]) for each in status["conditions"]] == [
        ("PodReadyToStartContainers", "True", 1),
        ("Initialized", "True", 1),
        ("Ready", "True", 1),
        ("ContainersReady", "True", 1),
        ("PodScheduled", "True", 1),
    ]
    [container] = status["containerStatuses"]
    runtime, _, digest = container["containerID"].partition("://")
    assert (runtime, len(digest)) == ("containerd", 64)


def test_all_is_written_when_the_pod_starts_and_is_the_same_in_each_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    commit, written = MemoryStorage.commit, Counter[str]()

    def counted(api: MemoryStorage, changes: Sequence[Change]) -> list[int]:
        written.update(change.key for change in changes if change.resource in ("pods", "nodes"))
        return commit(api, changes)

    monkeypatch.setattr(MemoryStorage, "commit", counted)
    statuses = []
    for _ in range(2):
        written.clear()
        lab = Lab()
        lab.create(node("n1"), node("n2"), *(pod(f"p{number}") for number in range(4)))
        lab.run(60)
        each_pod = {f"default/p{number}": 3 for number in range(4)}
        assert written == {"n1": 1, "n2": 1, **each_pod}, "a pod is created, bound and started"
        statuses.append({name: each["status"] for name, each in lab.api.objects["pods"].items()})
    assert statuses[0] == statuses[1]


def test_nodes_get_an_internal_address_unless_they_have_one() -> None:
    lab = Lab()
    lab.create(node("a"), addressed("b", "172.18.0.3"), node("c"))
    lab.create(node("later"), entry="api")
    lab.run(5)
    assert addresses_of_node(lab, "a") == [("InternalIP", "172.18.0.2"), ("Hostname", "a")]
    assert addresses_of_node(lab, "b") == [("InternalIP", "172.18.0.3")]
    assert addresses_of_node(lab, "c") == [("InternalIP", "172.18.0.4"), ("Hostname", "c")]
    assert addresses_of_node(lab, "later") == [("InternalIP", "172.18.0.5"), ("Hostname", "later")]
    version = lab.api.objects["nodes"]["a"]["metadata"]["resourceVersion"]
    lab.run(60)
    assert lab.api.objects["nodes"]["a"]["metadata"]["resourceVersion"] == version


def test_a_pod_starts_after_the_node_of_the_api_has_its_address() -> None:
    lab = Lab()
    lab.create(node("n1"), entry="api")
    lab.create(pod("placed", nodeName="n1"))
    lab.run(0)
    assert lab.pod("placed")["status"]["hostIP"] == "172.18.0.2"


def test_no_two_pods_have_the_same_address_and_one_is_given_again_after_the_end_of_its_pod() -> None:
    lab = Lab()
    shared = ["10.244.0.0/24"]
    lab.create(node("a"), node("b"), addressed("c", cidrs=shared), addressed("d", cidrs=shared))
    lab.create(*(pod(f"p{number}", cpu="100m", nodeName="abcd"[number % 4]) for number in range(40)))
    lab.run(5)
    held = {name: each["status"]["podIP"] for name, each in lab.api.objects["pods"].items()}
    assert len({*held.values()}) == 40
    assert all(ipaddress.ip_address(held[f"default/p{number}"]) in ipaddress.ip_network(shared[0])
               for number in range(40) if number % 4 > 1)  # fmt: skip
    lab.delete_pod("p6")
    lab.run(60)
    lab.create(pod("next", nodeName="d"))
    lab.run(5)
    assert address(lab, "next") == held["default/p6"]
    leader = new_leader(lab)
    leader.create(*(pod(f"late{number}", cpu="100m", nodeName="abcd"[number]) for number in range(4)))
    leader.run(5)
    assert len({each["status"]["podIP"] for each in pods(leader)}) == 44


def test_a_pod_of_the_host_network_has_the_addresses_of_its_node() -> None:
    lab = Lab()
    lab.create(addressed("n1", "192.168.0.7", "fd00::7", cidrs=["10.244.0.0/24", "fd00:1::/64"]))
    lab.create(pod("on-host", hostNetwork=True), pod("other"))
    lab.run(5)
    both = [{"ip": "192.168.0.7"}, {"ip": "fd00::7"}]
    assert lab.pod("on-host")["status"]["podIPs"] == both
    assert lab.pod("other")["status"]["hostIPs"] == both
    assert lab.pod("other")["status"]["podIPs"] == [{"ip": "10.244.0.2"}, {"ip": "fd00:1::2"}]


def test_a_pod_waits_while_no_address_of_its_node_is_free() -> None:
    lab = Lab()
    lab.create(addressed("n1", cidrs=["10.244.0.0/30"]), pod("first"))
    lab.run(5)
    lab.create(pod("second", annotations={"schedviz/run-seconds": "5"}))
    lab.run(5)
    assert phase(lab.pod("second")) == "Pending"
    assert any(
        "no address is free in 10.244.0.0/30" in event.message for event in lab.of(trace.ControllerFailed)
    )
    lab.delete_pod("first")
    lab.run(3600)
    assert phase(lab.pod("second")) == "Succeeded"
    assert address(lab, "second") == "10.244.0.2"


@pytest.mark.parametrize(
    ("annotations", "grace", "code"),
    [
        ({}, 3, 137),
        ({"schedviz/stop-seconds": "3"}, 3, 137),
        ({"schedviz/stop-seconds": "1"}, 3, 143),
        ({"schedviz/stop-seconds": "1", "schedviz/exit-code": "0"}, 3, 0),
    ],
)
def test_a_deleted_pod_ends_before_it_is_removed_in_one_commit(
    annotations: dict[str, str], grace: int, code: int
) -> None:
    lab = Lab()
    lab.create(node("n1"), pod("web", annotations=annotations, terminationGracePeriodSeconds=grace))
    lab.run(5)
    lab.delete_pod("web")
    running = lab.pod("web")
    lab.simulation.step(lab.now)
    lab.api.take_events()
    while lab.exists("web"):
        assert lab.pod("web") == running
        lab.now = lab.simulation.next_due() or 0
        lab.simulation.step(lab.now)
    last, gone = watched(lab, "web")
    assert (last.type, gone.type, gone.version) == ("MODIFIED", "DELETED", last.version + 1)
    assert last.object["metadata"]["deletionGracePeriodSeconds"] == grace
    status = last.object["status"]
    assert status["phase"] == phase(gone.object) == ("Failed" if code else "Succeeded")
    [container] = status["containerStatuses"]
    ended = container["state"]["terminated"]
    assert (ended["exitCode"], ended["containerID"]) == (code, container["containerID"])
    states = {each["type"]: (each["status"], each.get("reason")) for each in status["conditions"]}
    reason = "PodFailed" if code else "PodCompleted"
    assert states["Ready"] == states["ContainersReady"] == ("False", reason)
    assert states["PodReadyToStartContainers"] == ("False", None)
    assert status["observedGeneration"] == 2, "the deletion counts a generation"


def test_a_pod_that_is_deleted_before_it_starts_has_failed() -> None:
    lab = Lab()
    lab.create(node("n1"), pod("web", terminationGracePeriodSeconds=1))
    lab.run(0.5)
    lab.delete_pod("web")
    while lab.exists("web"):
        lab.api.take_events()
        lab.now = lab.simulation.next_due() or 0
        lab.simulation.step(lab.now)
    last, _ = watched(lab, "web")
    [container] = last.object["status"]["containerStatuses"]
    assert phase(last.object) == "Failed"
    assert container["state"]["terminated"]["reason"] == "ContainerStatusUnknown"


def test_the_room_of_a_deleted_pod_is_free_when_it_has_ended() -> None:
    """The scheduler's watch leaves out pods that have ended: the move comes with the last status."""
    lab = Lab()
    lab.create(node("n1", cpu="1"), pod("first", terminationGracePeriodSeconds=3))
    lab.run(2)
    lab.create(pod("next"))
    lab.run(2)
    lab.delete_pod("first")
    lab.run(60)
    kinds = [
        type(event) for event in lab.trace if getattr(event, "pod", "") in ("default/first", "default/next")
    ]
    assert kinds.index(trace.PodRemoved) > max(
        index
        for index, kind in enumerate(kinds[: kinds.index(trace.PodRemoved) + 1])
        if kind is trace.QueueMoved
    )
    assert lab.node_of("next") == "n1"


@pytest.mark.parametrize("policy", ["Never", "OnFailure"])
def test_the_pods_of_jobs_end_by_themselves(policy: str) -> None:
    lab = Lab()
    lab.create(node("n1"), *jobs(policy, quick=None, slow="30"), pod("alone", restartPolicy=policy))
    lab.run(12)
    assert finished_jobs(lab) == ["quick"]
    lab.run(20)
    assert finished_jobs(lab) == ["quick", "slow"]
    lab.run(3600)
    assert phase(lab.pod("alone")) == "Running"


def test_the_pods_of_a_job_whose_containers_fail_do_not_succeed() -> None:
    lab = Lab()
    [job] = jobs("OnFailure", quick=None)
    job["spec"]["template"]["metadata"] = {"annotations": {"schedviz/fail-after-seconds": "15"}}
    lab.create(node("n1"), job)
    lab.run(14)
    assert [phase(each) for each in pods(lab)] == ["Running"]
    lab.run(10)
    assert [event.pod[:14] for event in lab.of(trace.ContainersFailed)] == ["default/quick-"]


def test_containers_that_another_cluster_started_run_on() -> None:
    """How long they take is not known."""
    lab = Lab()
    lab.create(node("n1"), *jobs("Never", quick=None))
    lab.run(5)
    [running] = pods(lab)
    name = running["metadata"]["name"]

    def foreign(manifest: Manifest) -> Manifest:
        [container] = manifest["status"]["containerStatuses"]
        status = {**manifest["status"], "containerStatuses": [{**container, "containerID": "containerd://1"}]}
        return {**manifest, "status": status}

    lab.update("pods", f"default/{name}", foreign)
    lab.run(3600)
    assert phase(lab.pod(name)) == "Running"


def jobs(policy: str, **seconds: str | None) -> list[Manifest]:
    """A Job for each name, whose containers run for that time."""
    made = []
    for name, time in seconds.items():
        template: dict[str, Any] = {
            "spec": {"restartPolicy": policy, "containers": [{"name": "c", "image": "i"}]}
        }
        if time is not None:
            template["metadata"] = {"annotations": {"schedviz/run-seconds": time}}
        job = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name},
            "spec": {"template": template},
        }
        made.append(job)
    return made


def finished_jobs(lab: Lab) -> list[str]:
    return [event.job.removeprefix("default/") for event in lab.of(trace.JobFinished) if event.succeeded]


def test_pods_of_a_stateful_set_have_the_name_of_their_revision() -> None:
    lab = Lab()
    lab.create(
        node("n1"), workload("StatefulSet", replicas=2, serviceName="web"), workload("DaemonSet", "agent")
    )
    lab.run(60)
    revisions = {key.removeprefix("default/"): each["metadata"]["labels"]
                 for key, each in lab.api.objects["controllerrevisions.apps"].items()}  # fmt: skip
    labels = {each["metadata"]["name"]: each["metadata"]["labels"] for each in pods(lab)}
    of_set = next(name for name in revisions if name.startswith("web-"))
    assert of_set == f"web-{revisions[of_set]['controller.kubernetes.io/hash']}"
    assert labels["web-1"]["controller-revision-hash"] == of_set
    of_daemon = next(name for name in revisions if name.startswith("agent-"))
    digest = revisions[of_daemon]["controller-revision-hash"]
    assert of_daemon == f"agent-{digest}"
    agent = next(each for name, each in labels.items() if name.startswith("agent-"))
    assert (agent["controller-revision-hash"], agent["pod-template-generation"]) == (digest, "1")


def test_init_containers_have_ended_and_sidecars_run_until_the_pod_ends() -> None:
    init = [{"name": "first", "image": "i"}, {"name": "proxy", "image": "p", "restartPolicy": "Always"}]
    done = pod("done", initContainers=init, restartPolicy="Never")
    done["metadata"]["annotations"] = {"schedviz/run-seconds": "20"}
    failed = pod("failed", initContainers=init, restartPolicy="Never")
    failed["metadata"]["annotations"] = {"schedviz/fail-after-seconds": "20"}
    lab = Lab()
    lab.create(addressed("n1", "192.168.0.7"), done, failed, pod("deleted", initContainers=init))
    lab.run(5)
    first, proxy = lab.pod("done")["status"]["initContainerStatuses"]
    assert (first["ready"], first["started"], first["state"]["terminated"]["reason"]) == (
        True,
        False,
        "Completed",
    )
    assert (proxy["ready"], proxy["started"], [*proxy["state"]]) == (True, True, ["running"])
    assert first["containerID"] != proxy["containerID"]
    lab.run(30)
    for name in ("done", "failed"):
        first, proxy = lab.pod(name)["status"]["initContainerStatuses"]
        ended = proxy["state"]["terminated"]
        assert (proxy["ready"], proxy["started"], ended["exitCode"], ended["reason"]) == (
            False,
            False,
            0,
            "Completed",
        )
        assert first["state"]["terminated"]["exitCode"] == 0
    lab.delete_pod("deleted")
    while lab.exists("deleted"):
        lab.api.take_events()
        lab.now = lab.simulation.next_due() or 0
        lab.simulation.step(lab.now)
    last, _ = watched(lab, "deleted")
    first, proxy = last.object["status"]["initContainerStatuses"]
    assert proxy["state"]["terminated"]["exitCode"] == 137


def test_a_pod_that_is_a_hook_of_helm_ends_by_itself() -> None:
    """helm test waits for it."""
    hook, other = pod("hook", restartPolicy="Never"), pod("other", restartPolicy="Never")
    hook["metadata"]["annotations"] = {"helm.sh/hook": "test"}
    lab = Lab()
    lab.create(addressed("n1", "192.168.0.7"), hook, other)
    lab.run(20)
    assert lab.pod("hook")["status"]["phase"] == "Succeeded"
    assert lab.pod("other")["status"]["phase"] == "Running"

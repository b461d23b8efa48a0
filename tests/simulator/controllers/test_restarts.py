"""Containers that fail are restarted; pods become ready later, and stop after their time."""

from simulator import trace
from tests.simulator.controllers.workloads import new_leader
from tests.simulator.lab import START, Lab, node, pod

FAILS = {"schedviz/fail-after-seconds": "20"}


def test_the_backoff_of_a_failing_container_grows_up_to_five_minutes() -> None:
    lab = Lab()
    lab.create(node("n1"), pod("bad", annotations=FAILS))
    lab.run(2000)
    failed = [lab.seconds(event) for event in lab.of(trace.ContainersFailed)]
    restarted = [lab.seconds(event) for event in lab.of(trace.ContainersRestarted)]
    waits = [after - before for before, after in zip(failed, restarted, strict=False)]
    assert waits[:8] == [0, 10, 20, 40, 80, 160, 300, 300]
    assert lab.pod("bad")["status"]["phase"] == "Running"
    assert lab.pod("bad")["status"]["containerStatuses"][0]["restartCount"] == len(restarted)


def test_while_it_waits_it_is_in_crash_loop_back_off_and_not_ready() -> None:
    lab = Lab()
    lab.create(node("n1"), pod("bad", annotations=FAILS))
    lab.run(45)
    [status] = lab.pod("bad")["status"]["containerStatuses"]
    assert status["state"] == {"waiting": {"reason": "CrashLoopBackOff"}}
    assert status["lastState"]["terminated"]["exitCode"] == 1
    assert lab.condition("bad", "Ready")["status"] == "False"
    lab = new_leader(lab)
    lab.run(10)
    assert [(event.t - START) / 1e6 for event in lab.of(trace.ContainersRestarted)] == [51]
    assert lab.condition("bad", "Ready")["status"] == "True"


def test_the_backoff_is_reset_after_a_container_ran_for_long() -> None:
    lab = Lab()
    lab.create(node("n1"), pod("old", annotations={"schedviz/fail-after-seconds": "700"}))
    lab.run(3600)
    assert [lab.seconds(event) for event in lab.of(trace.ContainersRestarted)] == [
        701,
        1401,
        2101,
        2801,
        3501,
    ]


def test_a_pod_that_is_never_restarted_fails_for_good() -> None:
    lab = Lab()
    lab.create(node("n1"), pod("once", annotations=FAILS, restartPolicy="Never"))
    lab.run(60)
    assert lab.pod("once")["status"]["phase"] == "Failed"
    [event] = lab.of(trace.PodFinished)
    assert (lab.seconds(event), event.phase) == (21, "Failed")


def test_a_pod_gets_ready_and_stops_when_its_annotations_say() -> None:
    lab = Lab()
    times = {"schedviz/ready-after-seconds": "7", "schedviz/stop-seconds": "3"}
    lab.create(node("n1"), pod("slow", annotations=times), pod("hurried", annotations=times))
    lab.update(
        "pods",
        "default/hurried",
        lambda m: {**m, "spec": {**m["spec"], "terminationGracePeriodSeconds": 1}},
    )
    lab.run(7)
    assert lab.condition("slow", "Ready")["status"] == "False"
    lab.run(3)
    assert lab.condition("slow", "Ready")["status"] == "True"
    assert [lab.seconds(event) for event in lab.of(trace.PodReady)] == [8, 8]
    lab.delete_pod("slow")
    lab.delete_pod("hurried")
    lab.run(60)
    gone = {event.pod: lab.seconds(event) for event in lab.of(trace.PodRemoved)}
    assert gone == {"default/slow": 13, "default/hurried": 11}, "within the grace period at most"


def test_a_pod_created_with_a_status_keeps_it() -> None:
    lab = Lab()
    pulling: dict[str, object] = {
        "name": "main",
        "image": "i",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
    }
    pulling["state"] = {"waiting": {"reason": "ImagePullBackOff"}}
    status = {"phase": "Running", "containerStatuses": [pulling]}
    ends = pod("ends", annotations={"schedviz/run-seconds": "5"}, nodeName="n1") | {"status": status}
    lab.create(node("n1"), pod("dumped", nodeName="n1") | {"status": status}, ends)
    lab.run(60)
    assert lab.pod("dumped")["status"]["containerStatuses"] == [pulling | {"lastState": {}}]
    assert lab.pod("ends")["status"]["phase"] == "Succeeded"


def test_containers_that_its_status_does_not_name_fail_with_the_others() -> None:
    lab = Lab()
    lab.create(node("n1"), pod("bad", annotations={"schedviz/fail-after-seconds": "5"}))
    lab.run(3)
    lab.update("pods", "default/bad", lambda m: {**m, "status": {**m["status"], "containerStatuses": []}})
    lab.run(5)
    [status] = lab.pod("bad")["status"]["containerStatuses"]
    assert status["lastState"]["terminated"]["exitCode"] == 1

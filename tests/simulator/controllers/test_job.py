"""Jobs: a number of pods must succeed, and a number run at a time."""

from typing import Any

import pytest

from simulator import trace
from simulator.api import Manifest
from simulator.apiserver.served_features import serving
from simulator.apiserver.status import Invalid
from simulator.kernel.clock import END
from simulator.objects.pod_group import POD_GROUPS, WORKLOADS
from simulator.simulation import Options
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import V1_36
from tests.simulator.controllers.workloads import names, new_leader, pods, status, template
from tests.simulator.lab import START, Lab, node

JOBS = "jobs.batch"


def job(annotations: dict[str, str], *, policy: str = "Never", **spec: Any) -> Manifest:
    made = template("sum", annotations=annotations, restartPolicy=policy)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "sum"},
        "spec": {"template": made, **spec},
    }


def begun(manifest: Manifest) -> Lab:
    lab = Lab()
    lab.create(node("n1"), manifest)
    return lab.run(2)


RUNS, FAILS = {"schedviz/run-seconds": "10"}, {"schedviz/fail-after-seconds": "5"}


def conditions(lab: Lab) -> list[tuple[str, str]]:
    return [(c["type"], c["reason"]) for c in status(lab, JOBS, "sum").get("conditions", ())]


def end(lab: Lab) -> list[tuple[str, str]]:
    """The condition that the Job gets when its last pod has ended."""
    return conditions(lab)[1:]


COMPLETE = [("Complete", "CompletionsReached")]


def test_a_job_runs_its_pods_a_few_at_a_time_until_enough_have_ended_well() -> None:
    lab = begun(job(RUNS, completions=5, parallelism=2))
    for running, succeeded in ((2, 0), (2, 2), (1, 4)):
        assert len(names(lab)) == running
        assert status(lab, JOBS, "sum").get("succeeded", 0) == succeeded
        lab.run(11)
    assert conditions(lab) == [("SuccessCriteriaMet", "CompletionsReached"), *COMPLETE]
    found = status(lab, JOBS, "sum")
    assert found["succeeded"] == 5
    assert not {"failed", "active"} & {*found}, "a count of 0 is not written"
    assert [(e.job, e.succeeded) for e in lab.of(trace.JobFinished)] == [("default/sum", True)]
    assert not any("finalizers" in pod["metadata"] for pod in pods(lab, alive=False))


def test_failed_pods_are_replaced_with_growing_backoff_until_the_limit() -> None:
    lab = begun(job(FAILS, backoffLimit=2)).run(300)
    started = [(e.t - START) / 1e6 for e in lab.of(trace.PodStarted)]
    assert started == [1, 17, 43], "6 s of life, and 10 and 20 s of waiting"
    assert end(lab) == [("Failed", "BackoffLimitExceeded")]
    assert status(lab, JOBS, "sum")["failed"] == 3
    assert [pod["status"]["phase"] for pod in pods(lab, alive=False)] == ["Failed"] * 3


def test_restarts_within_a_pod_count_where_its_policy_is_on_failure() -> None:
    lab = begun(job(FAILS, policy="OnFailure", backoffLimit=2)).run(300)
    assert [e.restarts for e in lab.of(trace.ContainersRestarted)] == [1, 2]
    assert end(lab) == [("Failed", "BackoffLimitExceeded")]
    assert names(lab, alive=False) == []


def test_a_pod_that_is_deleted_before_its_end_counts_as_failed_and_is_replaced() -> None:
    lab = begun(job(RUNS))
    [first] = names(lab)
    lab.delete_pod(first)
    lab.run(120)
    assert end(lab) == COMPLETE
    assert status(lab, JOBS, "sum")["failed"] == 1
    assert first not in names(lab, alive=False)


def test_an_indexed_job_completes_each_index_once() -> None:
    lab = begun(job(RUNS, completions=4, parallelism=2, completionMode="Indexed")).run(12)
    assert status(lab, JOBS, "sum")["completedIndexes"] == "0,1"
    lab.run(30)
    assert status(lab, JOBS, "sum")["completedIndexes"] == "0-3"
    assert [name[:6] for name in names(lab, alive=False)] == ["sum-0-", "sum-1-", "sum-2-", "sum-3-"]


@pytest.mark.parametrize(
    ("spec", "left"), [({"ttlSecondsAfterFinished": 20}, None), ({"activeDeadlineSeconds": 5}, "Failed")]
)
def test_a_job_has_a_deadline_and_a_time_to_live(spec: dict[str, Any], left: str | None) -> None:
    lab = begun(job(RUNS, **spec)).run(60)
    assert names(lab, alive=False) == []
    if left:
        assert end(lab) == [(left, "DeadlineExceeded")]
    else:
        assert not lab.api.objects[JOBS]


def test_a_suspended_job_deletes_its_pods_until_it_is_resumed() -> None:
    lab = begun(job(RUNS))

    def suspended(value: bool) -> Any:
        return lambda m: {**m, "spec": {**m["spec"], "suspend": value}}

    lab.update(JOBS, "default/sum", suspended(True))
    lab.run(60)
    assert names(lab, alive=False) == []
    lab.update(JOBS, "default/sum", suspended(False))
    lab.run(60)
    assert end(lab) == COMPLETE


def test_the_pods_of_a_deleted_job_are_deleted_despite_their_finalizers() -> None:
    lab = begun(job(RUNS, parallelism=2, completions=4)).run(10)
    lab.delete(JOBS, "default/sum")
    lab.run(60)
    assert names(lab, alive=False) == []


def rules(*rules: Manifest) -> Manifest:
    return {"rules": [*rules]}


def test_pod_failure_policies_fail_the_job_or_ignore_the_failure() -> None:
    exit_code = {"operator": "In", "values": [42]}
    policy = rules(
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailJob", "onExitCodes": exit_code},
    )
    fails = {"schedviz/fail-after-seconds": "5", "schedviz/exit-code": "42"}
    lab = begun(job(fails, podFailurePolicy=policy, backoffLimit=0, parallelism=1))
    [first] = names(lab)
    target = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}

    def disrupted(manifest: Manifest) -> Manifest:
        state = {"phase": "Failed", "conditions": [*manifest["status"]["conditions"], target]}
        return {**manifest, "status": {**manifest["status"], **state}}

    lab.update("pods", f"default/{first}", disrupted)
    lab.run(12)
    [second] = names(lab)
    assert "failed" not in status(lab, JOBS, "sum"), "it was disrupted"
    lab.run(60)
    assert conditions(lab) == [("FailureTarget", "PodFailurePolicy"), ("Failed", "PodFailurePolicy")]
    assert status(lab, JOBS, "sum")["conditions"][1]["message"] == (
        f"Container main for pod default/{second} failed with exit code 42 matching FailJob rule at index 1"
    )


@pytest.mark.parametrize(
    ("rule", "seconds", "succeeded"),
    [({"succeededIndexes": "0,2"}, 25, 3), ({"succeededCount": 2}, 15, 2)],
)
def test_a_success_policy_ends_the_job_after_some_indexes(
    rule: Manifest, seconds: int, succeeded: int
) -> None:
    policy = rules({"succeededIndexes": "9"}, rule)
    lab = begun(job(RUNS, completions=10, parallelism=2, completionMode="Indexed", successPolicy=policy)).run(
        seconds
    )
    assert conditions(lab)[0] == ("SuccessCriteriaMet", "SuccessPolicy")
    assert names(lab) == []
    lab.run(60)
    assert end(lab) == [("Complete", "SuccessPolicy")]
    assert status(lab, JOBS, "sum")["conditions"][1]["message"] == "Matched rules at index 1"
    assert status(lab, JOBS, "sum")["succeeded"] >= succeeded


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"policy": "OnFailure", "podFailurePolicy": rules()}, 'only "Never" is supported when'),
        ({"podFailurePolicy": rules({"action": "Ignore"})}, "specifying one of OnExitCodes and"),
        ({"successPolicy": rules({"succeededCount": 1})}, "requires indexed completion mode"),
    ],
)
def test_invalid_job_policies_are_refused(spec: dict[str, Any], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        Lab().create(job(RUNS, **spec))


def test_a_new_leader_counts_no_pod_twice_and_keeps_the_backoff() -> None:
    lab = begun(job(FAILS, backoffLimit=2))
    for _ in range(30):
        lab = new_leader(lab.run(2))
    assert status(lab, JOBS, "sum")["failed"] == 3
    version = lab.api.version
    new_leader(lab).run(60)
    assert lab.api.version == version


def test_indexes_that_are_no_numbers_are_left_out() -> None:
    lab = begun(job(RUNS, completions=2, completionMode="Indexed"))

    def spoilt(manifest: Manifest) -> Manifest:
        return {
            **manifest,
            "status": {**manifest["status"], "completedIndexes": "nonsense,0-x,1-99999999999"},
        }

    lab.update(JOBS, "default/sum", spoilt)
    lab.run(60)
    assert status(lab, JOBS, "sum")["completedIndexes"] == "0,1"
    assert not lab.of(trace.ControllerFailed)


def tainted_node() -> Manifest:
    return node("n1", taints=[{"key": "down", "effect": "NoExecute"}])


def test_pods_evicted_at_once_count_as_failed_and_are_replaced_with_backoff_until_the_limit() -> None:
    """The template has nodeName, so that no scheduler rejects its pods."""
    lab = Lab()
    template = job(RUNS)["spec"]["template"]
    template["spec"]["nodeName"] = "n1"
    lab.create(tainted_node(), job(RUNS, backoffLimit=3, template=template))
    lab.run(300)
    created = [(e.t - START) / 1e6 for e in lab.of(trace.ObjectsCreated)]
    assert created == [0, 10, 30, 70], "it waits 10, 20 and 40 s"
    assert end(lab) == [("Failed", "BackoffLimitExceeded")]
    assert status(lab, JOBS, "sum")["failed"] == 4
    assert names(lab, alive=False) == []


@pytest.mark.parametrize("spec", [{"podReplacementPolicy": "Failed"}, {"podFailurePolicy": {"rules": []}}])
def test_a_job_that_replaces_only_failed_pods_waits_for_the_end_of_a_deleted_one(
    spec: dict[str, Any],
) -> None:
    lab = begun(job({}, **spec))
    [first] = names(lab)
    lab.delete_pod(first)
    lab.run(29)
    assert names(lab, alive=False) == [first], "it has 30 s to end"
    lab.run(12)
    assert status(lab, JOBS, "sum")["failed"] == 1
    assert len(names(lab)) == 1


def test_pods_that_a_job_deletes_itself_do_not_count_as_failed() -> None:
    lab = begun(job(RUNS, parallelism=3, completions=3))
    lab.update(JOBS, "default/sum", lambda m: {**m, "spec": {**m["spec"], "parallelism": 1}})
    lab.run(1)
    assert len(names(lab)) == 1
    lab.run(120)
    assert "failed" not in status(lab, JOBS, "sum")
    assert end(lab) == COMPLETE


def test_a_deadline_beyond_the_calendar_is_never_reached() -> None:
    lab = begun(job(RUNS, activeDeadlineSeconds=(1 << 63) - 1, suspend=False))
    lab.run(2)
    due = lab.simulation.next_due()
    assert due is not None
    assert due <= END
    lab.run(60)
    assert status(lab, JOBS, "sum")["succeeded"] == 1


def gang_lab(**spec: Any) -> Lab:
    gates = {"GenericWorkload": True, "GangScheduling": True, "WorkloadWithJob": True}
    features = Features(V1_36, gates)
    given = {"completions": 3, "parallelism": 3, "completionMode": "Indexed", **spec}
    with serving(features):
        lab = Lab(Options(kubernetes=V1_36.patch, feature_gates=gates))
        lab.create(node("n1"), job(RUNS, **given))
        return lab.run(2)


def test_a_job_that_is_a_gang_gets_a_workload_and_a_group_before_its_pods() -> None:
    lab = gang_lab()
    [workload] = lab.api.objects[WORKLOADS].values()
    [group] = lab.api.objects[POD_GROUPS].values()
    assert workload["spec"] == {
        "controllerRef": {"apiGroup": "batch", "kind": "Job", "name": "sum"},
        "podGroupTemplates": [{"name": "sum-pgt-0", "schedulingPolicy": {"gang": {"minCount": 3}}}],
    }
    name = workload["metadata"]["name"]
    reference = {"workloadName": name, "podGroupTemplateName": "sum-pgt-0"}
    assert group["spec"]["podGroupTemplateRef"] == {"workload": reference}
    owners = group["metadata"]["ownerReferences"]
    assert [(each["kind"], each.get("controller", False)) for each in owners] == [
        ("Job", True),
        ("Workload", False),
    ]
    assert [each["spec"]["schedulingGroup"]["podGroupName"] for each in pods(lab)] == (
        [group["metadata"]["name"]] * 3
    )
    assert group["status"]["conditions"][0]["reason"] == "Scheduled"


@pytest.mark.parametrize("spec", [{"parallelism": 2}, {"completionMode": "NonIndexed"}, {"suspend": True}])
def test_other_jobs_get_none_and_a_suspended_one_gets_it_at_once(spec: dict[str, Any]) -> None:
    lab = gang_lab(**spec)
    assert len(lab.api.objects.get(POD_GROUPS, {})) == ("suspend" in spec)
    assert all("schedulingGroup" not in each["spec"] for each in pods(lab))

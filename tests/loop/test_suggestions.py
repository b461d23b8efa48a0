"""An applied suggestion has the predicted result: it is applied by the write path to a copy of the sandbox,
which a worker then runs."""

import time
from functools import partial
from random import Random

import msgspec
import pytest

from schedviz.api import edits, write
from schedviz.api.branch import branch_of_now
from schedviz.jobs.find_answer import find_answer
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.question import QUESTIONS, Question
from schedviz.store import Clock, Meta, Sandbox, Store
from simulator.api import SECOND, Manifest
from simulator.apiserver.status import Conflict
from simulator.harness.random_clusters import ClusterMixture, random_cluster, random_pending_pod
from simulator.what_if.answer import Suggestion
from tests.loop.conftest import node, pod
from tests.processes import Process
from tests.simulator.devices import (
    claim_template,
    device_class,
    pod_of_claim,
    pod_of_template,
    resource_claim,
    resource_slice,
)
from tests.waiting import eventually

ROOMY = ClusterMixture(full=(0.3, 0.9), odd=0.35)
CLUSTERS = 4
START = 1_735_689_600 * SECOND


def asked(store: Store, sandbox: Sandbox, key: str) -> Question:
    manifest = sandbox.get("pods", key)
    assert manifest
    question = Question(kind="what-if", sandbox=sandbox.name, pod=key, uid=manifest["metadata"]["uid"])
    questions = JobStore(store, QUESTIONS)
    find_answer(store, questions, question)
    answered = questions.read(question.key)
    assert answered
    assert answered.state == "done", answered
    return answered


def is_pending(manifest: Manifest) -> bool:
    return manifest["kind"] == "Pod" and "nodeName" not in manifest["spec"]


def came_true(sandbox: Sandbox, key: str, said: Suggestion) -> bool:
    manifest = sandbox.get("pods", key)
    if manifest is None:
        return False
    if said.outcome.kind == "bound":
        return manifest["spec"].get("nodeName") in (said.outcome.node, *said.outcome.feasible)
    nominated = (manifest.get("status") or {}).get("nominatedNodeName")
    return said.outcome.node in (nominated, manifest["spec"].get("nodeName"))


def test_each_applied_suggestion_has_its_predicted_result(
    store: Store, sandbox_name: str, worker: Process
) -> None:
    kinds = set()
    for number in range(CLUSTERS):
        random = Random(number)
        meta = Meta(f"{sandbox_name[:50]}-{number}", pace=1000)
        # No other pod is pending, as a prediction is for one pod, and deleted pods end soon.
        placed = [each for each in random_cluster(random, 4, ROOMY) if not is_pending(each)]
        clock = Clock(START, time.time(), speed=100.0)
        sandbox = write.create_sandbox(
            store, meta, [*placed, random_pending_pod(random, "question", ROOMY)], clock
        )
        for said in asked(store, sandbox, "default/question").suggestions:
            there = branch_of_now(store, sandbox, said.edits, "what if")
            eventually(partial(came_true, there, "default/question", said), f"{said.kind}: {said.outcome}")
            kinds.add(said.kind)
            store.delete(there.name)
        store.delete(sandbox.name)
    assert len(kinds) >= 5, kinds


def test_each_applied_suggestion_for_a_claim_has_its_predicted_result(
    store: Store, sandbox_name: str, worker: Process
) -> None:
    """Pods, claims and devices are deleted, recreated and released by the controllers."""
    objects = [
        node("n", cpu="4"),
        device_class(),
        resource_slice("n", 2),
        claim_template(),
        pod_of_template("holder"),
    ]
    clock = Clock(START, time.time(), speed=100.0)
    sandbox = write.create_sandbox(store, Meta(sandbox_name, pace=1000), objects, clock)
    eventually(lambda: (sandbox.get("pods", "default/holder") or {})["spec"].get("nodeName"), "the holder")
    write.create(sandbox, [resource_claim("mine", 2), pod_of_claim("question", "mine")])
    found = asked(store, sandbox, "default/question").suggestions
    assert [said.kind for said in found] == ["claim-count", "free-device", "drop-claim", "device"]
    for said in found:
        there = branch_of_now(store, sandbox, said.edits, "what if")
        eventually(partial(came_true, there, "default/question", said), f"{said.kind}: {said.outcome}")
        store.delete(there.name)


def test_a_suggestion_does_not_overwrite_later_changes(store: Store, sandbox: Sandbox) -> None:
    cordoned = node("n", cpu="4")
    cordoned["spec"] = {"unschedulable": True}
    write.create(sandbox, [cordoned, pod("web", cpu="1")])
    [said] = [s for s in asked(store, sandbox, "default/web").suggestions if s.kind == "uncordon"]
    write.patch(sandbox, "nodes", "n", {"metadata": {"labels": {"a": "b"}}})
    with pytest.raises(Conflict):
        edits.apply_edits(sandbox, said.edits)
    edits.apply_edits(sandbox, asked(store, sandbox, "default/web").suggestions[0].edits)
    stored = sandbox.get("nodes", "n")
    assert stored
    assert not stored["spec"].get("unschedulable")


def test_a_search_that_was_stopped_says_so_and_one_that_is_under_way_is_not_begun_again(
    store: Store, sandbox: Sandbox
) -> None:
    write.create(sandbox, [node("n", cpu="1"), pod("web", cpu="2")])
    questions = JobStore(store, QUESTIONS)
    manifest = sandbox.get("pods", "default/web")
    assert manifest

    def ask() -> Question:
        return questions.submit(
            Question(kind="what-if", sandbox=sandbox.name, pod="default/web", uid=manifest["metadata"]["uid"])
        )

    question = ask()
    assert ask().id == question.id
    questions.request_stop(question)
    find_answer(store, questions, question)
    assert questions.read(question.key) == msgspec.structs.replace(question, state="stopped")
    assert ask().id != question.id

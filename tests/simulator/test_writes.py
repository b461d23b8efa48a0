"""Patches whose object others change in between, and what a process learns of its writes."""

from collections.abc import Sequence
from typing import Any

import pytest

from simulator import trace
from simulator.api import ApiError, ApiServerLost, Change, Manifest, WatchEvent
from simulator.apiserver.server import ApiServer
from simulator.apiserver.status import Conflict
from simulator.client.world import RETRIES, Patch, World
from simulator.kernel.containment import Actor
from simulator.kernel.environment import Turn
from simulator.kernel.requests import Outcome, Refused, Steps, Write, Written
from simulator.versions.features import DEFAULT_FEATURES

KEY = "default/p"
BOUND = trace.Bound(t=0, cycle=1, pod=KEY, node="n1")


class Api:
    """Refuses the next writes by these reasons."""

    def __init__(self, *reasons: Any) -> None:
        self.reasons = [*reasons]
        self.written: list[Change] = []

    def commit(self, changes: Sequence[Change]) -> list[int]:
        if self.reasons:
            reason = self.reasons.pop(0)
            if isinstance(reason, Exception):
                raise reason
            raise ApiError(reason, changes[0].resource, changes[0].key)
        self.written += changes
        return [100 + len(self.written)] * len(changes)


class Cluster:
    def __init__(self, *reasons: Any) -> None:
        self.api = Api(*reasons)
        self.world = World(self.api, ApiServer, DEFAULT_FEATURES)
        self.version = 0
        self.outcomes: list[Outcome] = []
        self.show(uid="u")

    def show(self, uid: str = "u", **fields: Any) -> None:
        """The watch shows a newer version of the pod."""
        self.version += 1
        metadata = {"name": "p", "namespace": "default", "uid": uid, "resourceVersion": str(self.version)}
        pod = {"kind": "Pod", "metadata": metadata, **fields}
        self.world.informer.apply(WatchEvent("MODIFIED", "pods", KEY, pod, self.version))
        self.world.observed("pods", KEY)

    def begin(self, change: object) -> None:
        def steps() -> Steps[None]:
            self.outcomes.append((yield Write(change)))

        self.world.process(Turn.BINDING, Actor("Scheduler", "pods", KEY), steps()).start()

    def run(self) -> list[Outcome]:
        while self.world.agenda.due() is not None:
            self.world.step()
        return self.outcomes


def marked(pod: Manifest) -> Manifest:
    return {**pod, "marked": pod["metadata"]["resourceVersion"]}


def patch(mutate: Any = marked, uid: str = "u") -> Patch:
    def decide(pod: Manifest) -> list[Change]:
        return [Change("pods", KEY, mutate(pod), int(pod["metadata"]["resourceVersion"]))]

    return Patch("pods", KEY, uid, decide, BOUND)


def test_a_patch_is_written_with_its_trace_event() -> None:
    cluster = Cluster()
    cluster.begin(patch())
    assert cluster.outcomes == [Written()]
    [change] = cluster.api.written
    assert (change.expected, cluster.world.trace) == (1, [BOUND])


def test_a_patch_is_made_again_upon_the_version_of_who_was_quicker() -> None:
    cluster = Cluster("Conflict", "NotFound")
    cluster.begin(patch())
    assert cluster.world.trace == [], "nothing happened yet"
    cluster.show()
    cluster.world.now = 7
    cluster.show()
    assert cluster.outcomes == [], "the process goes on in an entry of its own"
    assert cluster.run() == [Written()]
    [change] = cluster.api.written
    assert change.object is not None
    assert (change.expected, change.object["marked"]) == (3, "3")
    assert [event.t for event in cluster.world.trace] == [7], "it happened when it was written"


def test_the_retries_of_a_patch_are_bounded() -> None:
    cluster = Cluster(*["Conflict"] * (RETRIES + 1))
    cluster.begin(patch())
    for _ in range(RETRIES):
        cluster.show()
    [outcome] = cluster.run()
    assert isinstance(outcome, Refused)
    assert outcome.reason == "Conflict"
    assert outcome.message.startswith('Operation cannot be fulfilled on pods "p"')
    assert (cluster.api.reasons, cluster.world.trace) == ([], [])


def test_a_patch_is_refused_if_the_object_is_another_one() -> None:
    cluster = Cluster("Conflict")
    cluster.begin(patch())
    cluster.show(uid="other")
    assert cluster.run() == [Refused("NotFound", 'pods "default/p" not found')]


def test_a_patch_that_does_not_apply_is_refused_at_once_and_in_a_retry() -> None:
    def refuses(pod: Manifest) -> Manifest:
        if "bound" in pod:
            raise Conflict("pods", "p", "pod is bound")
        return marked(pod)

    cluster = Cluster("Conflict")
    cluster.begin(patch(refuses))
    cluster.show(bound=True)
    cluster.begin(patch(refuses))
    refused = Refused("Conflict", str(Conflict("pods", "p", "pod is bound")))
    assert cluster.run() == [refused, refused]


def test_a_fault_in_a_retry_is_an_outcome_as_well() -> None:
    def raises(pod: Manifest) -> Manifest:
        if "bound" in pod:
            raise KeyError("spec")
        return marked(pod)

    cluster = Cluster("Conflict")
    cluster.begin(patch(raises))
    cluster.show(bound=True)
    assert cluster.run() == [Refused("InternalError", "KeyError: 'spec'")]


def test_an_update_of_one_version_is_not_made_again() -> None:
    cluster = Cluster("Conflict")
    cluster.begin(Change("pods", KEY, {}, expected=1))
    assert [type(outcome) for outcome in cluster.outcomes] == [Refused]
    cluster.show()
    assert cluster.api.written == []


def test_an_update_for_which_no_process_waits_is_repeated_too() -> None:
    cluster = Cluster("Conflict")
    cluster.world.update("pods", KEY, "u", marked)
    cluster.show()
    assert [change.expected for change in cluster.api.written] == [2]


def test_an_api_server_that_is_lost_ends_more_than_the_process() -> None:
    cluster = Cluster(OSError("no route"))
    with pytest.raises(ApiServerLost):
        cluster.begin(patch())

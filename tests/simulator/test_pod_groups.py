"""Random histories of pod groups: all or nothing, nothing that a failed cycle leaves behind, and replays."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np
import pytest

from simulator import trace
from simulator.api import SECOND, Manifest
from simulator.apiserver.served_features import serving
from simulator.cluster.cluster import Cluster
from simulator.objects.pod_group import POD_GROUPS
from simulator.pod_reason import find_pod_reason
from simulator.scheduler import schedule_one_podgroup
from simulator.scheduler.group_room import GroupRoom, room_of
from simulator.simulation import Options
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import V1_36
from tests.amounts import sample
from tests.simulator.lab import START, Lab, node, pod, priority_class

GANGS = {"GenericWorkload": True, "GangScheduling": True}
GATES: list[dict[str, bool]] = [
    GANGS,
    {**GANGS, "WorkloadAwarePreemption": True},
    {**GANGS, "TopologyAwareWorkloadScheduling": True},
    {**GANGS, "WorkloadAwarePreemption": True, "TopologyAwareWorkloadScheduling": True},
    {"GenericWorkload": True},
    {},
]
SEEDS = range(24)
OPERATIONS = 24
CLASSES = ("low", "middle", "high")


def options(gates: dict[str, bool]) -> Options:
    return Options(seed=3, pace=SECOND // 4, kubernetes=V1_36.patch, feature_gates=gates)


def group(name: str, min_count: int | None = 2, **spec: Any) -> Manifest:
    policy = {"basic": {}} if min_count is None else {"gang": {"minCount": min_count}}
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"schedulingPolicy": policy, **spec},
    }


def member(name: str, of: str, cpu: str = "1", **spec: Any) -> Manifest:
    return pod(name, cpu, schedulingGroup={"podGroupName": of}, **spec)


@contextmanager
def lab(gates: dict[str, bool], *, by_point: bool = False) -> Iterator[Lab]:
    with serving(Features(V1_36, gates)):
        yield Lab(options(gates), by_point=by_point)


def columns(cluster: Cluster) -> dict[str, Any]:
    """What a cycle must leave as it was."""
    rows = cluster.rows
    return {
        "pods": {name: [*cluster.pods_on(row)] for name, row in rows.items()},
        "cpu": {name: int(cluster.requested.column("cpu")[row]) for name, row in rows.items()},
        "memory": {name: int(cluster.requested.column("memory")[row]) for name, row in rows.items()},
        "count": {name: int(cluster.pod_count[row]) for name, row in rows.items()},
        "non_zero": {name: cluster.non_zero[:, row].tolist() for name, row in rows.items()},
    }


def rebuilt(cluster: Cluster) -> Cluster:
    """The same cluster, made anew of its nodes and pods."""
    made = Cluster()
    for row in cluster.order().tolist():
        made.add_node(cluster.node(row))
        for each in cluster.pods_on(row).values():
            made.add_pod(each)
    return made


class GroupStory:
    """Random operations on a cluster with pod groups, checked after each step of the simulation."""

    def __init__(self, found: Lab, seed: int) -> None:
        self.lab = found
        self.random = random.Random(seed)
        self.number = 0

    def play(self) -> bytes:
        with_groups = bool(self.lab.simulation.features.gates)
        self.lab.create(*(priority_class(name, 100 * i) for i, name in enumerate(CLASSES)))
        self.lab.create(*(node(f"n{i}", cpu="4") for i in range(3)))
        for _ in range(OPERATIONS):
            chosen = self.random.choice(
                [self.add_gang, self.add_pods, self.remove, self.add_node]
                if with_groups
                else [self.add_pods, self.add_pods, self.remove, self.add_node]
            )
            chosen()
            self.run(self.random.choice([0, 0, 1, 30]))
        return msgspec.json.encode(self.lab.trace)

    def add_gang(self) -> None:
        pick, self.number = self.random, self.number + 1
        name, size = f"g{self.number}", pick.randint(1, 5)
        spec: dict[str, Any] = {"priorityClassName": pick.choice(CLASSES)}
        if pick.random() < 0.4:
            spec["disruptionMode"] = "PodGroup"
        if pick.random() < 0.5:
            spec["schedulingConstraints"] = {"topology": [{"key": "zone"}]}
        made = group(name, pick.choice([None, size, max(1, size - 1), size + 1]), **spec)
        pods = [
            member(f"{name}-{i}", name, pick.choice(["1", "2", "3"]), priorityClassName=pick.choice(CLASSES))
            for i in range(size)
        ]
        self.lab.create(*([made, *pods] if pick.random() < 0.8 else [*pods, made]))

    def add_pods(self) -> None:
        self.number += 1
        made = [
            pod(f"p{self.number}-{i}", "1", priorityClassName=self.random.choice(CLASSES)) for i in range(2)
        ]
        self.lab.create(*made)

    def remove(self) -> None:
        objects = self.lab.api.objects
        found = [("pods", key) for key in objects.get("pods", {})]
        found += [(POD_GROUPS, key) for key in objects.get(POD_GROUPS, {})]
        if found:
            self.lab.delete(*self.random.choice(sorted(found)))

    def add_node(self) -> None:
        self.number += 1
        made = node(f"n{self.number}x", cpu=self.random.choice(["2", "4", "8"]))
        made["metadata"]["labels"] = {"zone": self.random.choice("ab")}
        self.lab.create(made)

    def run(self, seconds: float) -> None:
        """As Lab.run, with the checks."""
        found, end = self.lab, self.lab.now + round(seconds * SECOND)
        cache = found.simulation._scheduler.cache
        for _ in range(20_000):
            before = columns(cache.cluster)
            seen = len(found.trace)
            if found.simulation.step(found.now, by_point=found.by_point):
                found.collect()
                for event in found.trace[seen:] if not found.by_point else ():
                    if isinstance(event, trace.PodGroupCycleEnded):
                        self.check(event, before)
                continue
            due = found.simulation.next_due()
            if due is None or due > end:
                found.now = end
                return
            found.now = max(found.now, due)
        raise AssertionError("the simulation goes round in circles")

    def check(self, ended: trace.PodGroupCycleEnded, before: dict[str, Any]) -> None:
        cache = self.lab.simulation._scheduler.cache
        state = cache.cluster.pod_groups.get(ended.group)
        after = columns(cache.cluster)
        if ended.verdict == "scheduled":
            manifest = cache.cluster.objects(POD_GROUPS).get(ended.group, {})
            gang = manifest.get("spec", {}).get("schedulingPolicy", {}).get("gang")
            gated = "GangScheduling" in self.lab.simulation.features.gates
            assert not (gang and gated) or len(state.scheduled) >= gang["minCount"]
        else:
            assert after == before, "a failed cycle leaves the cluster as it was"
            assert not any(cache.assumed(uid) for uid in state.pods if uid not in state.scheduled)
        assert columns(rebuilt(cache.cluster)) == after
        assert {uid for uid, each in state.pods.items() if each.node_name} <= {*state.scheduled}


@pytest.mark.parametrize("gates", GATES, ids=lambda gates: "+".join(gates) or "none")
def test_a_group_is_bound_as_a_whole_or_not_at_all(gates: dict[str, bool]) -> None:
    for seed in sample(SEEDS, 8):
        with lab(gates) as found:
            GroupStory(found, seed).play()


def test_the_same_history_gives_the_same_trace_also_by_points() -> None:
    for seed in sample(SEEDS, 12):
        traces = []
        for by_point in (False, False, True):
            with lab(GATES[3], by_point=by_point) as found:
                traces.append(GroupStory(found, seed).play())
        assert traces[0] == traces[1] == traces[2]


def test_a_member_sees_those_before_it_and_nothing_stays_when_the_group_fails() -> None:
    with lab(GANGS) as found:
        found.create(node("n1", cpu="4"), group("train", 3))
        found.create(*(member(f"train-{i}", "train", "2") for i in range(3)))
        found.run(1)
        [tried] = found.of(trace.PodGroupTried)[:1]
        assert [each.outcome for each in tried.members] == ["fits", "fits", "infeasible"]
        [started], [ended] = found.of(trace.PodGroupCycleStarted)[:1], found.of(trace.PodGroupCycleEnded)[:1]
        # The pod that completes the gang is active before those that it wakes.
        assert started.pods == ["default/train-2", "default/train-0", "default/train-1"]
        assert (ended.verdict, ended.taken_back) == ("unschedulable", started.pods[:2])
        assert [found.node_of(f"train-{i}") for i in range(3)] == ["", "", ""]
        numbers = [each.cycle for each in tried.members]
        assert numbers == [started.cycle + i for i in (1, 2, 3)]
        assert [each.pod for each in found.decisions if each.cycle in numbers] == started.pods
        assert np.count_nonzero(found.simulation._scheduler.cache.cluster.pod_count) == 0


def test_a_failed_group_that_waits_does_nothing_and_its_retries_are_counted() -> None:
    with lab(GANGS) as found:
        found.create(node("n1", cpu="2"), group("train", 2))
        found.create(*(member(f"train-{i}", "train", "2") for i in range(2)))
        found.run(5)
        cycles, due = len(found.of(trace.PodGroupCycleStarted)), found.simulation.next_due()
        found.run(3600)
        assert (len(found.of(trace.PodGroupCycleStarted)), due) == (cycles, None)
        place = found.lanes["default/train-1"]
        assert (place.retried_since, place.retry_time) == (START + SECOND // 4, SECOND // 4)
        reason = find_pod_reason(found.pod("train-1"), place, [], found.api.get, found.now)
        assert (reason.kind, reason.what) == ("group-retried", "train")
        assert found.of(trace.PodGroupRetried) == []
        found.create(node("n2", cpu="2"))
        found.run(5)
        [retried] = found.of(trace.PodGroupRetried)
        assert (retried.group, retried.count) == (
            "default/train",
            (found.now - 5 * SECOND - retried.since) * 4 // SECOND,
        )
        assert {found.node_of("train-0"), found.node_of("train-1")} == {"n1", "n2"}
        [last] = [each for each in found.of(trace.CycleStarted) if each.pod == "default/train-0"][-1:]
        assert last.attempt == retried.count + cycles + 1


def rack(name: str, cpu: str, of: str) -> Manifest:
    made = node(name, cpu)
    made["metadata"]["labels"] = {"rack": of}
    return made


def test_placements_are_compared_and_the_decisions_are_those_of_the_chosen_one() -> None:
    with lab(GATES[2]) as found:
        found.create(rack("a1", "4", "a"), rack("b1", "2", "b"), rack("c1", "1", "c"), node("n1"))
        found.create(group("train", 2, schedulingConstraints={"topology": [{"key": "rack"}]}))
        found.create(*(member(f"train-{i}", "train") for i in range(2)))
        found.run(5)
        tried = found.of(trace.PodGroupTried)
        assert [(each.placement, each.nodes, each.verdict) for each in tried] == [
            ("a", 1, "scheduled"),
            ("b", 1, "scheduled"),
            ("c", 1, "unschedulable"),
        ]
        [scored] = found.of(trace.PlacementsScored)
        assert (scored.chosen, [each.placement for each in scored.scores]) == ("b", ["b", "a"])
        assert scored.scores[0].scores["PodGroupPodsCount"] == 100
        assert [each.selected for each in found.decisions] == ["b1", "b1"]
        assert [found.node_of(f"train-{i}") for i in range(2)] == ["b1", "b1"]


def test_units_are_taken_off_and_put_back_as_long_as_the_group_fits() -> None:
    with lab(GATES[1]) as found:
        found.create(priority_class("high", 100), node("n1", "2"), node("n2", "2"), node("n3", "2"))
        found.create(group("old", 2, disruptionMode="PodGroup"))
        found.create(*(member(f"old-{i}", "old", "2") for i in range(2)))
        found.create(pod("single", "2"))
        found.run(5)
        found.create(group("serve", 1, priorityClassName="high"), member("serve-1", "serve", "2"))
        found.run(60)
        [preempted] = found.of(trace.PodGroupPreempted)
        assert [(each.group, each.size, each.reprieved) for each in preempted.units] == [
            ("default/old", 2, True),
            ("", 1, False),
        ]
        assert preempted.victims == ["default/single"]
        [deleted] = found.of(trace.VictimDeleted)
        assert (deleted.group, deleted.preemptor) == ("default/serve", "default/serve-1")
        assert found.node_of("serve-1")
        assert not found.exists("single")


def test_the_pods_of_a_group_are_scheduled_as_others_where_the_gates_are_off() -> None:
    with lab({}) as found:
        found.create(node("n1", cpu="1"), *(member(f"train-{i}", "train") for i in range(2)))
        found.run(5)
        assert [found.node_of(f"train-{i}") for i in range(2)].count("n1") == 1
        assert found.of(trace.PodGroupCycleStarted) == []


def test_a_failed_group_rests_while_another_pod_waits_for_its_backoff_after_an_error() -> None:
    with lab(GANGS) as found:
        found.create(node("n1", cpu="2"), group("train", 2))
        found.create(*(member(f"train-{i}", "train", "2") for i in range(2)))
        found.create(pod("web", "2", annotations={"schedviz/fail-at": "Filter"}))
        found.run(1.9)
        [(_, target, _)] = found.moves("web")[-1:]
        assert target == "backoffQ"
        assert len(found.of(trace.PodGroupCycleStarted)) == 1
        found.run(60)
        assert found.node_of("web") == "n1"


def contested(seed: int) -> bytes:
    """The trace of a gang, whose pods are often equal, and of one that it finds in its way."""
    pick = random.Random(seed)
    with lab(GATES[seed % 2 * 2 + 1]) as found:
        found.create(*(priority_class(name, 100 * i) for i, name in enumerate(CLASSES)))
        for i in range(6):
            kind: dict[str, Any] = {"unschedulable": True} if i == 5 else {}
            made = node(f"n{i}", cpu=pick.choice(["3", "4", "6"]), **kind)
            made["metadata"]["labels"] = {"pool": "b" if i == 4 else "a"}
            found.create(made)
        found.create(group("old", 3, disruptionMode="PodGroup", priorityClassName="middle"))
        found.create(*(member(f"old-{i}", "old", "1", priorityClassName="middle") for i in range(3)))
        found.run(2)
        low = [pod(f"p{i}", pick.choice("12"), priorityClassName=pick.choice(CLASSES[:2])) for i in range(12)]
        if seed % 4 == 3:
            term = {"labelSelector": {"matchLabels": {"app": "x"}}, "topologyKey": "kubernetes.io/hostname"}
            anti = {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
            low[0]["spec"]["affinity"] = {"podAntiAffinity": anti}
        found.create(*low)
        found.run(5)
        sizes = "22222" if seed % 3 else "12122"
        gang = [member(f"train-{i}", "train", cpu, priorityClassName="high") for i, cpu in enumerate(sizes)]
        for each in gang:
            each["metadata"]["labels"] = {"app": "x"}
            each["spec"]["nodeSelector"] = {"pool": "a"} if seed % 5 < 2 else {}
        found.create(group("train", pick.choice([None, 3, 5]), priorityClassName="high"), *gang)
        found.run(40)
        return msgspec.json.encode(found.trace)


def test_the_room_of_a_gang_is_counted_as_the_gang_would_be_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[GroupRoom | None] = []
    monkeypatch.setattr(
        schedule_one_podgroup, "room_of", lambda cycle: counted.append(room_of(cycle)) or counted[-1]
    )
    seeds = [*sample(range(48), 5)]
    traces = [contested(seed) for seed in seeds]
    assert any(counted)
    monkeypatch.setattr(schedule_one_podgroup, "room_of", lambda _: None)
    assert traces == [contested(seed) for seed in seeds]

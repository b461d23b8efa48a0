"""The smallest changes with which a pod with resource claims would run."""

import copy
from collections import Counter
from collections.abc import Mapping
from random import Random
from typing import Any

import numpy as np
import pytest

from simulator.framework.runtime import Framework
from simulator.plugins.registry import load, profiles
from simulator.versions.features import DEFAULT_FEATURES
from simulator.what_if.edit import delete_object
from simulator.what_if.obstacles import Obstacles
from simulator.what_if.situation import Situation
from tests.simulator.devices import DRIVER, device_class, resource_claim, resource_slice
from tests.simulator.questions import FRAMEWORKS, Manifest, Objects, asked, attempted, edited, node, of, pod

EVERY = f'device.driver == "{DRIVER}"'
A100 = f'device.attributes["{DRIVER}"].model == "a100"'
Expected = tuple[str, str, str, str, str, str]
"""Kind, target, what, before, after, and the node."""


def gpu(name: str, model: str = "h100", numa: int = 0) -> Manifest:
    return {"name": name, "attributes": {"model": {"string": model}, "numa": {"int": numa}}}


def claim(name: str = "mine", count: int = 1, **more: Any) -> Manifest:
    """``more``: constraints, used_by (pod), on (node, devices), only (node), and fields of ``exactly``."""
    only = more.pop("only", "")
    constraints, user, on = more.pop("constraints", None), more.pop("used_by", ""), more.pop("on", None)
    made = resource_claim(name, count, allocationMode="ExactCount", **more)
    made["metadata"] |= {"namespace": "default", "uid": name}
    if constraints:
        made["spec"]["devices"]["constraints"] = constraints
    if on:
        where, *devices = on
        results: list[Manifest] = [
            {"request": "gpus", "driver": DRIVER, "pool": where, "device": device} for device in devices
        ]
        if "capacity" in more:
            results[0] |= {"shareID": name, "consumedCapacity": more["capacity"]["requests"]}
        made["metadata"]["finalizers"] = ["resource.kubernetes.io/delete-protection"]
        made["status"] = {"allocation": {"devices": {"results": results}}}
        if only:
            field = {"key": "metadata.name", "operator": "In", "values": [only]}
            selector = {"nodeSelectorTerms": [{"matchFields": [field]}]}
            made["status"]["allocation"]["nodeSelector"] = selector
        if user:
            made["status"]["reservedFor"] = [{"resource": "pods", "name": user, "uid": user}]
    return made


def user_of(name: str, on: str, claim: str, priority: int = 0) -> Manifest:
    references = [{"name": "gpu", "resourceClaimName": claim}]
    made = pod(name, "1", nodeName=on, priority=priority, resourceClaims=references)
    made["metadata"]["uid"] = name
    return made


QUESTION = pod("question", "1", resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}])
TAKEN = [
    node("a"),
    node("b"),
    device_class("gpu", EVERY),
    resource_slice("a", [gpu("gpu-0")]),
    resource_slice("b", [gpu("gpu-0")]),
    claim("of-x", used_by="x", on=("a", "gpu-0")),
    claim("of-y", used_by="y", on=("b", "gpu-0")),
    user_of("x", "a", "of-x", priority=5),
    user_of("y", "b", "of-y"),
]
NODE_WITH_TWO = [
    node("a"),
    device_class("gpu", EVERY),
    resource_slice("a", [gpu("gpu-0"), gpu("gpu-1", numa=1)]),
]
DROP: Expected = ("drop-claim", "default/question", "gpu", "gpu", "", "a")
SAME_NUMA = {"matchAttribute": f"{DRIVER}/numa"}

CASES: list[tuple[str, Objects, list[Expected]]] = [
    (
        "the device is in use by other pods, of which the less important one is first",
        [*TAKEN, claim()],
        [
            ("free-device", "default/y", "b/gpu-0", "default/of-y", "0", "b"),
            ("free-device", "default/x", "a/gpu-0", "default/of-x", "5", "a"),
            DROP,
            ("device", "a", "a/gpu-0", "", "gpu", "a"),
        ],
    ),
    (
        "the pod's own claim is allocated on a node that is full",
        [
            node("a"),
            node("full", "1"),
            device_class("gpu", EVERY),
            *(resource_slice(name, [gpu("gpu-0")]) for name in ("a", "full")),
            claim(used_by="x", on=("full", "gpu-0"), only="full"),
            user_of("x", "full", "mine"),
        ],
        [
            ("request", "default/question", "cpu", "1", "0", "full"),
            ("priority", "default/question", "priority-1", "0", "1", "full"),
            ("delete-pod", "default/x", "", "0", "", "a"),
            DROP,
        ],
    ),
    (
        "a claim that nobody uses keeps the device",
        [*NODE_WITH_TWO, claim("old", 2, on=("a", "gpu-0", "gpu-1")), claim()],
        [
            ("delete-claim", "default/old", "a/gpu-0, a/gpu-1", "default/old", "", "a"),
            DROP,
            ("device", "a", "a/gpu-0", "", "gpu", "a"),
        ],
    ),
    (
        "fewer devices, or one more",
        [*NODE_WITH_TWO, claim(count=3)],
        [
            ("claim-count", "default/mine", "gpus", "3", "2", "a"),
            DROP,
            ("device", "a", "a/gpu-0", "", "gpu", "a"),
        ],
    ),
    (
        "a selector that no device satisfies",
        [*NODE_WITH_TWO, claim(selectors=[{"cel": {"expression": A100}}])],
        [("claim-selector", "default/mine", A100, "a/gpu-0, a/gpu-1", "", "a"), DROP],
    ),
    (
        "a selector that cannot be evaluated",
        [*NODE_WITH_TWO, claim(selectors=[{"cel": {"expression": "device.no"}}])],
        [("claim-selector", "default/mine", "device.no", "a/gpu-0, a/gpu-1", "", "a"), DROP],
    ),
    (
        "the selector of a class",
        [node("a"), device_class("gpu", EVERY, A100), resource_slice("a", [gpu("gpu-0")]), claim()],
        [("class-selector", "gpu", A100, "a/gpu-0", "", "a"), DROP],
    ),
    (
        "a constraint",
        [*NODE_WITH_TWO, claim(count=2, constraints=[SAME_NUMA])],
        [
            ("claim-count", "default/mine", "gpus", "2", "1", "a"),
            ("claim-constraint", "default/mine", f"{DRIVER}/numa", f"{DRIVER}/numa", "", "a"),
            DROP,
            ("device", "a", "a/gpu-0", "", "gpu", "a"),
        ],
    ),
    (
        "a claim that is missing",
        NODE_WITH_TWO,
        [("claim", "default/mine", "gpu", "", "gpu", "a")],
    ),
    (
        "a class that is missing",
        [*NODE_WITH_TWO[:1], NODE_WITH_TWO[2], claim()],
        [("device-class", "gpu", DRIVER, "", DRIVER, "a"), DROP],
    ),
    (
        "no node with room has devices",
        [
            node("a"),
            node("full", "500m"),
            device_class("gpu", EVERY),
            resource_slice("full", [gpu("gpu-0")]),
            claim(),
        ],
        [
            ("request", "default/question", "cpu", "1", "500m", "full"),
            DROP,
            ("device", "a", "full/gpu-0", "", "gpu", "a"),
        ],
    ),
]


NEWEST = profiles(load(None, features=DEFAULT_FEATURES))
NIC = {"name": "nic-0", "allowMultipleAllocations": True, "capacity": {"bandwidth": {"value": "40G"}}}
SMALL = 'device.capacity["gpu.example.com"].memory.compareTo(quantity("20Gi")) >= 0'


def shares(amount: str) -> Manifest:
    return {"capacity": {"requests": {"bandwidth": amount}}}


def sized(name: str, memory: str, **more: Any) -> Manifest:
    return {"name": name, "capacity": {"memory": {"value": memory}}, **more}


NEW_CASES: list[tuple[str, Objects, list[Expected]]] = [
    (
        "a taint",
        [resource_slice("a", [gpu("gpu-0") | {"taints": [{"key": "hot", "effect": "NoSchedule"}]}]), claim()],
        [("device-toleration", "default/mine", "hot:NoSchedule", "", "", "a"), DROP],
    ),
    (
        "less of a shared device, and only what is left",
        [
            resource_slice("a", [NIC]),
            claim("of-x", used_by="x", on=("a", "nic-0"), **shares("30G")),
            user_of("x", "a", "of-x"),
            claim(**shares("20G")),
        ],
        [
            ("claim-capacity", "default/mine", "bandwidth", "20G", "10G", "a"),
            ("free-device", "default/x", "a/nic-0", "default/of-x", "0", "a"),
            DROP,
            ("device", "a", "a/nic-0", "", "gpu", "a"),
        ],
    ),
    (
        "a smaller partition, the largest of those that fit",
        [
            resource_slice("a", [sized("part-0", "5Gi"), sized("part-1", "10Gi")]),
            claim(selectors=[{"cel": {"expression": SMALL}}]),
        ],
        [
            ("claim-size", "default/mine", "gpus", "20Gi", "10Gi", "a"),
            ("claim-selector", "default/mine", SMALL, "a/part-0, a/part-1", "", "a"),
            DROP,
        ],
    ),
    (
        "another class",
        [
            resource_slice("a", [gpu("gpu-0")]),
            device_class("small", A100),
            device_class("other"),
            claim(device_class="small"),
        ],
        [
            ("claim-class", "default/mine", "gpus", "small", "gpu", "a"),
            ("claim-class", "default/mine", "gpus", "small", "other", "a"),
            ("class-selector", "small", A100, "a/gpu-0", "", "a"),
            DROP,
        ],
    ),
]


@pytest.mark.parametrize(
    ("objects", "expected"), [each[1:] for each in NEW_CASES], ids=[each[0] for each in NEW_CASES]
)
def test_the_smallest_changes_for_claims_of_the_newest_version_are(
    objects: Objects, expected: list[Expected]
) -> None:
    objects = [node("a"), device_class("gpu", EVERY), *objects]
    found = asked(objects, QUESTION, NEWEST)
    assert [
        (s.kind, s.target, s.what, s.before, s.after, s.outcome.node) for s in found.suggestions
    ] == expected
    check(objects, QUESTION, NEWEST)


@pytest.mark.parametrize(
    ("objects", "expected"), [each[1:] for each in CASES], ids=[each[0] for each in CASES]
)
def test_the_smallest_changes_for_claims_are(objects: Objects, expected: list[Expected]) -> None:
    found = asked(objects, QUESTION)
    assert [
        (s.kind, s.target, s.what, s.before, s.after, s.outcome.node) for s in found.suggestions
    ] == expected
    check(objects, QUESTION)


def check(
    objects: Objects, question: Manifest, frameworks: Mapping[str, Framework] = FRAMEWORKS
) -> list[str]:
    """Apply each suggestion to the manifests; the scheduler then does what it said. Returns the kinds."""
    found = asked(objects, question, frameworks)
    for said in found.suggestions:
        changed, new = edited([*objects, question], question, [*said.edits, *said.follows])
        assert attempted(changed, new, frameworks) == (
            said.outcome.kind,
            said.outcome.node,
            said.outcome.victims,
        ), said
    return [said.kind for said in found.suggestions]


def test_each_suggestion_for_random_claims_has_its_predicted_result() -> None:
    seen: Counter[str] = Counter()
    for number in range(150):
        random = Random(f"claims/{number}")
        seen.update(check(*random_question(random)))
    kinds = {
        "claim-count", "claim-selector", "class-selector", "claim-constraint", "delete-claim", "free-device",
        "device", "drop-claim", "claim", "device-class",
    }  # fmt: skip
    assert kinds <= seen.keys(), f"too few kinds of suggestions to tell: {seen}"


def random_question(random: Random) -> tuple[Objects, Manifest]:
    """A few nodes with devices, most of them in use, and a pod with one or two claims."""
    objects: Objects = []
    if random.random() < 0.85:
        objects.append(device_class("gpu", EVERY, *([A100] if random.random() < 0.2 else [])))
    for name in ("a", "b", "c")[: random.randint(1, 3)]:
        objects.append(node(name, random.choice(("1", "4"))))
        devices = [gpu(f"gpu-{i}", random.choice(("a100", "h100")), i) for i in range(random.randrange(4))]
        if devices:
            objects.append(resource_slice(name, devices))
        taken = [each["name"] for each in devices if random.random() < 0.5]
        if taken and random.random() < 0.7:
            objects.append(claim(f"of-{name}", len(taken), used_by=f"user-{name}", on=(name, *taken)))
            objects.append(user_of(f"user-{name}", name, f"of-{name}", random.choice((-1, 0, 9))))
        elif taken:
            objects.append(claim(f"unused-{name}", len(taken), on=(name, *taken)))
    names = ["mine", "other"][: random.choice((1, 1, 2))]
    for name in names:
        more: Manifest = {}
        if random.random() < 0.3:
            more["selectors"] = [{"cel": {"expression": A100}}]
        if random.random() < 0.7:
            more["constraints"] = [copy.deepcopy(SAME_NUMA)]
        if random.random() < 0.85:
            objects.append(claim(name, random.choice((1, 2, 2, 3)), **more))
    references = [{"name": f"gpu-{name}", "resourceClaimName": name} for name in names]
    return objects, pod("question", "500m", resourceClaims=references)


def test_no_devices_are_looked_for_in_the_row_of_a_removed_node() -> None:
    """A pair of changes adds a node and takes it back: its row in the columns is free then."""
    situation = Situation.read(of([*TAKEN, claim("mine")]), QUESTION, FRAMEWORKS)
    with situation.with_changes([delete_object("nodes", "a").change]):
        obstacles = Obstacles(situation)
        rows = situation.cluster.rows
        assert obstacles.fails(np.array([rows["b"]]), "DynamicResources").tolist() == [True]
        assert "a" not in rows

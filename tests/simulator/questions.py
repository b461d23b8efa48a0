"""Clusters and pods of the tests of what_if, and what the scheduler itself does with them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from simulator.apiserver.patches.json_patch import apply_json_patch
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import find_by_kind
from simulator.framework import snapshot
from simulator.framework.runtime import Framework
from simulator.harness.random_clusters import (
    USUAL_MIXTURE,
    ClusterMixture,
    random_cluster,
    random_pending_pod,
)
from simulator.objects.pod import Pod
from simulator.plugins.registry import load, profiles
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import record
from simulator.what_if.answer import Suggestion, WhatIfAnswer
from simulator.what_if.edit import Edit
from simulator.what_if.search import search
from simulator.what_if.situation import Situation
from tests.simulator.builders import a_node, a_pod

Manifest = dict[str, Any]
Objects = list[Manifest]
FRAMEWORKS = profiles(load(None))
ROOMY = ClusterMixture(full=(0.3, 0.9), odd=0.35)
"""Taints and labels, so that nodes reject pods for other reasons than resources only."""

NODE, POD = {"apiVersion": "v1", "kind": "Node"}, {"apiVersion": "v1", "kind": "Pod"}


def node(name: str, cpu: str = "4", **more: Any) -> Manifest:
    return NODE | a_node(name, cpu, **more)


def pod(name: str, cpu: str = "", **more: Any) -> Manifest:
    return POD | a_pod(name, cpu, **more)


def of(objects: Iterable[Manifest]) -> Iterator[tuple[Resource, Manifest]]:
    for manifest in objects:
        resource = find_by_kind(manifest["apiVersion"], manifest["kind"])
        assert resource is not None
        yield resource, manifest


def key_of(manifest: Manifest) -> tuple[str, str]:
    return manifest["kind"], manifest["metadata"]["name"]


def asked(
    objects: Iterable[Manifest], pod: Manifest, frameworks: Mapping[str, Framework] = FRAMEWORKS
) -> WhatIfAnswer:
    *_, answer = search(Situation.read(of(objects), pod, frameworks))
    assert isinstance(answer, WhatIfAnswer)
    return answer


def attempted(
    objects: Iterable[Manifest], pod: Manifest, frameworks: Mapping[str, Framework] = FRAMEWORKS
) -> tuple[str, str, list[str]]:
    """The scheduler's attempt for the pod: its outcome, node and victims."""
    built, nominated = snapshot.read((o for o in of(objects) if key_of(o[1]) != key_of(pod)), frameworks)
    parsed = Pod.parse(pod)
    framework = frameworks.get(parsed.scheduler_name)
    if framework is None or framework.run_pre_enqueue(parsed) is not None:
        return "", "", []
    made = Attempt(framework, built, parsed, nominated)
    made.complete()
    decision = record(made)
    if decision.outcome != "preempting":
        return ("bound" if decision.selected else ""), decision.selected, []
    return "nominated", decision.chosen_node, [victim.pod for victim in decision.victims]


def edited(objects: Sequence[Manifest], pod: Manifest, edits: Iterable[Edit]) -> tuple[Objects, Manifest]:
    """The manifests after the edits, as if they had been applied."""
    known = {(str(r.id), r.key("default", m["metadata"]["name"])): m for r, m in of([*objects, pod])}
    for edit in edits:
        at = (edit.resource, edit.key)
        old = known.pop(at, None)
        assert (old is None) == (edit.verb == "create"), edit
        if edit.manifest is not None:
            known[at] = edit.manifest
        if edit.verb == "update":
            assert apply_json_patch(old, edit.patch) == edit.manifest
        elif edit.verb == "recreate":
            assert edit.manifest is not None
            assert apply_json_patch(old, edit.patch)["spec"] == edit.manifest["spec"]
    [changed] = [m for m in known.values() if key_of(m) == key_of(pod)]
    return list(known.values()), changed


def questions(
    count: int, nodes: int, seed: int, mixture: ClusterMixture = USUAL_MIXTURE
) -> Iterator[tuple[Objects, Manifest]]:
    for i in range(count):
        random = Random(f"{seed}/{i}")
        yield (
            [*random_cluster(random, random.randint(1, nodes), mixture)],
            random_pending_pod(random, "question", mixture),
        )


def by_kind(found: WhatIfAnswer, kind: str) -> list[Suggestion]:
    return [said for said in found.suggestions if said.kind == kind]

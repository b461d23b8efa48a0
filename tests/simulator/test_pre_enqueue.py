"""PreEnqueue gates a pod in what-if as it does in the queue: the same plugins, and one rule for a plugin that
raises."""

from collections.abc import Iterator, Mapping

import pytest

from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import find_by_kind
from simulator.framework.interface import Plugin, PreEnqueuePlugin
from simulator.framework.status import Status
from simulator.objects.pod import Pod
from simulator.plugins.registry import in_tree, load, profiles
from simulator.simulation import Options
from simulator.what_if.answer import AttemptOutcome
from simulator.what_if.situation import Situation
from tests.simulator.builders import a_node, a_pod
from tests.simulator.lab import Lab

CLAIM: Manifest = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "gpu", "namespace": "default"},
    "spec": {},
}
NODE: Manifest = {"apiVersion": "v1", "kind": "Node", **a_node("n")}


class Broken(PreEnqueuePlugin):
    name = "Broken"

    def pre_enqueue(self, pod: Pod) -> Status | None:
        raise RuntimeError("out of order")


def pending(**spec: object) -> Manifest:
    pod = {"apiVersion": "v1", "kind": "Pod", **a_pod("p", "1", **spec)}
    pod["spec"]["containers"][0]["image"] = "registry/app"
    return pod


def what_if(
    pod: Manifest,
    *objects: Manifest,
    config: Manifest | None = None,
    plugins: Mapping[str, type[Plugin]] | None = None,
) -> AttemptOutcome:
    registry = {**in_tree(), **(plugins or {})}
    frameworks = profiles(load(config, registry), registry)
    return Situation.read(with_resources(*objects), pod, frameworks).outcome()


def with_resources(*objects: Manifest) -> Iterator[tuple[Resource, Manifest]]:
    for manifest in objects:
        resource = find_by_kind(manifest["apiVersion"], manifest["kind"])
        assert resource is not None
        yield resource, manifest


def test_a_pod_whose_resource_claim_does_not_exist_is_gated() -> None:
    pod = pending(resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])
    outcome = what_if(pod, NODE)
    assert (outcome.kind, outcome.message) == ("gated", 'could not find ResourceClaim "default/gpu"')
    assert what_if(pod, NODE, CLAIM).kind == "bound"
    lab = Lab()
    lab.create(NODE, pod)
    lab.run(10)
    assert lab.lane("p") == "gated"


def test_a_pod_whose_claim_is_not_generated_yet_is_gated() -> None:
    pod = pending(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "gpu"}])
    assert what_if(pod, NODE).kind == "gated"


@pytest.mark.parametrize("raises", [True, False])
def test_a_plugin_that_raises_gates_the_pod_everywhere(raises: bool) -> None:
    config = (
        {"profiles": [{"plugins": {"preEnqueue": {"enabled": [{"name": "Broken"}]}}}]} if raises else None
    )
    outcome = what_if(pending(), NODE, config=config, plugins={"Broken": Broken})
    assert outcome.kind == ("gated" if raises else "bound")
    lab = Lab(Options(config=config), plugins={**in_tree(), "Broken": Broken})
    lab.create(NODE, pending())
    lab.run(10)
    assert (lab.lane("p") == "gated") is raises
    if raises:
        assert outcome.message == "RuntimeError: out of order"

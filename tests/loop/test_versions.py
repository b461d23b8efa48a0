"""The version of Kubernetes of a sandbox, of what is made of it, and of its scenario."""

from typing import Any

import pytest
from msgspec import UNSET

from schedviz.api.branch import branch_of_moment, branch_of_now
from schedviz.api.from_scenario import create
from schedviz.store import Sandbox, Store
from schedviz.store.past import Past
from simulator.scenario import Scenario, ScenarioError, load_scenario
from tests.loop.conftest import node, pod
from tests.loop.world import World

SPEC = "{kubernetes: v1.36, featureGates: {StorageCapacityScoring: true}}"
OLDEST = "0/1 nodes are available: 1 node(s) had untolerated taint {gpu: }. "
NEWEST = "0/1 nodes are available: 1 node(s) had untolerated taint(s). "
"""v1.34.1 names the taint."""


def scenario(spec: str) -> Scenario:
    return load_scenario(
        f"apiVersion: schedviz/v1\nkind: Scenario\nmetadata: {{name: versions}}\nspec: {spec}\n"
    )


def message(store: Store, sandbox: Sandbox, name: str = "p") -> str:
    """Create a pod that does not tolerate the only node's taint, and return its condition's message."""
    world = World(store, sandbox)
    if sandbox.get("nodes", "n") is None:
        world.create(node("n") | {"spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]}})
    world.create(pod(name))
    world.slice()
    world.let_time_pass(2)
    world.slice()
    found: dict[str, Any] | None = sandbox.get("pods", f"default/{name}")
    assert found
    said: str = found["status"]["conditions"][0]["message"]
    return said


def test_a_sandbox_that_names_no_version_keeps_that_of_its_time(store: Store) -> None:
    sandbox = World(store).sandbox
    assert sandbox.meta().kubernetes is UNSET
    assert message(store, sandbox).startswith(OLDEST)
    store.delete(sandbox.name)


def test_a_sandbox_and_its_branches_have_the_version_and_gates_of_the_scenario(store: Store) -> None:
    sandbox = create(store, scenario(SPEC), "", ["versions-a"])
    assert message(store, sandbox).startswith(NEWEST)
    past = Past(sandbox, sandbox.trace_head())
    made = [branch_of_moment(store, past, "versions-b"), branch_of_now(store, sandbox, [])]
    for each in made:
        meta = each.meta()
        assert (meta.kubernetes, meta.feature_gates) == ("v1.36.2", {"StorageCapacityScoring": True})
    assert message(store, made[1], "other").startswith(NEWEST)
    for each in (sandbox, *made):
        store.delete(each.name)


@pytest.mark.parametrize(
    ("spec", "error"),
    [
        (
            "{kubernetes: v1.20}",
            'spec.kubernetes: Kubernetes "v1.20" is not modelled; choose v1.36, v1.35, v1.34',
        ),
        (
            "{featureGates: {Nothing: true}}",
            "spec.featureGates: unrecognized feature gate: Nothing",
        ),
        ("{featureGates: {Nothing: 1}}", "spec.featureGates: must be a mapping of names to true or false"),
    ],
)
def test_a_scenario_with_another_version_or_gate_is_refused(spec: str, error: str) -> None:
    with pytest.raises(ScenarioError, match=f"^{error}$"):
        scenario(spec)

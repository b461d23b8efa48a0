"""Pods whose devices get a NoExecute taint."""

from typing import Any

import pytest

from simulator import trace
from simulator.api import Change, Manifest
from simulator.objects.timestamps import timestamp
from simulator.simulation import Options
from tests.simulator.devices import device_class, pod_of_claim, resource_claim, resource_slice
from tests.simulator.lab import Lab, node

SLICES = "resourceslices.resource.k8s.io"
TOLERATION = {"key": "broken", "operator": "Exists", "effect": "NoExecute"}


def lab_with_pod(version: str, tolerations: list[Manifest]) -> Lab:
    lab = Lab(Options(kubernetes=version))
    given: dict[str, Any] = {"tolerations": tolerations} if tolerations else {}
    lab.create(node("n0"), device_class(), resource_slice("n0", 1), resource_claim(**given))
    write(lab, "resourceclaims.resource.k8s.io", "default/shared", tolerations)
    lab.create(pod_of_claim("web", terminationGracePeriodSeconds=0))
    lab.run(5)
    assert lab.node_of("web") == "n0"
    return lab


def write(lab: Lab, resource: str, key: str, tolerations: list[Manifest]) -> None:
    """Write the tolerations past the API server, whose types are not all those of v1.36."""
    old = lab.api.objects[resource][key]
    request = old["spec"]["devices"]["requests"][0]
    request = {**request, "exactly": {**request["exactly"], "tolerations": tolerations}}
    spec = {**old["spec"], "devices": {**old["spec"]["devices"], "requests": [request]}}
    lab.api.commit([Change(resource, key, {**old, "spec": spec})])
    lab.simulation.observe(lab.api.take_events())


def taint(lab: Lab, **taint: str) -> None:
    old = lab.api.objects[SLICES]["n0-gpus"]
    given = {"key": "broken", "effect": "NoExecute", "timeAdded": timestamp(lab.now), **taint}
    devices = [{**each, "taints": [given]} for each in old["spec"]["devices"]]
    new = {**old, "spec": {**old["spec"], "devices": devices}}
    lab.api.commit([Change(SLICES, "n0-gpus", new)])
    lab.simulation.observe(lab.api.take_events())


@pytest.mark.parametrize(
    ("tolerations", "after"),
    [
        ([], 0),
        ([{**TOLERATION, "tolerationSeconds": 30}], 30),
        ([{**TOLERATION, "effect": ""}], 0),  # as upstream: only those of the effect count
        ([TOLERATION], None),
    ],
)
def test_a_pod_is_deleted_when_its_claim_does_not_tolerate_the_taint_any_more(
    tolerations: list[Manifest], after: int | None
) -> None:
    lab = lab_with_pod("v1.36", tolerations)
    start = lab.now
    taint(lab)
    lab.run(60)
    evicted = lab.of(trace.PodEvicted)
    if after is None:
        assert not evicted
        return
    [event] = evicted
    assert (event.pod, event.reason) == ("default/web", "device taint broken:NoExecute")
    assert after <= (event.t - start) / 1_000_000 <= after + 1
    assert not lab.exists("web")


def test_nobody_is_evicted_for_another_effect_or_where_the_gate_is_off() -> None:
    lab = lab_with_pod("v1.36", [])
    taint(lab, effect="NoSchedule")
    lab.run(60)
    assert not lab.of(trace.PodEvicted)
    lab = lab_with_pod("v1.35", [])
    taint(lab)
    lab.run(60)
    assert not lab.of(trace.PodEvicted)

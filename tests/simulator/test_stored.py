"""Which stored objects fit their kind."""

import pytest

from simulator.api import Manifest
from simulator.client.stored import Misfit, checked


def pod(**status: object) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default", "creationTimestamp": None},
        "spec": {"containers": [{"name": "c"}], "nodeSelector": None},
        "status": status,
    }


def test_a_field_that_is_not_required_may_be_null_as_real_api_servers_answer_it() -> None:
    condition = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": None}
    manifest = pod(conditions=[condition], containerStatuses=None)
    assert checked("pods", "default/p", manifest) is manifest


@pytest.mark.parametrize(
    ("manifest", "where"),
    [
        (pod(conditions=[{"type": 5}]), "$.status.conditions[0].type"),
        (pod(conditions={}), "$.status.conditions"),
        (pod() | {"spec": {"containers": None}}, "$.spec.containers"),
        (pod() | {"metadata": {"name": "q", "namespace": "default"}}, "not those of its key"),
        (pod() | {"kind": "Node"}, "apiVersion and kind"),
    ],
)
def test_an_object_that_does_not_fit_its_kind_is_refused_with_the_place(
    manifest: Manifest, where: str
) -> None:
    with pytest.raises(Misfit) as refused:
        checked("pods", "default/p", manifest)
    assert where in str(refused.value)

"""Which stored objects fit their kind."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.api import Manifest
from simulator.apiserver import admission
from simulator.apiserver.resources import PODS, find_built_in
from simulator.apiserver.status import StatusError
from simulator.client.stored import Misfit, checked
from simulator.objects.metadata import key_of
from tests.apiserver.cluster import Cluster
from tests.programs.fuzz import objects


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
    assert checked(PODS, "default/p", manifest) is manifest


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
        checked(PODS, "default/p", manifest)
    assert where in str(refused.value)


def with_an_empty_list(value: Any) -> Iterator[Any]:
    """Copies of a value, in each of them another one of its lists is empty."""
    match value:
        case dict():
            for name, each in value.items():
                yield from ({**value, name: changed} for changed in with_an_empty_list(each))
        case list() if value:
            yield []
            for index, each in enumerate(value):
                yield from (
                    [*value[:index], changed, *value[index + 1 :]] for changed in with_an_empty_list(each)
                )


def test_admitted_objects_fit_their_kind_also_with_empty_lists() -> None:
    cluster = Cluster()
    cluster.create(copy.deepcopy(objects.valid()))
    accepted = 0
    for manifest in objects.valid():
        for number, changed in enumerate(with_an_empty_list(manifest)):
            changed["metadata"] = {**changed["metadata"], "name": f"changed-{number}"}
            try:
                (created,) = cluster.create([changed])
            except StatusError:
                continue
            resource = admission.resource_of(created, cluster)
            checked(find_built_in(resource.group, resource.plural), key_of(created), created)
            accepted += 1
    assert accepted > 40

"""How much of a wrong value a refusal contains."""

import pytest

from simulator.apiserver.resources import PODS
from simulator.apiserver.response_json import response_json
from simulator.apiserver.status import Invalid, invalid
from tests.apiserver.cluster import Cluster, pod

_VOLUMES = [{"name": f"v{number}", "emptyDir": {}} for number in range(1_000)]


def test_a_refused_update_contains_the_beginning_of_a_large_difference() -> None:
    cluster = Cluster()
    (old,) = cluster.create([pod()])
    for number, is_cut_off in ((1, False), (len(_VOLUMES), True)):
        new = {**old, "spec": {**old["spec"], "volumes": _VOLUMES[:number]}}
        with pytest.raises(Invalid) as refused:
            cluster.update(PODS, old, new)
        (cause,) = refused.value.causes
        assert '+   "Name": "v0",\n' in cause.message
        assert cause.message.endswith("...") is is_cut_off
        assert len(response_json(refused.value.status())) < 50_000


def test_a_struct_is_written_up_to_its_bound_in_the_order_of_its_fields() -> None:
    assert '{"b":1,"a":[2,{}]}' in invalid("f", {"b": 1, "a": [2, {}]}, "", whole=True).message
    for large in ({"b": _VOLUMES, "a": 1}, ["x" * 100_000], {str(n): n for n in range(100_000)}):
        message = invalid("f", large, "wrong", whole=True).message
        assert len(message) < 20_000
        assert message.endswith("...: wrong")

"""A healthy pod is bound beside any stored objects, in any order. The long form: python -m tests.canary."""

import pytest
from hypothesis import HealthCheck, example, given, settings

from tests.amounts import examples
from tests.canary import Act, acts, check


@pytest.mark.sampled
@settings(
    max_examples=examples(40),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(acts())
@example([Act("store", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}, "status": "x"}, 0)])
def test_a_healthy_pod_is_bound_beside_any_stored_objects(acts: list[Act]) -> None:
    check(acts)

"""Whatever is stored, in whatever order, a healthy pod is bound. The long form: python -m tests.canary."""

from hypothesis import HealthCheck, given, settings

from tests.canary import Act, acts, check


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
@given(acts())
def test_whatever_is_stored_a_healthy_pod_is_bound(acts: list[Act]) -> None:
    check(acts)

"""The memory of the program for a cluster of 5,000 nodes and 50,000 pods."""

import pytest

from tests.programs.measure_cluster_plugin import large_cluster, measure


@pytest.mark.long
def test_a_large_cluster_needs_less_than_500_megabytes() -> None:
    found = measure(large_cluster(5_000, 50_000), "pending")
    assert found.status == 1, "pods are pending"
    assert found.megabytes < 500

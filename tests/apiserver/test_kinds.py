"""The table of kinds: each has one strategy, and what strategies say fits together."""

import pytest

from simulator.apiserver.admission_plugins.order import ADMISSION_PLUGINS
from simulator.apiserver.kinds.registry import STRATEGIES, find_strategy, strategy_of
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import BUILT_IN
from simulator.apiserver.strategy import Strategy

UPSTREAM_ORDER = [
    "NamespaceLifecycle",
    "LimitRanger",
    "Priority",
    "DefaultTolerationSeconds",
    "DefaultStorageClass",
    "StorageObjectInUseProtection",
    "PodGroupProtection",
    "PersistentVolumeClaimResize",
    "RuntimeClass",
    "PodTopologyLabels",
    "PodGroupWorkloadExists",
    "JobValidation",
    "ResourceQuota",
]
"""As AllOrderedPlugins in pkg/kubeapiserver/options/plugins.go has them."""


def test_each_version_of_a_kind_is_listed_once() -> None:
    served = [(resource.api_version, resource.plural) for resource in BUILT_IN]
    assert len({*served}) == len(served)
    assert all(strategy_of(strategy.resource) is strategy for strategy in STRATEGIES)


def test_the_version_that_is_stored_is_found_by_its_id() -> None:
    events = find_strategy("events")
    assert events
    assert events.resource.api_version == "v1"
    assert find_strategy("widgets.example.com") is None


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda each: each.resource.id)
def test_a_strategy_names_known_parts_and_subresources(strategy: Strategy) -> None:
    assert {*strategy.update_order} <= {*"MSUC"}
    assert "status" not in strategy.subresources or strategy.resource.has_status
    assert {*strategy.field_values} <= {*(strategy.fields or ())}


def test_a_custom_resource_has_the_rules_of_its_schema() -> None:
    widgets = Resource("example.com", "v1", "Widget", "widgets", namespaced=True, singular="widget")
    strategy = strategy_of(widgets)
    assert strategy.needs_version
    assert strategy.subresource("status") is None
    assert strategy_of(widgets) is strategy


def test_admission_plugins_are_in_the_order_of_kube_apiserver() -> None:
    assert [plugin.name for plugin in ADMISSION_PLUGINS] == UPSTREAM_ORDER

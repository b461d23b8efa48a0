from typing import Any

import pytest

from simulator.config import ConfigError
from simulator.config.configuration import PluginRef, PluginSet, merge_plugin_sets
from simulator.plugins.priority_sort import PrioritySort
from simulator.plugins.registry import in_tree, load, profiles
from tests.simulator.builders import a_framework


def names(plugins: list[Any]) -> list[str]:
    return [plugin.name for plugin in plugins]


def test_the_default_profile_is_upstreams() -> None:
    framework = profiles(load(None))["default-scheduler"]
    assert names(framework.filter_plugins) == [
        "NodeUnschedulable",
        "NodeName",
        "TaintToleration",
        "NodeAffinity",
        "NodePorts",
        "NodeResourcesFit",
        "VolumeRestrictions",
        "NodeVolumeLimits",
        "VolumeBinding",
        "VolumeZone",
        "PodTopologySpread",
        "InterPodAffinity",
        "DynamicResources",
        "NodeDeclaredFeatures",
    ]
    assert {name: framework.weights[name] for name in names(framework.score_plugins)} == {
        "TaintToleration": 3,
        "NodeAffinity": 2,
        "NodeResourcesFit": 1,
        "VolumeBinding": 1,
        "PodTopologySpread": 2,
        "InterPodAffinity": 2,
        "DynamicResources": 2,
        "NodeResourcesBalancedAllocation": 1,
        "ImageLocality": 1,
    }
    assert names(framework.post_filter_plugins) == ["DynamicResources", "DefaultPreemption"]
    assert framework.profile.percentage_of_nodes_to_score == 100


def test_an_extension_point_goes_before_multi_point_in_order_and_weight() -> None:
    framework = a_framework(
        plugins={
            "multiPoint": {
                "enabled": [{"name": "NodeAffinity", "weight": 7}],
                "disabled": [{"name": "ImageLocality"}],
            },
            "score": {
                "enabled": [{"name": "NodeResourcesFit"}, {"name": "TaintToleration", "weight": 9}],
                "disabled": [{"name": "TaintToleration"}, {"name": "PodTopologySpread"}],
            },
            "filter": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodePorts"}, {"name": "NodeName"}]},
        }
    )
    assert names(framework.score_plugins) == [
        "NodeResourcesFit",  # overrides, so it goes first
        "NodeAffinity",
        "VolumeBinding",
        "InterPodAffinity",
        "DynamicResources",
        "NodeResourcesBalancedAllocation",
        "TaintToleration",  # disabled and enabled again: at the end
    ]
    assert [framework.weights[name] for name in ("NodeResourcesFit", "NodeAffinity", "TaintToleration")] == [
        1,
        7,
        9,
    ]
    assert names(framework.filter_plugins) == ["NodePorts", "NodeName"]
    assert "ImageLocality" not in framework.plugins


def test_merging_replaces_in_place_and_appends_the_rest() -> None:
    default = PluginSet(enabled=[PluginRef("a"), PluginRef("b"), PluginRef("c")])
    custom = PluginSet(enabled=[PluginRef("x"), PluginRef("b", 5)], disabled=[PluginRef("a")])
    assert merge_plugin_sets(default, custom).enabled == [PluginRef("b", 5), PluginRef("c"), PluginRef("x")]
    everything = PluginSet(enabled=[PluginRef("b", 5)], disabled=[PluginRef("*")])
    assert merge_plugin_sets(default, everything).enabled == [PluginRef("b", 5)]


def fit(**args: Any) -> dict[str, Any]:
    return {"profiles": [{"pluginConfig": [{"name": "NodeResourcesFit", "args": args}]}]}


def args(plugin: str, **given: Any) -> dict[str, Any]:
    return {"profiles": [{"pluginConfig": [{"name": plugin, "args": given}]}]}


ARGS = "profiles[0].pluginConfig[0].args"


@pytest.mark.parametrize(
    ("manifest", "path"),
    [
        ({"apiVersion": "kubescheduler.config.k8s.io/v1beta3"}, "apiVersion"),
        ({"kind": "Pod"}, "kind"),
        ({"percentageOfNodesToScore": 101}, "percentageOfNodesToScore"),
        ({"podInitialBackoffSeconds": 0}, "podInitialBackoffSeconds"),
        ({"podMaxBackoffSeconds": 0}, "podMaxBackoffSeconds"),
        ({"parallelism": "many"}, "parallelism"),
        ({"profiles": [{"schedulerName": "a"}, {"schedulerName": "a"}]}, "profiles[1].schedulerName"),
        ({"profiles": [{"schedulerName": ""}]}, "profiles[0].schedulerName"),
        ({"profiles": [{}] * 17}, "profiles"),
        ({"profiles": [{"percentageOfNodesToScore": -1}]}, "profiles[0].percentageOfNodesToScore"),
        ({"profiles": [{"plugins": {"score": {"enabled": [{"name": "x", "weight": -1}]}}}]},
         "profiles[0].plugins.score.enabled[0].weight"),
        (fit(scoringStrategy={"type": "Random"}), f"{ARGS}.scoringStrategy.type"),
        (fit(scoringStrategy={"resources": [{"name": "cpu", "weight": 101}]}),
         f"{ARGS}.scoringStrategy.resources[0].weight"),
        (fit(scoringStrategy={"type": "RequestedToCapacityRatio"}),
         f"{ARGS}.scoringStrategy.requestedToCapacityRatio.shape"),
        (fit(ignoredResourceGroups=["a/b"]), f"{ARGS}.ignoredResourceGroups[0]"),
        (args("InterPodAffinity", hardPodAffinityWeight=101), f"{ARGS}.hardPodAffinityWeight"),
        (args("PodTopologySpread", defaultConstraints=[{"maxSkew": 1}]), f"{ARGS}.defaultingType"),
        (args("NodeAffinity", addedAffinity={"requiredDuringSchedulingIgnoredDuringExecution": {}}),
         f"{ARGS}.addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"),
        (args("DefaultPreemption", minCandidateNodesPercentage=101), f"{ARGS}.minCandidateNodesPercentage"),
        (args("VolumeBinding", bindTimeoutSeconds=-1), f"{ARGS}.bindTimeoutSeconds"),
        (args("NodeResourcesBalancedAllocation", resources=[{"name": "cpu"}, {"name": "cpu"}]),
         f"{ARGS}.resources[1].name"),
    ],
)  # fmt: skip
def test_an_error_names_the_path_of_its_field(manifest: dict[str, Any], path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(manifest)
    assert path in [cause[0] for cause in caught.value.causes]


@pytest.mark.parametrize(
    ("plugins", "message"),
    [
        ({"filter": {"enabled": [{"name": "Blinking"}]}}, "does not exist"),
        ({"filter": {"enabled": [{"name": "ImageLocality"}]}}, "does not extend filter plugin"),
        ({"multiPoint": {"enabled": [{"name": "Blinking"}]}}, "does not exist"),
        ({"score": {"enabled": [{"name": "ImageLocality"}] * 2}}, "is already registered"),
        ({"queueSort": {"disabled": [{"name": "*"}]}}, "one plugin is needed"),
        ({"bind": {"disabled": [{"name": "*"}]}}, "at least one plugin is needed"),
    ],
)
def test_a_profile_that_cannot_run_is_refused(plugins: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        a_framework(plugins=plugins)
    assert all(path.startswith("profiles[0].plugins.") for path, _ in caught.value.causes)


def test_profiles_share_a_queue_and_so_its_order() -> None:
    class Newest(PrioritySort):
        name = "Newest"

    other = {"queueSort": {"enabled": [{"name": "Newest"}], "disabled": [{"name": "PrioritySort"}]}}
    manifest = {"profiles": [{}, {"schedulerName": "other", "plugins": other}]}
    with pytest.raises(ConfigError, match="must be the same for all profiles"):
        profiles(load(manifest), registry={**in_tree(), "Newest": Newest})

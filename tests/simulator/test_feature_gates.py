"""Feature gates are checked as kube-scheduler checks its flags."""

import pytest

from simulator.plugins.registry import in_tree
from simulator.versions.feature_gates import FeatureGateError, feature_gates
from simulator.versions.features import Features, read_features
from simulator.versions.kubernetes_version import V1_34, V1_35, V1_36, VERSIONS, UnknownVersion


@pytest.mark.parametrize(
    ("version", "gates", "message"),
    [
        ("v1.36", {"NoSuchGate": True}, "unrecognized feature gate: NoSuchGate"),
        ("v1.34", {"GenericWorkload": True}, "unrecognized feature gate: GenericWorkload"),
        (
            "v1.35",
            {"GangScheduling": True, "GenericWorkload": True},
            "GangScheduling: pod groups are modelled as v1.36 has them, not as v1.35",
        ),
        (
            "v1.36",
            {"DRAAdminAccess": False},
            "cannot set feature gate DRAAdminAccess to false, feature is locked to true",
        ),
        (
            "v1.36",
            {"DRADeviceTaints": False, "DRADeviceTaintRules": True},
            "DRADeviceTaintRules is enabled, but depends on features that are disabled: [DRADeviceTaints]",
        ),
        (
            "v1.36",
            {"NodeDeclaredFeatures": False},
            (
                "InPlacePodLevelResourcesVerticalScaling is enabled, but depends on features that are "
                "disabled: [NodeDeclaredFeatures]"
            ),
        ),
    ],
)
def test_wrong_gates_are_refused(version: str, gates: dict[str, bool], message: str) -> None:
    with pytest.raises(FeatureGateError) as refused:
        read_features(version, gates)
    assert str(refused.value) == message


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(UnknownVersion) as refused:
        read_features("v1.20", {})
    assert str(refused.value) == 'Kubernetes "v1.20" is not modelled; choose v1.36, v1.35, v1.34'


def test_a_stage_can_be_set_as_a_whole() -> None:
    assert not Features(V1_36).enabled("StorageCapacityScoring")
    alpha = Features(V1_36, {"AllAlpha": True, "VolumeLimitScaling": False})
    assert alpha.enabled("StorageCapacityScoring")
    assert not alpha.enabled("VolumeLimitScaling")


def test_the_gates_of_each_version_have_its_defaults() -> None:
    assert [len(feature_gates(version.name)) for version in VERSIONS] == [240, 218, 207]
    of = {version.name: Features(version).enabled("NodeDeclaredFeatures") for version in VERSIONS}
    assert of == {"v1.36": True, "v1.35": False, "v1.34": False}
    assert not Features(V1_34).enabled("OpportunisticBatching")
    assert Features(V1_35).enabled("OpportunisticBatching")


def test_the_plugins_are_those_of_the_version() -> None:
    plugins = {version.name: in_tree(Features(version)) for version in VERSIONS}
    assert "NodeDeclaredFeatures" in plugins["v1.36"]
    assert "NodeDeclaredFeatures" not in plugins["v1.35"]
    with_gate = Features(V1_35, {"NodeDeclaredFeatures": True})
    assert [*in_tree(with_gate)][-1] == "NodeDeclaredFeatures"
    assert not hasattr(plugins["v1.34"]["DynamicResources"], "score")
    assert hasattr(plugins["v1.35"]["DynamicResources"], "score")

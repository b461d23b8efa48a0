"""Tables of defaults, and of fields that are dropped."""

from simulator.api import Manifest
from simulator.apiserver.field_changes import complete, dropping
from simulator.apiserver.served_features import serving
from simulator.versions.features import Features
from simulator.versions.kubernetes_version import VERSIONS

DEFAULTS: Manifest = {"a": {"b": 1, "list": []}, "c": 2}


def test_what_is_missing_is_completed() -> None:
    first: Manifest = {"a": {"b": 0}, "d": 3}
    complete(first, DEFAULTS)
    assert first == {"a": {"b": 0, "list": []}, "c": 2, "d": 3}
    first["a"]["list"].append(1)
    assert DEFAULTS["a"]["list"] == []


def test_fields_of_all_elements_and_values_are_dropped() -> None:
    manifest: Manifest = {
        "a": [{"b": 1, "c": 2}, {}],
        "m": {"x": {"b": 1}, "y": {"b": {}, "c": 3}},
        "z": {"b": 1},
    }
    paths = ["a[].b", "m{}.b", "z.b", "missing.b", "missing[].b"]
    dropping(ContainerRestartRules=paths)(manifest)
    assert manifest == {"a": [{"c": 2}, {}], "m": {"x": {}, "y": {"c": 3}}, "z": {}}


def test_fields_are_kept_where_their_gate_is_on() -> None:
    manifest: Manifest = {"a": 1, "b": 2}
    with serving(Features(VERSIONS[0], {"ContainerStopSignals": True})):
        dropping(ContainerStopSignals=["a"], ClusterTrustBundleProjection=["b"])(manifest)
    assert manifest == {"a": 1}

"""Tables of defaults, and of fields that are dropped."""

from simulator.api import Manifest
from simulator.apiserver.field_changes import complete, dropping

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
    dropping("a[].b", "m{}.b", "z.b", "missing.b", "missing[].b")(manifest)
    assert manifest == {"a": [{"c": 2}, {}], "m": {"x": {}, "y": {"c": 3}}, "z": {}}

"""Field management: rules that no recorded story shows, and rules for all objects."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.api import Manifest
from simulator.apiserver.decoding import decode
from simulator.apiserver.managed_fields.field_paths import (
    FieldsError,
    FieldSet,
    from_fields_v1,
    least_size,
    path_text,
    paths_in_order,
    to_fields_v1,
)
from simulator.apiserver.managed_fields.field_writes import (
    FieldWrite,
    apply_manifest,
    managed_fields_of_new,
    managed_fields_of_updated,
    reset_fields,
)
from simulator.apiserver.managed_fields.managers import MAX_UPDATE_MANAGERS, FieldManager
from simulator.apiserver.managed_fields.typed_objects import compare, fields_of
from simulator.apiserver.managed_fields.updater import ApplyConflict
from simulator.apiserver.request_errors import TooLarge
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import find_by_kind
from simulator.apiserver.status import PlainError
from simulator.apiserver.types.schema_types import type_of


def _resource(api_version: str, kind: str) -> Resource:
    found = find_by_kind(api_version, kind)
    assert found is not None
    return found


DEPLOYMENTS = _resource("apps/v1", "Deployment")
CONFIG_MAPS = _resource("v1", "ConfigMap")
DEPLOYMENT_TYPE = type_of(DEPLOYMENTS)

NAMES = st.sampled_from("abcd")
PORTS = st.lists(
    st.fixed_dictionaries(
        {"containerPort": st.integers(1, 3)},
        optional={"protocol": st.sampled_from(["TCP", "UDP"]), "name": NAMES},
    ),
    max_size=3,
    unique_by=lambda port: (port["containerPort"], port.get("protocol", "TCP")),
)
CONTAINERS = st.lists(
    st.fixed_dictionaries(
        {"name": NAMES}, optional={"image": NAMES, "ports": PORTS, "command": st.lists(NAMES, max_size=2)}
    ),
    min_size=1,
    max_size=3,
    unique_by=lambda container: str(container["name"]),
)
"""At least one: empty lists are not stored."""
LABELS = st.dictionaries(NAMES, NAMES, max_size=3)


@st.composite
def deployments(draw: st.DrawFn) -> Manifest:
    """Deployments for server-side apply. Any part may be missing."""
    metadata: dict[str, Any] = {"name": "web"}
    if draw(st.booleans()):
        metadata["labels"] = draw(LABELS)
    if draw(st.booleans()):
        metadata["finalizers"] = draw(st.lists(NAMES, max_size=3, unique=True))
    spec: dict[str, Any] = {}
    if draw(st.booleans()):
        spec["replicas"] = draw(st.integers(0, 3))
    if draw(st.booleans()):
        spec["selector"] = {"matchLabels": draw(LABELS)}
    if draw(st.booleans()):
        spec["template"] = {"spec": {"containers": draw(CONTAINERS)}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


def applied(live: Manifest | None, given: Manifest, manager: str, *, force: bool = False) -> Manifest:
    resource = _resource(given["apiVersion"], given["kind"])
    return apply_manifest(
        resource, live, copy.deepcopy(given), FieldWrite(manager, "2026-01-01"), force=force
    )


def conflicting(live: Manifest, given: Manifest, manager: str) -> dict[FieldManager, FieldSet]:
    """The fields of other managers that an apply would change."""
    try:
        applied(live, given, manager)
    except ApplyConflict as conflict:
        return conflict.fields
    return {}


def owners(manifest: Manifest) -> dict[str, Any]:
    return {entry["manager"]: entry["fieldsV1"] for entry in manifest["metadata"]["managedFields"]}


@given(deployments())
def test_fields_v1_and_the_set_are_equal(given: Manifest) -> None:
    fields = fields_of(DEPLOYMENT_TYPE, given)
    text = json.dumps(to_fields_v1(fields), separators=(",", ":"))
    assert from_fields_v1(json.loads(text)) == fields
    assert least_size(fields) <= len(text)
    assert sorted(paths_in_order(fields)) == sorted(fields)


@given(deployments(), deployments())
def test_an_object_that_is_applied_again_changes_nothing(live: Manifest, given: Manifest) -> None:
    first = applied(None, live, "other")
    once = applied(first, given, "applier", force=True)
    assert applied(once, given, "applier") == once


@given(deployments(), deployments())
def test_applied_fields_are_stored_and_owned(live: Manifest, given: Manifest) -> None:
    result = applied(applied(None, live, "other"), given, "applier", force=True)
    # If nothing is applied, fields that others own may stay. Empty values are stored as Go writes them.
    difference = compare(DEPLOYMENT_TYPE, result, decode(DEPLOYMENTS, given)[0])
    wanted = fields_of(DEPLOYMENT_TYPE, given)
    assert not difference.modified & wanted
    metadata = {"f:metadata", "f:name", "f:apiVersion", "f:kind"}
    shown = from_fields_v1(owners(result).get("applier", {}))
    assert {path for path in wanted - shown if not metadata.issuperset(path)} == set()


@given(deployments(), deployments(), deployments())
def test_only_fields_of_others_conflict(live: Manifest, mine: Manifest, theirs: Manifest) -> None:
    before = applied(applied(None, live, "other"), mine, "applier", force=True)
    owned = from_fields_v1(owners(before).get("other", {}))
    for manager, fields in conflicting(before, theirs, "applier").items():
        assert manager.name == "other"
        assert fields <= owned


@given(deployments(), deployments())
def test_fields_are_removed_when_two_managers_apply_nothing(one: Manifest, two: Manifest) -> None:
    nothing: Manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}}
    # Without any owner, the first apply would make "before-first-apply" the owner of the existing fields.
    owned = {**nothing, "metadata": {"name": "web", "labels": {"kept": "x"}}}
    result = applied(applied(None, owned, "base"), one, "one", force=True)
    result = applied(result, two, "two", force=True)
    result = applied(applied(result, nothing, "one"), nothing, "two")
    assert owners(result).keys() == {"base"}
    assert result["metadata"]["labels"] == {"kept": "x"}
    assert not ((result.get("spec") or {}).get("template") or {}).get("spec", {}).get("containers")


def test_an_object_that_its_managed_fields_make_too_large_is_refused_before_it_is_validated() -> None:
    data = {f"{'a' * 250}{number}": "" for number in range(3_500)}
    given = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": data}
    with pytest.raises(TooLarge, match=r"Request entity too large: an object may have 1,572,864 bytes"):
        applied(None, given, "one")
    given["data"] = dict([*data.items()][:2_500])
    assert applied(None, given, "one")["metadata"]["managedFields"]


def test_the_oldest_updates_become_one_entry() -> None:
    manifest: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {}}
    by = FieldWrite("m00", "2026-01-01T00:00:00Z")
    manifest["data"] = {"k00": "1"}
    manifest["metadata"]["managedFields"] = managed_fields_of_new(CONFIG_MAPS, manifest, by)
    for number in range(1, MAX_UPDATE_MANAGERS + 3):
        by = FieldWrite(f"m{number:02}", f"2026-01-01T00:00:{number:02}Z")
        new = {**manifest, "data": {**manifest["data"], f"k{number:02}": "1"}}
        entries = managed_fields_of_updated(CONFIG_MAPS, manifest, new, by)
        manifest = {**new, "metadata": {**manifest["metadata"], "managedFields": entries}}
    names = [entry["manager"] for entry in manifest["metadata"]["managedFields"]]
    assert names == ["ancient-changes", *(f"m{number:02}" for number in range(4, 13))]
    assert owners(manifest)["ancient-changes"]["f:data"].keys() == {".", "f:k00", "f:k01", "f:k02", "f:k03"}


def test_a_created_deployment_is_owned_as_upstream_shows_it() -> None:
    container = {"name": "c", "image": "i", "resources": {}}
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "labels": {"app": "web"}},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "web"}},
            "strategy": {"type": "Recreate"},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}},
        },
    }
    (entry,) = managed_fields_of_new(DEPLOYMENTS, manifest, FieldWrite("kubectl-create", "2026-01-01"))
    labels = {"f:labels": {".": {}, "f:app": {}}}
    items = {'k:{"name":"c"}': {".": {}, "f:image": {}, "f:name": {}, "f:resources": {}}}
    assert entry["fieldsV1"] == {
        "f:metadata": labels,
        "f:spec": {
            "f:replicas": {},
            "f:selector": {},
            "f:strategy": {"f:type": {}},
            "f:template": {"f:metadata": labels, "f:spec": {"f:containers": items}},
        },
    }


def test_kubectl_owns_the_fields_of_its_client_side_apply() -> None:
    given: Manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"a": "1"}}
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(given) + "\n"}
    live = {**given, "metadata": {"name": "c", "uid": "u", "annotations": annotations}}
    by = FieldWrite("kubectl-client-side-apply", "2026-01-01")
    live["metadata"]["managedFields"] = managed_fields_of_new(CONFIG_MAPS, live, by)
    wanted = {**given, "data": {"a": "2"}}
    with pytest.raises(ApplyConflict):
        applied(live, wanted, "somebody-else")
    result = applied(live, wanted, "kubectl")
    assert result["data"] == {"a": "2"}
    annotation = result["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"]
    assert json.loads(annotation) == wanted
    assert owners(result)["kubectl"] == {"f:data": {"f:a": {}}}


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"replicas": "x"}, ".spec.replicas: expected numeric (int or float), got *value.valueUnstructured"),
        ({"paused": "x"}, ".spec.paused: expected boolean, got &{x}"),
        ({"selector": [1]}, ".spec.selector: expected map, got &{[1]}"),
        (
            {"template": {"spec": {"containers": {"a": True}}}},
            ".containers: expected list, got &{map[a:true]}",
        ),
        ({"template": {"spec": {"containers": [{}]}}}, "omits all key fields"),
        ({"template": {"metadata": {"finalizers": ["a", "a"]}}}, 'duplicate entries for key [="a"]'),
        ({"selector": {"matchLabels": {"a": 1.5, "b": None}}}, "got &value.valueUnstructured{Value:1.5}"),
        ({"foo": 1, "replicas": "x"}, ".spec.foo: field not declared in schema"),
    ],
)
def test_an_object_of_wrong_types_cannot_be_applied(part: Manifest, message: str) -> None:
    given = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": part}
    with pytest.raises(PlainError) as refused:
        applied(None, given, "applier")
    start = "failed to create typed patch object (/web; apps/v1, Kind=Deployment): "
    assert refused.value.message.startswith(start)
    assert message in refused.value.message


NUMBER = "json: cannot unmarshal number"
TIME = 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"'
QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"


@pytest.mark.parametrize(
    ("kind", "part", "message"),
    [
        ("Pod", {"spec": {"overhead": {"cpu": "x"}}}, QUANTITY),
        ("Pod", {"spec": {"priority": 1.5}}, "cannot convert float64 to int32"),
        (
            "Service",
            {"spec": {"ports": [{"port": 1, "targetPort": 1.5}]}},
            NUMBER + " 1.5 into Go value of type int32",
        ),
        ("ConfigMap", {"metadata": {"deletionTimestamp": "x"}}, TIME),
        ("ConfigMap", {"binaryData": {"a": "!"}}, "illegal base64 data at input byte 0"),
    ],
)
def test_what_does_not_fit_its_type_cannot_be_applied(kind: str, part: Manifest, message: str) -> None:
    given = {"apiVersion": "v1", "kind": kind, "metadata": {}} | part
    with pytest.raises(PlainError) as refused:
        applied(None, given, "applier")
    assert refused.value.message == (
        f"failed to convert new object (/; /v1, Kind={kind}) to proper version: "
        f"unable to convert unstructured object to /v1, Kind={kind}: {message}"
    )


def test_null_in_what_is_applied_is_the_zero_value() -> None:
    given = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"labels": {"a": None}},
        "data": {"b": None},
    }
    result = applied(None, given, "applier")
    assert (result["metadata"]["labels"], result["data"]) == ({"a": ""}, {"b": ""})


def test_paths_are_written_as_upstream_does() -> None:
    fields = from_fields_v1({"f:a": {'k:{"p":1,"q":"x"}': {"v:true": {}, "i:3": {}}}})
    assert {path_text(path) for path in fields} == {'.a[p=1,q="x"][=true]', '.a[p=1,q="x"][3]'}


@pytest.mark.parametrize("fields", [[], {"x:y": {}}, {"f": {}}, {"k:[": {}}, {"f:a": 1}])
def test_malformed_fields_are_refused(fields: Any) -> None:
    with pytest.raises(FieldsError):
        from_fields_v1(fields)


def test_a_status_of_a_custom_resource_resets_the_spec_only() -> None:
    schema = json.dumps({"type": "object", "properties": {"spec": {"type": "object"}}})
    widgets = Resource(
        "example.com", "v1", "Widget", "widgets", True, "widget", has_status=True, schema_text=schema
    )
    assert reset_fields(widgets, "status") == {("f:spec",)}
    assert ("f:metadata",) not in reset_fields(DEPLOYMENTS, "status")

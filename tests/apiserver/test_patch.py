"""Patches and selectors."""

from typing import Any

import pytest

from simulator.apiserver.bounds import MAX_DEPTH
from simulator.apiserver.patches.json_patch import PatchDoesNotApply, apply_json_patch, apply_merge_patch
from simulator.apiserver.patches.strategic_merge_patch import apply_strategic_merge_patch
from simulator.apiserver.resources import NODES, PODS
from simulator.apiserver.selection import selection_predicate
from simulator.apiserver.status import BadRequest, PlainError, StatusError
from simulator.apiserver.types.schema_types import type_of

# The examples of RFC 7386, appendix A.
MERGES: list[tuple[Any, Any, Any]] = [
    ({"a": "b"}, {"a": "c"}, {"a": "c"}),
    ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
    ({"a": "b"}, {"a": None}, {}),
    ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
    ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
    ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
    ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
    ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
    (["a", "b"], ["c", "d"], ["c", "d"]),
    ({"a": "foo"}, None, None),
    ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
    ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
    ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
]


@pytest.mark.parametrize(("target", "change", "result"), MERGES)
def test_a_merge_patch_follows_rfc_7386(target: Any, change: Any, result: Any) -> None:
    assert apply_merge_patch(target, change) == result


def test_a_strategic_patch_merges_lists_by_their_keys() -> None:
    pod = {
        "metadata": {"labels": {"a": "1", "b": "2"}, "finalizers": ["x/a"]},
        "spec": {
            "containers": [{"name": "one", "image": "a"}, {"name": "two", "image": "b", "args": ["x"]}],
            "tolerations": [{"key": "a"}],
        },
    }
    change = {
        "metadata": {"labels": {"b": None, "c": "3"}, "finalizers": ["x/b"]},
        "spec": {
            "$setElementOrder/containers": [{"name": "three"}, {"name": "two"}],
            "containers": [
                {"name": "one", "$patch": "delete"},
                {"name": "three", "image": "d"},
                {"name": "two", "image": "c", "args": ["y"]},
            ],
            "tolerations": [{"key": "b"}],
        },
    }
    assert apply_strategic_merge_patch(type_of(PODS), pod, change) == {
        "metadata": {"labels": {"a": "1", "c": "3"}, "finalizers": ["x/b", "x/a"]},
        "spec": {
            "containers": [{"name": "three", "image": "d"}, {"name": "two", "image": "c", "args": ["y"]}],
            "tolerations": [{"key": "b"}],
        },
    }


def test_strategic_directives_replace_and_delete() -> None:
    schema = type_of(PODS)
    pod = {
        "metadata": {"labels": {"a": "1"}, "finalizers": ["a/b", "c/d"]},
        "spec": {"nodeSelector": {"a": "b"}},
    }
    replaced = {
        "metadata": {"labels": {"$patch": "replace", "b": "2"}},
        "spec": {"nodeSelector": {"$patch": "delete"}},
    }
    merged = apply_strategic_merge_patch(schema, pod, replaced)
    assert merged["metadata"]["labels"] == {"b": "2"}
    assert merged["spec"]["nodeSelector"] == {}
    dropped = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["a/b"]}}
    assert apply_strategic_merge_patch(schema, pod, dropped)["metadata"]["finalizers"] == ["c/d"]
    containers = {"spec": {"containers": [{"name": "a"}]}}
    with pytest.raises(PlainError, match=r"map: map\[image:x\] does not contain declared merge key: name"):
        apply_strategic_merge_patch(schema, containers, {"spec": {"containers": [{"image": "x"}]}})
    conditions = {"status": {"conditions": [{"type": "Ready", "status": "False"}]}}
    node = {
        "status": {"conditions": [{"type": "Disk", "status": "True"}, {"type": "Ready", "status": "True"}]}
    }
    found = apply_strategic_merge_patch(type_of(NODES), node, conditions)["status"]["conditions"]
    assert [condition["status"] for condition in found] == ["True", "False"]


def test_a_json_patch_follows_rfc_6902_and_leaves_its_target_alone() -> None:
    target = {"a": {"b": [1, 2, 3]}, "x/y": 1}
    operations = [
        {"op": "test", "path": "/a/b/0", "value": 1},
        {"op": "add", "path": "/a/b/-", "value": 4},
        {"op": "add", "path": "/a/b/0", "value": 0},
        {"op": "remove", "path": "/a/b/1"},
        {"op": "replace", "path": "/x~1y", "value": 2},
        {"op": "copy", "from": "/a/b", "path": "/c"},
        {"op": "move", "from": "/c/0", "path": "/d"},
    ]
    result = apply_json_patch(target, operations)
    assert result == {"a": {"b": [0, 2, 3, 4]}, "x/y": 2, "c": [2, 3, 4], "d": 0}
    assert target == {"a": {"b": [1, 2, 3]}, "x/y": 1}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/nope"},
        {"op": "replace", "path": "/a/9", "value": 1},
        {"op": "test", "path": "/a", "value": 1},
        {"op": "add", "path": "a", "value": 1},
        {"op": "add", "path": "/a/x", "value": 1},
        {"op": "jump", "path": "/a"},
        {"path": "/a"},
        {"op": "move", "from": "/a", "path": "/a/0"},
        {"op": "add", "path": 7, "value": 1},
        {"op": "copy", "from": ["/a"], "path": "/b"},
        7,
    ],
)
def test_a_json_patch_that_does_not_apply_is_refused(operation: object) -> None:
    with pytest.raises(PatchDoesNotApply, match="operation 0 of the JSON patch does not apply"):
        apply_json_patch({"a": [1]}, [operation])


POD = {
    "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web", "n": "5"}},
    "spec": {"nodeName": "n1"},
    "status": {"phase": "Running"},
}


def test_the_result_of_a_json_patch_is_bounded() -> None:
    doubled = [{"op": "copy", "from": "/a", "path": f"/a/{number}"} for number in range(40)]
    with pytest.raises(PatchDoesNotApply, match="accumulated size increase of copy"):
        apply_json_patch({"a": {"x": 1}}, doubled)
    texts = [{"op": "copy", "from": "/a", "path": f"/b{number}"} for number in range(4)]
    with pytest.raises(PatchDoesNotApply, match=r"operation 3 .* exceeding the limit 3145728"):
        apply_json_patch({"a": "x" * 1_000_000}, texts)
    deeper = [
        {"op": "add", "path": "/b", "value": {}},
        {"op": "move", "from": "/a", "path": "/b/a"},
        {"op": "move", "from": "/b", "path": "/a"},
    ]
    with pytest.raises(PatchDoesNotApply, match=f"nested deeper than {MAX_DEPTH} levels"):
        apply_json_patch({"a": {}}, deeper * 3000)


@pytest.mark.parametrize(
    ("labels", "fields", "selected"),
    [
        ("app=web", "", True),
        ("app==web", "", True),
        ("app!=web", "", False),
        ("none!=web", "", True),
        ("app in (web, shop), n", "", True),
        ("app notin (web)", "", False),
        ("app in (,x)", "", False),
        ("!app", "", False),
        ("! none", "", True),
        ("n>4,n<6", "", True),
        ("app=", "", False),
        ("", "metadata.name=web", True),
        ("", "metadata.name!=web", False),
        ("", "spec.nodeName=n1,status.phase!=Pending", True),
        ("", "metadata.namespace==other", False),
        ("app=web", "spec.nodeName=", False),
        ("", "spec.hostNetwork=false", True),
    ],
)
def test_selectors_select(labels: str, fields: str, selected: bool) -> None:
    check = selection_predicate(PODS, labels, fields)
    assert check
    assert check(POD) is selected


@pytest.mark.parametrize(
    ("labels", "fields"),
    [
        ("app=web,", ""),
        ("=web", ""),
        ("app in web", ""),
        ("app in (web", ""),
        ("app web", ""),
        ("n>x", ""),
        ("app=a b", ""),
        ("a" * 20_000, ""),
        ("", "spec.image=x"),
        ("", "name"),
    ],
)
def test_invalid_selectors_are_refused(labels: str, fields: str) -> None:
    with pytest.raises(BadRequest):
        selection_predicate(PODS, labels, fields)


def test_an_empty_selector_selects_all_objects() -> None:
    assert selection_predicate(PODS, " ", "") is None


CONFIG = {"metadata": {"labels": {"a": "1"}, "finalizers": ["x/a", "x/b"]}, "spec": {"args": ["a", "b"]}}
REFUSED_STRATEGIC: list[tuple[dict[str, Any], str]] = [
    ({"metadata": {"$setElementOrder/finalizers": "x"}}, "expected a []interface {}, but received a string"),
    (
        {"metadata": {"$setElementOrder/finalizers": ["x/a"], "finalizers": None}},
        "expected a []interface {}, but received a %!s(<nil>)",
    ),
    ({"metadata": {"$deleteFromPrimitiveList": ["x/a"]}}, "invalid patch format of primitive list"),
    ({"metadata": {"$setElementOrder": ["x/a"]}}, "invalid patch format of setElementOrder list"),
    ({"metadata": {"labels": {"$patch": 1}}}, "unknown patch type: %!s(int64=1) in map: map[$patch:1]"),
    ({"metadata": {"finalizers": [1]}}, "list element types are not identical: [[x/a x/b] [1]]"),
    (
        {"spec": {"$setElementOrder/volumes": [{"name": "v"}], "volumes": []}},
        "no elements in any of the given slices",
    ),
    (
        {"spec": {"$setElementOrder/volumes": [{"name": "v"}], "volumes": [{"emptyDir": {}}]}},
        "map: map[emptyDir:map[]] does not contain declared merge key: name",
    ),
]


@pytest.mark.parametrize(("change", "message"), REFUSED_STRATEGIC)
def test_a_strategic_patch_that_cannot_be_applied_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(StatusError) as refused:
        apply_strategic_merge_patch(type_of(PODS), CONFIG, change)
    assert str(refused.value) == message


def test_new_values_of_a_strategic_patch_lose_their_directives() -> None:
    """A value that nothing is merged with is left out if it has ``$patch``; its other directives stay, and
    become unknown fields."""
    selected = {"spec": {"nodeSelector": {"$patch": "replace", "a": "b"}}}
    assert "nodeSelector" not in apply_strategic_merge_patch(type_of(PODS), {"spec": {}}, selected)["spec"]
    volumes = {"spec": {"volumes": [{"name": "v"}, {"name": "w", "$patch": "delete"}]}}
    found = apply_strategic_merge_patch(type_of(PODS), {"spec": {}}, volumes)
    assert found == {"spec": {"volumes": [{"name": "v"}]}}
    affinity = {"spec": {"affinity": {"$retainKeys": ["podAffinity"], "podAffinity": {}}}}
    assert apply_strategic_merge_patch(type_of(PODS), {"spec": {}}, affinity) == affinity


def test_items_are_deleted_only_from_lists_that_are_merged() -> None:
    pod = {"spec": {"containers": [{"name": "c", "args": ["a", "b"]}]}}
    change = {"spec": {"containers": [{"name": "c", "$deleteFromPrimitiveList/args": ["a"]}]}}
    found = apply_strategic_merge_patch(type_of(PODS), pod, change)
    assert found["spec"]["containers"][0]["args"] == ["a"]

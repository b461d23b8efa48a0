"""Objects that a real kube-apiserver accepted, each with one field broken: refused with a Status or accepted.

The objects are those that the recorded stories create (tests/conformance/api)."""

import copy
import json
import random
from collections.abc import Iterator
from typing import Any, Final

import pytest

from simulator.api import Manifest
from simulator.apiserver import resources
from simulator.apiserver.resources import NAMESPACES
from simulator.apiserver.status import StatusError
from tests.apiserver.cluster import Cluster
from tests.stories.recorded import read_stories

CATEGORIES: Final = ("create", "defaults")
BREAKS_OF_AN_OBJECT: Final = 6
REMOVED: Final = object()


def objects(category: str) -> list[Manifest]:
    """The objects that stories of the category create in their first step, without those of other stories."""
    found = []
    for story in read_stories(category):
        step = json.loads(json.dumps(story["steps"][0]).replace("{{id}}", "abc"))
        body = step["request"].get("body")
        is_new = step["request"]["method"] == "POST" and step["response"]["status"] == 201
        if is_new and isinstance(body, dict) and not step["request"].get("query"):
            known = resources.find_by_kind(body.get("apiVersion", ""), body.get("kind", ""))
            if known is not None and known != NAMESPACES:
                home = {"namespace": "ns-abc"} if known.namespaced else {}
                found.append({**body, "metadata": {**home, **body["metadata"]}})
    return found


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all fields and items but the kind and the name."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        if (*path, key) not in {("apiVersion",), ("kind",)}:
            yield (*path, key)
            if isinstance(item, dict | list):
                yield from paths(item, (*path, key))


def breaks_of(value: Any) -> list[Any]:
    """Wrong values of the same type, which the decoder accepts."""
    match value:
        case bool():
            return [not value, REMOVED]
        case int():
            return [0, -1, 2_147_483_647, REMOVED]
        case str():
            return ["", "Not A Name!", "x" * 300, "../up", "-1", REMOVED]
        case list():
            return [[], value + value[:1], value * 70, REMOVED]
        case dict():
            return [{}, REMOVED]
    return [REMOVED]


def broken(manifest: Manifest, path: tuple[Any, ...], value: Any) -> Manifest:
    changed = copy.deepcopy(manifest)
    holder: Any = changed
    for key in path[:-1]:
        holder = holder[key]
    if value is REMOVED:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return changed


def value_at(manifest: Manifest, path: tuple[Any, ...]) -> Any:
    value: Any = manifest
    for key in path:
        value = value[key]
    return value


def cluster_for(manifest: Manifest) -> Cluster:
    cluster = Cluster()
    namespace = manifest.get("metadata", {}).get("namespace")
    for name in {namespace, "ns-abc"} - {None, "default"}:
        cluster.create([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}])
    return cluster


def refusal_of(cluster: Cluster, manifest: Manifest) -> StatusError | None:
    try:
        cluster.admit([manifest])
    except StatusError as error:
        return error
    return None


@pytest.mark.parametrize("category", CATEGORIES)
def test_an_object_with_one_broken_field_is_refused_with_a_status_or_accepted(category: str) -> None:
    draws, refusals = random.Random(15), []
    for manifest in objects(category):
        cluster = cluster_for(manifest)
        assert refusal_of(cluster, copy.deepcopy(manifest)) is None
        choices = [(path, value) for path in paths(manifest) for value in breaks_of(value_at(manifest, path))]
        for path, value in draws.sample(choices, min(BREAKS_OF_AN_OBJECT, len(choices))):
            try:
                refusals.append(refusal_of(cluster, broken(manifest, path, value)))
            except Exception as error:
                raise AssertionError(f"{manifest['kind']} {path} = {value!r}") from error
    found = [refusal for refusal in refusals if refusal]
    assert len(found) > len(refusals) / 4
    assert {refusal.code for refusal in found} <= {400, 403, 404, 422}
    assert all(refusal.message for refusal in found)

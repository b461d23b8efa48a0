"""Lists and watches by version: pages of one snapshot, past versions, versions that never were."""

import json
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import pytest
from kubernetes import client

from schedviz.store import Commit, Store
from schedviz.store.bounds import LOG_LENGTH
from simulator.api import Change
from simulator.apiserver.resources import BUILT_IN
from tests.api.asking import PODS, pod_json, request
from tests.waiting import PATIENCE

OF_VERSION_0 = "eyJ2IjogIm1ldGEuazhzLmlvL3YxIiwgInJ2IjogMCwgInN0YXJ0IjogImEifQ"
"""A continue token: ``{"v": "meta.k8s.io/v1", "rv": 0, "start": "a"}``."""
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def create(url: str, *names: str, **labels: str) -> list[str]:
    """Create ConfigMaps of these names. Returns their versions."""
    versions = []
    for name in names:
        status, created = request(
            url + CONFIG_MAPS, "POST", json.dumps({"metadata": {"name": name, "labels": labels}})
        )
        assert status == 201
        versions.append(created["metadata"]["resourceVersion"])
    return versions


def listed(url: str, headers: Mapping[str, str] = {}, **query: str) -> tuple[int, Any]:
    return request(f"{url}{CONFIG_MAPS}?{urlencode(query)}", headers=headers)


def watched(url: str, path: str = CONFIG_MAPS, **query: str) -> list[Any]:
    query = {"watch": "1", "timeoutSeconds": "1"} | query
    with urllib.request.urlopen(f"{url}{path}?{urlencode(query)}", timeout=PATIENCE) as response:
        return [json.loads(line) for line in response]


def names(answer: Any) -> list[str]:
    return [item["metadata"]["name"] for item in answer["items"]]


def shown(events: list[Any]) -> list[tuple[str, str]]:
    """Type and name of each event. Of bookmarks only the one that ends the initial events, named ""."""
    ends = "k8s.io/initial-events-end"
    return [
        (event["type"], event["object"]["metadata"].get("name", ""))
        for event in events
        if event["type"] != "BOOKMARK" or ends in event["object"]["metadata"].get("annotations", {})
    ]


def fill_log(store: Store, sandbox: str) -> None:
    """Write so often that the watch log no longer holds what was written before."""
    for round_ in range(2):
        store.sandbox(sandbox).commit(
            Commit(
                [
                    Change(
                        "leases.coordination.k8s.io",
                        f"default/l{n}",
                        {"metadata": {"name": f"l{n}", "namespace": "default"}},
                        None if round_ else 0,
                    )
                    for n in range(LOG_LENGTH)
                ]
            )
        )


def test_all_pages_show_the_state_of_the_first(url: str) -> None:
    create(url, "a", "c", "e", "g")
    _, first = listed(url, limit="1")
    assert (names(first), first["metadata"]["remainingItemCount"]) == (["a"], 3)
    request(f"{url}{CONFIG_MAPS}/c", "DELETE")
    create(url, "b")
    change = {"Content-Type": "application/merge-patch+json"}
    request(f"{url}{CONFIG_MAPS}/e", "PATCH", '{"data": {"x": "y"}}', change)
    _, second = listed(url, limit="2", **{"continue": first["metadata"]["continue"]})
    assert (names(second), second["metadata"]["remainingItemCount"]) == (["c", "e"], 1)
    assert "data" not in second["items"][1]
    request(f"{url}{CONFIG_MAPS}/g", "DELETE")
    _, third = listed(url, **{"continue": second["metadata"]["continue"]})
    assert names(third) == ["g"]
    assert "continue" not in third["metadata"]
    versions = {page["metadata"]["resourceVersion"] for page in (first, second, third)}
    assert len(versions) == 1
    assert names(listed(url)[1]) == ["a", "b", "e"]


def test_an_expired_continue_token_gets_a_token_of_the_newest_version(
    store: Store, cluster: str, url: str
) -> None:
    create(url, "a", "c")
    token = listed(url, limit="1")[1]["metadata"]["continue"]
    create(url, "b")
    fill_log(store, cluster)
    status, answer = listed(url, limit="1", **{"continue": token})
    assert (status, answer["reason"]) == (410, "Expired")
    _, rest = listed(url, **{"continue": answer["metadata"]["continue"]})
    assert names(rest) == ["b", "c"]


def test_a_list_shows_exactly_the_version_that_is_asked_for(url: str) -> None:
    first, _ = create(url, "a", "b")
    exact = {"resourceVersion": first, "resourceVersionMatch": "Exact"}
    status, answer = listed(url, **exact)
    assert (status, names(answer), answer["metadata"]["resourceVersion"]) == (200, ["a"], first)
    assert names(listed(url, resourceVersion=first, limit="5")[1]) == [
        "a"
    ]  # as the object before the change matched
    assert names(listed(url, resourceVersion=first)[1]) == ["a", "b"]
    assert names(listed(url, resourceVersion="0", limit="1")[1]) == ["a", "b"]


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ({"resourceVersion": "x"}, 400, "invalid resource version"),
        ({"resourceVersion": "-1"}, 400, "invalid syntax"),
        ({"resourceVersion": "9" * 30}, 400, "value out of range"),
        ({"resourceVersion": "x", "watch": "1"}, 500, "invalid syntax"),
        ({"limit": "x"}, 400, "strconv.ParseInt"),
        ({"timeoutSeconds": "9" * 30, "watch": "1"}, 400, "value out of range"),
        ({"continue": "garbage"}, 400, "continue key is not valid"),
        ({"continue": "!!"}, 400, "illegal base64 data at input byte 0"),
        ({"continue": OF_VERSION_0}, 400, "incorrect encoded start resourceVersion"),
        ({"continue": "W10"}, 400, "cannot unmarshal array into Go value"),
        ({"continue": "e30"}, 400, "server does not recognize this encoded version"),
        ({"resourceVersionMatch": "Exact"}, 422, "forbidden unless resourceVersion is provided"),
        ({"resourceVersion": "5", "resourceVersionMatch": "Near"}, 422, "Unsupported value"),
        ({"sendInitialEvents": "true"}, 422, "sendInitialEvents is forbidden for list"),
        ({"watch": "1", "sendInitialEvents": "true"}, 422, "requires setting resourceVersionMatch"),
        ({"includeObject": "All"}, 400, "must be 'Metadata', 'Object', 'None', or empty"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_are_refused(url: str, query: dict[str, str], status: int, words: str) -> None:
    table = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"} if "includeObject" in query else {}
    code, answer = listed(url, table, **query)
    assert (code, answer["kind"]) == (status, "Status")
    assert words in answer["message"]


def test_a_version_that_was_not_reached_is_answered_504(url: str) -> None:
    for query in ({}, {"resourceVersionMatch": "NotOlderThan"}, {"resourceVersionMatch": "Exact"}):
        status, answer = listed(url, resourceVersion="999999999", **query)
        assert (status, answer["reason"], answer["details"]["retryAfterSeconds"]) == (504, "Timeout", 1)
        assert answer["message"].startswith("Timeout: Too large resource version: 999999999, current: ")
        assert answer["details"]["causes"] == [
            {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
        ]
    # A watch gets status 200, waits, and reports the error in the stream.
    (event,) = watched(url, resourceVersion="999999999", timeoutSeconds="20")
    assert (event["type"], event["object"]["code"]) == ("ERROR", 504)


@pytest.mark.parametrize("version", ["", "0", "first"])
def test_the_initial_events_come_before_their_bookmark(url: str, version: str) -> None:
    (first,) = create(url, "a")
    create(url, "b")
    asked = {"resourceVersion": first if version == "first" else version}
    asked |= {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}
    whole = [("ADDED", "a"), ("ADDED", "b")]
    events = watched(url, allowWatchBookmarks="true", **asked)
    assert shown(events) == [*whole, ("BOOKMARK", "")]
    end = events[2]["object"]
    assert (end["kind"], end["metadata"]["resourceVersion"]) == (
        "ConfigMap",
        listed(url)[1]["metadata"]["resourceVersion"],
    )
    assert shown(watched(url, **asked)) == whole


def test_without_initial_events_a_watch_begins_now_or_at_its_version(url: str) -> None:
    (first,) = create(url, "a")
    create(url, "b")
    asked = {"sendInitialEvents": "false", "resourceVersionMatch": "NotOlderThan"}
    assert shown(watched(url, **asked)) == []
    assert shown(watched(url, resourceVersion=first, **asked)) == [("ADDED", "b")]
    assert shown(watched(url, resourceVersion=first)) == [("ADDED", "b")]
    assert shown(watched(url, "/api/v1/watch/namespaces/default/configmaps", resourceVersion=first)) == [
        ("ADDED", "b")
    ]


def test_an_object_that_no_longer_matches_is_deleted_in_its_last_matching_state(url: str) -> None:
    (version,) = create(url, "a", app="web")
    change = {"Content-Type": "application/merge-patch+json"}
    _, left = request(f"{url}{CONFIG_MAPS}/a", "PATCH", '{"metadata": {"labels": {"app": "shop"}}}', change)
    (event,) = watched(url, resourceVersion=version, labelSelector="app=web")
    assert (event["type"], event["object"]["metadata"]["labels"]) == ("DELETED", {"app": "web"})
    assert event["object"]["metadata"]["resourceVersion"] == left["metadata"]["resourceVersion"]


def test_a_watch_whose_beginning_is_not_kept_deletes_objects_that_may_have_matched(
    store: Store, cluster: str, url: str
) -> None:
    create(url, "a", app="web")
    fill_log(store, cluster)
    version = str(store.sandbox(cluster).version())
    change = {"Content-Type": "application/merge-patch+json"}
    request(f"{url}{CONFIG_MAPS}/a", "PATCH", '{"metadata": {"labels": {"app": "shop"}}}', change)
    events = watched(url, resourceVersion=version, labelSelector="app=web")
    assert shown(events) == [("DELETED", "a")]


@pytest.mark.parametrize("include", ["", "Metadata", "Object", "None"])
def test_a_tables_rows_hold_as_much_of_their_objects_as_is_asked_for(url: str, include: str) -> None:
    request(url + PODS, "POST", pod_json())
    accept = {"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"}
    kinds = {"": "PartialObjectMetadata", "Metadata": "PartialObjectMetadata", "Object": "Pod"}
    for path in (PODS, PODS + "/web"):
        answer = request(f"{url}{path}?includeObject={include}", headers=accept)[1]
        assert (answer["kind"], answer["apiVersion"]) == ("Table", "meta.k8s.io/v1")
        assert answer["metadata"]["resourceVersion"]
        (row,) = answer["rows"]
        assert row["cells"][0] == "web"
        if include == "None":
            assert row["object"] is None
        else:
            assert row["object"]["kind"] == kinds[include]
            assert ("spec" in row["object"]) == (include == "Object")


def test_only_the_first_table_of_a_watch_has_column_definitions(url: str) -> None:
    create(url, "a", "b")
    asked = urllib.request.Request(
        f"{url}{CONFIG_MAPS}?watch=1&timeoutSeconds=1",
        headers={"Accept": "application/json;as=Table;v=v1;g=meta.k8s.io"},
    )
    with urllib.request.urlopen(asked, timeout=PATIENCE) as response:
        first, second = (json.loads(line)["object"] for line in response)
    assert first["columnDefinitions"][0]["name"] == "Name"
    assert second["columnDefinitions"] is None


def test_metadata_alone_may_be_asked_for(url: str) -> None:
    create(url, "a", app="web")
    alone = {"Accept": "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}
    _, answer = listed(url, alone)
    assert answer["kind"] == "PartialObjectMetadataList"
    (item,) = answer["items"]
    assert (item["kind"], item["metadata"]["labels"]) == ("PartialObjectMetadata", {"app": "web"})
    status, answer = request(f"{url}{CONFIG_MAPS}/a", headers=alone)
    assert (status, answer["reason"]) == (406, "NotAcceptable")
    status, answer = listed(url, {"Accept": "text/html"})
    assert (status, answer["details"]) == (406, {})


def test_every_response_has_its_type(url: str, core: client.CoreV1Api) -> None:
    """The items of a list have their type only if they are custom resources, as upstream."""
    pod_in = {"apiVersion": "v1", "kind": "Pod"}
    assert request(url + PODS, "POST", pod_json())[1].items() >= pod_in.items()
    for resource in BUILT_IN:
        prefix = f"/apis/{resource.group}" if resource.group else "/api"
        _, answer = request(f"{url}{prefix}/{resource.version}/{resource.plural}")
        assert (answer["kind"], answer["apiVersion"]) == (f"{resource.kind}List", resource.api_version)
        assert not any("kind" in item for item in answer["items"])
    assert core.list_namespaced_pod("default").items[0].metadata.name == "web"


def test_the_response_to_an_immediate_deletion_has_the_last_state(url: str) -> None:
    def pod(name: str, **spec: Any) -> str:
        manifest = json.loads(pod_json(**spec))
        manifest["metadata"] |= {"name": name, "finalizers": ["a.io/b"]} if name == "kept" else {"name": name}
        return request(url + PODS, "POST", json.dumps(manifest))[1]["metadata"]["resourceVersion"]

    versions = {
        name: pod(name, **spec)
        for name, spec in (("pending", {}), ("forced", {"nodeName": "n"}), ("kept", {}))
    }
    merge = {"Content-Type": "application/merge-patch+json"}
    versions["finished"] = pod("finished", nodeName="n")
    request(f"{url}{PODS}/finished/status", "PATCH", '{"status": {"phase": "Succeeded"}}', merge)
    for name in ("pending", "forced", "finished"):
        query = "?gracePeriodSeconds=0" if name == "forced" else ""
        status, answer = request(f"{url}{PODS}/{name}{query}", "DELETE")
        assert (status, answer["kind"], answer["apiVersion"]) == (200, "Pod", "v1")
        assert answer["metadata"]["name"] == name
        assert (
            answer["metadata"]["deletionGracePeriodSeconds"],
            "deletionTimestamp" in answer["metadata"],
        ) == (0, True)
        assert int(answer["metadata"]["resourceVersion"]) > int(versions[name])
        status, answer = request(f"{url}{PODS}/{name}")
        assert (status, answer["details"]) == (404, {"name": name, "kind": "pods"})
    marked = request(f"{url}{PODS}/kept", "DELETE")[1]
    status, answer = request(f"{url}{PODS}/kept", "PATCH", '{"metadata": {"finalizers": null}}', merge)
    assert (status, answer["kind"], answer["metadata"]["name"]) == (200, "Pod", "kept")
    assert "finalizers" not in answer["metadata"]
    assert answer["metadata"]["resourceVersion"] == marked["metadata"]["resourceVersion"]
    assert request(f"{url}{PODS}/kept")[0] == 404


def test_the_response_to_a_deletion_of_other_kinds_is_a_status_with_the_name(url: str) -> None:
    uids = {}
    for plural, body in (
        ("configmaps", {}),
        ("secrets", {}),
    ):
        path = f"{url}/api/v1/namespaces/default/{plural}"
        uids[plural] = request(path, "POST", json.dumps({"metadata": {"name": "c"}, **body}))[1]["metadata"][
            "uid"
        ]
        for dry_run in ("?dryRun=All", ""):
            _, answer = request(f"{path}/c{dry_run}", "DELETE")
            assert (answer["kind"], answer["status"]) == ("Status", "Success")
            assert answer["details"] == {"name": "c", "kind": plural, "uid": uids[plural]}


def test_a_collection_that_is_deleted_is_shown_as_it_was(url: str) -> None:
    create(url, "a", "b")
    status, answer = request(url + CONFIG_MAPS, "DELETE")
    assert (status, answer["kind"], names(answer)) == (200, "ConfigMapList", ["a", "b"])
    assert answer["metadata"]["resourceVersion"]
    assert request(url + "/api/v1/namespaces", "DELETE")[0] == 405


def test_a_404_always_has_details(url: str) -> None:
    """kubectl debug reads them of a subresource that is not served."""
    request(url + PODS, "POST", pod_json())
    for path in ("/metrics", "/logs"):
        status, answer = request(f"{url}{PODS}/web{path}")
        assert (status, answer["details"]) == (404, {})
    assert request(f"{url}{PODS}/gone")[1]["details"] == {"name": "gone", "kind": "pods"}
    path = "/apis/scheduling.k8s.io/v1/priorityclasses/gone"
    assert request(url + path)[1]["details"] == {
        "name": "gone",
        "group": "scheduling.k8s.io",
        "kind": "priorityclasses",
    }

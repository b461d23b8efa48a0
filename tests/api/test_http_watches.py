"""How watches begin and end, at the level of HTTP."""

import http.client
import json
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from schedviz.loop.doorbell import group
from schedviz.store import Store
from tests.api.asking import PODS, pod_json, request
from tests.waiting import PATIENCE, eventually


def test_a_watch_ends_at_its_time_with_a_bookmark(url: str) -> None:
    version = request(url + PODS)[1]["metadata"]["resourceVersion"]
    query = f"?watch=1&resourceVersion={version}&allowWatchBookmarks=true&timeoutSeconds=1"
    with urllib.request.urlopen(url + PODS + query, timeout=PATIENCE) as response:
        lines = [json.loads(line) for line in response]
    assert [line["type"] for line in lines] == ["BOOKMARK"]
    assert lines[0]["object"]["metadata"]["resourceVersion"] == version


def test_watches_that_end_at_the_same_time_end_all(url: str) -> None:
    version = request(url + PODS)[1]["metadata"]["resourceVersion"]
    query = f"?watch=1&resourceVersion={version}&allowWatchBookmarks=true&timeoutSeconds=1"

    def watch(_: int) -> int:
        with urllib.request.urlopen(url + PODS + query, timeout=PATIENCE) as response:
            return len(response.readlines())

    with ThreadPoolExecutor(20) as pool:
        assert [*pool.map(watch, range(40))] == [1] * 40


def test_an_initial_list_in_a_watch_ends_with_a_marked_bookmark(url: str) -> None:
    request(url + PODS, "POST", pod_json())
    query = "?watch=1&allowWatchBookmarks=true&timeoutSeconds=1&timeout=soon"
    with urllib.request.urlopen(url + PODS + query, timeout=PATIENCE) as response:
        lines = [json.loads(line) for line in response]
    assert [line["type"] for line in lines] == ["ADDED", "BOOKMARK", "BOOKMARK"]
    assert lines[1]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


def test_a_watch_whose_client_disconnects_is_closed(store: Store, url: str) -> None:
    request(url + PODS, "POST", pod_json())
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
    connection.request("GET", parts.path + PODS + "?watch=1")
    assert json.loads(connection.getresponse().readline())["type"] == "ADDED"
    eventually(lambda: _followers(store, url) == 1, "the server follows the sandbox")
    connection.close()
    eventually(lambda: _followers(store, url) == 0, "the watch has ended")


def _followers(store: Store, url: str) -> int:
    """The subscribers to changes of the sandbox."""
    name = urlsplit(url).path.split("/")[2]
    ((_, count),) = store.redis.pubsub_numsub(f"schedviz:layer__group__{group(name)}")
    return int(count)

"""The scheduler's events, from a real worker to the page and to kubectl."""

import json
import urllib.parse
import urllib.request
from html import unescape

from schedviz.api import write
from schedviz.loop import wake
from schedviz.store import Sandbox
from simulator.api import Manifest
from tests.waiting import PATIENCE, eventually


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
        body: bytes = answer.read()
    return body


def test_a_pods_panel_and_kubectl_show_the_schedulers_events(stack: str, sandbox: Sandbox) -> None:
    spec = {"containers": [{"name": "main", "image": "app:1"}]}
    write.create(sandbox, [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web"}, "spec": spec}])
    wake(sandbox.name)
    eventually(lambda: sandbox.count("events") == 1, "the scheduler says why the pod waits")
    amounts = {"cpu": "4", "memory": "16Gi", "pods": "110"}
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}}
    write.create(sandbox, [{**node, "status": {"allocatable": amounts}}])
    wake(sandbox.name)
    eventually(
        lambda: any(e["reason"] == "Scheduled" for e in sandbox.list("events").items),
        "the scheduler says where the pod is",
    )

    pod = sandbox.get("pods", "default/web")
    assert pod
    selector = {"involvedObject.name": "web", "involvedObject.uid": pod["metadata"]["uid"]}
    query = urllib.parse.urlencode({"fieldSelector": ",".join(f"{k}={v}" for k, v in selector.items())})
    listed = json.loads(get(f"{stack}/s/{sandbox.name}/api/v1/namespaces/default/events?{query}"))
    events: list[Manifest] = sorted(listed["items"], key=lambda event: event["eventTime"])
    said = [(event["type"], event["reason"]) for event in events]
    # If the new node is not ready at the next attempt, there is an event for that first.
    assert (said[0], said[-1]) == (("Warning", "FailedScheduling"), ("Normal", "Scheduled"))
    page = unescape(get(f"{stack}/s/{sandbox.name}/pods/default/web/").decode())
    failed, scheduled = (page.index(events[at]["message"]) for at in (0, -1))
    assert failed < scheduled, "the newest last, as kubectl has them"
    assert "Successfully assigned default/web to node-1" in page

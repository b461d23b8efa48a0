"""Extenders: real HTTP requests to a real server, which records the requests. Each test sets its
responses."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from simulator import trace
from simulator.api import Manifest
from simulator.cluster.cluster import Cluster
from simulator.config import ConfigError
from simulator.framework.cycle_state import CycleState
from simulator.framework.extender import ExtenderError
from simulator.framework.interface import BindPlugin
from simulator.framework.status import Status, error
from simulator.objects.node import Node
from simulator.objects.pod import Pod
from simulator.plugins.registry import in_tree, load, profiles
from simulator.scheduler.attempt import Attempt
from simulator.scheduler.attempt_record import preemption
from simulator.scheduler.extender_calls import bind
from simulator.scheduler.extender_http import HttpTransport
from simulator.simulation import Options
from tests.simulator.lab import Lab
from tests.simulator.lab import node as a_lab_node
from tests.simulator.lab import pod as a_lab_pod

Answer = Callable[[Manifest], Any]


class Server(ThreadingHTTPServer):
    """``answers`` by verb get the decoded request; a verb without one is answered with 404."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: dict[str, Answer] = {}
        self.asked: list[tuple[str, Manifest]] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """The scheduler has closed the connection after its timeout."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/scheduler"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        verb = self.path.removeprefix("/scheduler/")
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((verb, request))
        answer = self.server.answers.get(verb)
        if answer is None:
            self.send_response(404)
            self.end_headers()
            return
        body = json.dumps(answer(request)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def node(name: str) -> Manifest:
    allocatable = {"cpu": "1", "memory": "8Gi", "pods": "110"}
    return {"metadata": {"name": name}, "spec": {}, "status": {"allocatable": allocatable}}


def pod(name: str, cpu: str = "100m", *, on: str = "", priority: int = 0, **requests: str) -> Pod:
    resources = {"requests": {"cpu": cpu} | {k.replace("_", "/"): v for k, v in requests.items()}}
    spec: Manifest = {"priority": priority, "containers": [{"name": "c", "resources": resources}]}
    if on:
        spec["nodeName"] = on
    return Pod.parse({"metadata": {"name": name, "namespace": "default", "uid": f"uid-{name}"}, "spec": spec})


def attempt(pending: Pod, *extenders: Manifest, nodes: str = "abc", pods: tuple[Pod, ...] = ()) -> Attempt:
    configuration = load({"extenders": list(extenders)})
    framework = profiles(configuration, transport=HttpTransport(["127.0.0.1"]))["default-scheduler"]
    cluster = Cluster()
    for name in nodes:
        cluster.add_node(Node.parse(node(name)))
    for placed in pods:
        cluster.add_pod(placed)
    search = Attempt(framework, cluster, pending, {})
    search.complete()
    return search


def chosen(search: Attempt) -> str | None:
    return None if search.selected is None else search.cluster.node(search.selected).name


def test_an_extender_filters_whole_nodes_and_says_why(server: Server) -> None:
    def answer(request: Manifest) -> Manifest:
        items = request["Nodes"]["items"]
        assert [item["metadata"]["name"] for item in items] == ["a", "b", "c"]
        assert request["Pod"]["metadata"]["name"] == "p"
        return {
            "Nodes": {"items": [item for item in items if item["metadata"]["name"] == "c"]},
            "FailedNodes": {"a": "too far"},
            "FailedAndUnresolvableNodes": {"b": "never"},
        }

    server.answers["filter"] = answer
    search = attempt(pod("p"), {"urlPrefix": server.url, "filterVerb": "filter"})
    assert chosen(search) == "c"
    assert search.diagnosis.unschedulable_plugins == {"extender"}
    a, b = search.diagnosis.status_of("a"), search.diagnosis.status_of("b")
    assert (a and a.code, b and b.code) == ("Unschedulable", "UnschedulableAndUnresolvable")


def test_if_no_node_remains_the_message_counts_the_extenders_reasons(server: Server) -> None:
    server.answers["filter"] = lambda request: {
        "nodenames": [],
        "failedNodes": dict.fromkeys(request["NodeNames"], "no"),
    }
    search = attempt(pod("p"), {"urlPrefix": server.url, "filterVerb": "filter", "nodeCacheCapable": True})
    assert search.message == "0/3 nodes are available: 3 no."


def test_each_extender_is_asked_about_what_the_others_left_the_ignorable_ones_last(server: Server) -> None:
    def dropping(name: str) -> Answer:
        return lambda request: {"NodeNames": [n for n in request["NodeNames"] if n != name]}

    server.answers |= {"first": dropping("a"), "last": dropping("b")}
    cached = {"urlPrefix": server.url, "nodeCacheCapable": True}
    search = attempt(
        pod("p"),
        {**cached, "filterVerb": "last", "ignorable": True},
        {**cached, "filterVerb": "broken", "ignorable": True},
        {**cached, "filterVerb": "first"},
    )
    assert chosen(search) == "c"
    assert [(verb, request["NodeNames"]) for verb, request in server.asked] == [
        ("first", ["a", "b", "c"]),
        ("last", ["b", "c"]),
        ("broken", ["c"]),
    ]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (None, "failed filter with extender at URL {url}/filter, code 404"),
        ({"Error": "out of order"}, "out of order"),
        ({"NodeNames": ["z"]}, 'extender "{url}" claims a filtered node "z" which is not found'),
        ({"NodeNames": 7}, "extender at URL {url}/filter: Expected"),
    ],
)
def test_a_fault_ends_the_attempt_unless_the_extender_is_ignorable(
    server: Server, answer: Any, error: str
) -> None:
    if answer is not None:
        server.answers["filter"] = lambda _: answer
    extender = {"urlPrefix": server.url, "filterVerb": "filter", "nodeCacheCapable": True}
    [message] = attempt(pod("p"), extender).errors
    assert message.startswith(error.format(url=server.url))
    ignored = attempt(pod("p"), {**extender, "ignorable": True})
    assert ignored.errors == []
    assert chosen(ignored) == chosen(attempt(pod("p")))


def test_scores_are_weighted_scaled_and_added_to_those_of_plugins(server: Server) -> None:
    server.answers["prioritize"] = lambda _: [{"Host": "b", "Score": 7}, {"host": "zz", "score": 10}]
    extender = {"urlPrefix": server.url, "prioritizeVerb": "prioritize", "weight": 3}
    search = attempt(pod("p"), extender)
    assert chosen(search) == "b"
    [column] = [column for column in search.scores if column.plugin == server.url]
    assert sorted(column.weighted().tolist()) == [0, 0, 7 * 3 * 10]
    del server.answers["prioritize"]
    assert not attempt(pod("p"), extender).errors, "the extender gives no scores, and nothing else changes"


def test_an_extender_gets_only_pods_that_request_its_managed_resources_which_the_scheduler_may_ignore(
    server: Server,
) -> None:
    server.answers["filter"] = lambda request: {"NodeNames": request["NodeNames"][:1]}
    extender = {
        "urlPrefix": server.url,
        "filterVerb": "filter",
        "nodeCacheCapable": True,
        "managedResources": [{"name": "example.com/gpu", "ignoredByScheduler": True}],
    }
    assert len(attempt(pod("p"), extender).feasible) == 3
    assert len(attempt(pod("q", **{"example.com_gpu": "1"}), extender).feasible) == 1, (
        "though no node has any"
    )


def test_an_extender_may_remove_candidates_and_choose_other_victims(server: Server) -> None:
    def answer(request: Manifest) -> Manifest:
        uids = {name: [p["UID"] for p in v["Pods"]] for name, v in request["NodeNameToMetaVictims"].items()}
        assert uids == {"a": ["uid-x"], "b": ["uid-y"]}
        return {"NodeNameToMetaVictims": {"b": {"Pods": [{"UID": "uid-z"}], "NumPDBViolations": 1}}}

    server.answers["preempt"] = answer
    search = attempt(
        pod("p", "600m", priority=10),
        {"urlPrefix": server.url, "preemptVerb": "preempt", "nodeCacheCapable": True},
        nodes="ab",
        pods=(pod("x", "600m", on="a"), pod("y", "600m", on="b"), pod("z", "100m", on="b", priority=1)),
    )
    assert search.nominated_node == "b"
    found = preemption(search)
    assert found is not None
    [candidate] = found.candidates
    assert ([v.pod for v in candidate.victims], candidate.pdb_violations) == (["default/z"], 1)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({}, "preemption: no candidate node for preemption"),
        (
            {"NodeNameToMetaVictims": {"a": {"Pods": []}}},
            'preemption: expected at least one victim pod on node "a"',
        ),
        (
            {"NodeNameToMetaVictims": {"a": {"Pods": [{"UID": "?"}]}}},
            "preemption: extender: {url} claims to preempt pod (UID: ?) on node: a, but the pod is not found",
        ),
    ],
)
def test_preemption_fails_with_an_invalid_response_of_the_extender(
    server: Server, answer: Manifest, message: str
) -> None:
    server.answers["preempt"] = lambda _: answer
    search = attempt(
        pod("p", "600m", priority=10),
        {"urlPrefix": server.url, "preemptVerb": "preempt"},
        nodes="a",
        pods=(pod("x", "600m", on="a"),),
    )
    assert search.nominated_node is None
    assert search.post_filter is not None
    assert message.format(url=server.url) in search.post_filter.message


def test_an_extender_that_binds_gets_the_node(server: Server) -> None:
    server.answers["bind"] = lambda request: {"Error": "no" if request["Node"] == "b" else ""}
    search = attempt(pod("p"), {"urlPrefix": server.url, "bindVerb": "bind"})
    extenders = search.framework.extenders
    assert bind(extenders, pod("p"), "a")
    assert server.asked == [
        ("bind", {"PodName": "p", "PodNamespace": "default", "PodUID": "uid-p", "Node": "a"})
    ]
    with pytest.raises(ExtenderError, match="no"):
        bind(extenders, pod("p"), "b")
    assert not bind([], pod("p"), "a")


def test_in_a_running_cluster_extenders_bind_pods_and_rejected_pods_are_tried_again(server: Server) -> None:
    server.answers |= {"filter": lambda _: {"NodeNames": []}, "bind": lambda _: {"Error": "not yet"}}
    extender = {"urlPrefix": server.url, "filterVerb": "filter", "bindVerb": "bind", "nodeCacheCapable": True}
    lab = Lab(Options(config={"extenders": [extender]}), transport=HttpTransport(["127.0.0.1"]))
    lab.create(a_lab_node("n1"), a_lab_pod("p"))
    lab.run(20)
    assert lab.lane("p") == "unschedulable"
    server.answers["filter"] = lambda request: {"NodeNames": request["NodeNames"]}
    lab.create(a_lab_node("n2"))
    lab.run(1)
    assert "not yet" in lab.of(trace.BindFailed)[-1].message
    server.answers["bind"] = lambda _: {}
    lab.run(60)
    assert lab.node_of("p") == server.asked[-1][1]["Node"]


def test_no_bind_plugin_runs_for_a_pod_that_an_extender_binds(server: Server) -> None:
    class Refusing(BindPlugin):
        name = "Refusing"

        def bind(self, state: CycleState, pod: Pod, node_name: str) -> Status | None:
            return error("called though an extender bound the pod")

    server.answers["bind"] = lambda _: {}
    config = {
        "extenders": [{"urlPrefix": server.url, "bindVerb": "bind"}],
        "profiles": [{"plugins": {"bind": {"enabled": [{"name": "Refusing"}], "disabled": [{"name": "*"}]}}}],
    }
    plugins = {**in_tree(), "Refusing": Refusing}
    lab = Lab(Options(config=config), plugins=plugins, transport=HttpTransport(["127.0.0.1"]))
    lab.create(a_lab_node("n1"), a_lab_pod("p"))
    lab.run(5)
    assert lab.node_of("p") == "n1"
    assert lab.of(trace.BindFailed) == []


def test_extenders_are_called_only_on_allowed_hosts(server: Server) -> None:
    configuration = load({"extenders": [{"urlPrefix": server.url}]})
    for transport in (None, HttpTransport([]), HttpTransport(["127.0.0.1:1", "localhost"])):
        with pytest.raises(ConfigError, match="is not on a host that may be called"):
            profiles(configuration, transport=transport)
    with pytest.raises(ExtenderError, match="is not on a host that may be called"):
        HttpTransport([]).post(server.url, b"{}", 1)
    local = HttpTransport(["localhost"])
    assert local.allows("http://LOCALHOST:1/x")
    for url in (
        "http://localhost@evil/",
        "http://localhost.evil/",
        "file://localhost/",
        "http://localhost:x/",
    ):
        assert not local.allows(url)
    assert server.asked == []
    assert profiles(configuration, transport=HttpTransport([f"127.0.0.1:{server.server_port}"]))


def test_an_extender_that_does_not_respond_times_out(server: Server) -> None:
    release = threading.Event()
    server.answers["filter"] = lambda _: release.wait(10)
    [message] = attempt(
        pod("p"), {"urlPrefix": server.url, "filterVerb": "filter", "httpTimeout": "50ms"}
    ).errors
    release.set()
    assert message == f"Post {server.url}/filter: timed out"


def test_errors_of_the_extender_configuration_name_their_paths() -> None:
    with pytest.raises(ConfigError) as caught:
        load(
            {
                "extenders": [
                    {"urlPrefix": "ftp://x", "prioritizeVerb": "p", "httpTimeout": "1h", "bindVerb": "b"},
                    {"urlPrefix": "http://x", "bindVerb": "b", "managedResources": [{"name": "cpu"}]},
                ]
            }
        )
    assert [path for path, _ in caught.value.causes] == [
        "extenders[0].urlPrefix",
        "extenders[0].weight",
        "extenders[0].httpTimeout",
        "extenders[1].managedResources[0].name",
        "extenders",
    ]

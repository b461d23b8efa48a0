"""What ``kubectl schedviz`` asks a cluster for, and what it says where it gets no answer."""

import inspect
import signal
import subprocess
import sys
from pathlib import Path

import certifi
import pytest
import yaml

from schedviz.kubectl_plugin.__main__ import NO_ANSWER
from schedviz.real_cluster.read_resources import GROUPS, NEEDED, READ
from schedviz.real_cluster.reader import ClusterReader
from simulator.dumps.imported_kinds import IMPORTED_RESOURCES
from tests.kubectl_plugin.api_server import Answer, ApiServer, refusal, write_kubeconfig
from tests.kubectl_plugin.conftest import Ask
from tests.kubectl_plugin.small_cluster import BUDGETS, EVENTS, LISTS, NODES, PODS
from tests.processes import Process
from tests.waiting import eventually

COMMANDS = (["why", "big-1"], ["pending"], ["evictions"])
GATES = "/api/v1/namespaces/kube-system/pods"
PODGROUPS = "/apis/scheduling.k8s.io/v1alpha2/podgroups"
CERTIFICATE = str(Path(certifi.where()))
EXEC = "client.authentication.k8s.io/v1"


def test_all_requests_read_and_none_is_about_secrets(ask: Ask, api_server: ApiServer) -> None:
    for command in COMMANDS:
        assert ask(*command, server=api_server).status != NO_ANSWER
    allowed = {*LISTS, "/version", GATES, "/api/v1/namespaces/shop/pods/big-1", PODGROUPS}
    assert {method for method, _, _ in api_server.asked} == {"GET"}
    assert {path for _, path, _ in api_server.asked} == allowed
    assert not [path for path in allowed if "secret" in path or "configmap" in path]
    assert not any("watch" in query for _, _, query in api_server.asked)


def test_all_that_an_import_reads_for_the_scheduler_is_read() -> None:
    """The others are those that only controllers and the admission of new pods read."""
    read = {resource.id for resource in (*READ, *GROUPS, *NEEDED)}
    assert {*IMPORTED_RESOURCES} - read == {
        *("limitranges", "resourcequotas", "runtimeclasses.node.k8s.io", "timetables.schedviz"),
        *("deployments.apps", "daemonsets.apps", "controllerrevisions.apps", "jobs.batch", "cronjobs.batch"),
        "workloads.scheduling.k8s.io",
    }
    assert read <= {*IMPORTED_RESOURCES}


def test_the_client_can_only_read() -> None:
    methods = {name for name, _ in inspect.getmembers(ClusterReader, inspect.isfunction)}
    assert {name for name in methods if not name.startswith("_")} == {"get", "watch", "interrupt", "another"}
    source = inspect.getsource(ClusterReader)
    assert source.count("_pool.request(") == 1
    assert source.count('"GET"') == 1


def test_lists_are_read_in_pages_and_begun_anew_where_they_expire(ask: Ask, api_server: ApiServer) -> None:
    api_server.page = 2
    expired = refusal(410, "The provided continue parameter is too old")
    api_server.answers[PODS] = [None, expired]
    status, out, _ = ask("pending", server=api_server)
    assert (status, "2 pods of 1 owner" in out) == (1, True)
    tokens = [query.get("continue") for _, path, query in api_server.asked if path == PODS]
    assert tokens == [None, "2", None, "2", "4"]
    selectors = {query["fieldSelector"] for _, path, query in api_server.asked if path == PODS}
    assert selectors == {"status.phase!=Succeeded,status.phase!=Failed"}
    api_server.answers[PODS] = expired
    assert "expired 3 times before its end" in ask("pending", server=api_server).err


def test_what_is_forbidden_or_not_served_is_said_and_the_rest_is_read(
    ask: Ask, api_server: ApiServer
) -> None:
    api_server.answers[BUDGETS] = refusal(403, 'poddisruptionbudgets.policy is forbidden: User "jane" cannot')
    del api_server.lists["/apis/resource.k8s.io/v1/resourceslices"]
    status, out, _ = ask("why", "big-1", server=api_server)
    assert status == 1
    assert "Not read: poddisruptionbudgets (forbidden): which pods are protected from preemption." in out
    assert "Not read: resourceslices (not served as resource.k8s.io/v1): which devices the nodes have." in out


@pytest.mark.parametrize(
    ("command", "path", "answer", "said"),
    [
        ("pending", PODS, refusal(403, 'User "jane" cannot'), 'list pods: User "jane" cannot'),
        ("pending", NODES, refusal(403, "no"), "no permission to list nodes: no"),
        ("evictions", EVENTS, refusal(403, "no"), "no permission to list events: no"),
        ("pending", "/version", refusal(401, "no"), 'not accept the credentials of the context "prod"'),
        ("pending", "/version", Answer(200, b"<html>hello"), "not that of a Kubernetes API server"),
        ("pending", "/version", Answer(302, b"", Location="http://127.0.0.1:1/"), "/version: HTTP 302"),
        ("pending", PODS, refusal(500, "etcdserver: request timed out"), "etcdserver: request timed out"),
        ("pending", NODES, Answer(200, b"<html>"), "/api/v1/nodes: not a list of Kubernetes"),
        ("evictions", EVENTS, Answer(200, b'{"items": 3}'), "not a list of Kubernetes"),
    ],
)  # fmt: skip
def test_without_an_answer_there_is_one_line(
    ask: Ask, api_server: ApiServer, *, command: str, path: str, answer: Answer, said: str
) -> None:
    api_server.answers[path] = answer
    status, out, err = ask(command, server=api_server)
    assert (status, out, err.count("\n")) == (NO_ANSWER, "", 1)
    assert err.startswith(f"{command}: ")
    assert said in err


def test_a_server_that_has_too_much_to_do_is_asked_again(ask: Ask, api_server: ApiServer) -> None:
    busy = Answer(429, {"message": "too many requests"}, **{"Retry-After": "0"})
    api_server.answers[PODS] = [busy, busy]
    assert ask("pending", server=api_server).status == 1


def test_a_pod_that_does_not_exist(ask: Ask, api_server: ApiServer) -> None:
    assert ask("why", "nobody", server=api_server)[1:] == (
        "",
        "why: no pod shop/nobody in the cluster of prod\n",
    )


def test_a_server_that_hangs_is_given_up(ask: Ask, api_server: ApiServer) -> None:
    api_server.hanging = NODES
    err = ask("pending", "--request-timeout", "200ms", server=api_server).err
    assert err == f"pending: {api_server.address}: no answer within 0.2 s\n"


def test_ctrl_c_ends_it_while_a_server_hangs(api_server: ApiServer, tmp_path: Path) -> None:
    api_server.page = 2
    api_server.hanging = f"{PODS} 2"
    config = write_kubeconfig(tmp_path / "kubeconfig", api_server.address)
    options = ["--kubeconfig", str(config), "--request-timeout", "1h"]
    program = Process(["-m", "schedviz.kubectl_plugin", "pending", *options], tmp_path / "log")
    eventually(lambda: api_server.asked and api_server.asked[-1][2].get("continue") == "2", "it waits")
    program.send(signal.SIGINT)
    assert (program.wait(), program.output) == (128 + signal.SIGINT, "")


def test_a_server_that_is_not_there_or_does_not_speak_tls(
    ask: Ask, api_server: ApiServer, tmp_path: Path
) -> None:
    def said(address: str, **cluster: str) -> str:
        file = write_kubeconfig(tmp_path / "k", address)
        config = yaml.safe_load(file.read_text())
        config["clusters"][0]["cluster"] |= cluster
        file.write_text(yaml.safe_dump(config))
        return ask("pending", "--kubeconfig", str(file)).err

    assert said("http://127.0.0.1:1") == "pending: http://127.0.0.1:1: no connection: Connection refused\n"
    by_proxy = said("https://10.0.0.1", **{"proxy-url": "http://127.0.0.1:1"})
    assert by_proxy == "pending: https://10.0.0.1: no connection by the proxy: Connection refused\n"
    tls = said(api_server.address.replace("http:", "https:"))
    assert tls.startswith("pending: https://127.0.0.1:")
    assert "what answers does not speak TLS" in tls
    assert tls.count("\n") == 1


def test_without_verification_of_certificates_no_thread_prints_a_warning() -> None:
    """Watches read in threads of their own."""
    program = (
        "import warnings, schedviz.real_cluster.reader\n"
        "from urllib3.exceptions import InsecureRequestWarning\n"
        "warnings.warn('the certificate is not verified', InsecureRequestWarning)\n"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stderr == ""

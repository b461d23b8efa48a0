"""What a mirror reads of its cluster: only what it names and may list. It goes on without the rest."""

import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from schedviz.mirror.session import Cluster
from schedviz.real_cluster.errors import ClusterError
from schedviz.real_cluster.read_resources import FOLLOWED, list_path
from schedviz.store import Store
from simulator.api import Manifest
from simulator.trace import BindingJudged
from tests.access.conftest import new_client
from tests.chart import manifests
from tests.loop.conftest import node, pod
from tests.loop.world import World
from tests.mirror.conftest import TOKEN, Mirror, Start, stored
from tests.mirror.proxy import Proxy
from tests.waiting import eventually

PASSWORD = "hunter2-in-the-cluster"


@pytest.mark.long
def test_the_cluster_role_of_the_chart_is_enough(world: World, start: Start, proxy: Proxy) -> None:
    """The proxy answers 403 to all that the role does not allow."""
    [role] = [each for each in manifests({"mirror": {"enabled": True}}) if each["kind"] == "ClusterRole"]
    allowed = {
        f"{group}/{plural}"
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for plural in rule["resources"]
    }

    def allows(method: str, path: str) -> bool:
        parts = path.strip("/").split("/")
        group = parts[1] if parts[0] == "apis" else ""
        return method == "GET" and (path == "/version" or f"{group}/{parts[-1]}" in allowed)

    proxy.allows = allows
    world.create(node("n0"), pod("a"))
    world.slice()
    mirror = start()
    assert stored(mirror.sandbox) == stored(world.sandbox)
    eventually(lambda: proxy.watches() >= len(mirror.session.follower.resources), "it watches")
    assert mirror.session.follower.unknown == []
    assert mirror.session.follower.trouble == ""


def test_all_its_requests_read_and_none_is_about_secrets(
    world: World, start: Start, proxy: Proxy, store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    secret = pod("a")
    secret["spec"]["containers"][0]["env"] = [{"name": "PASSWORD", "value": PASSWORD}]
    world.create(node("n0"), secret)
    world.slice()
    mirror = start()
    world.create({**secret, "metadata": {"name": "b", "namespace": "default"}})
    world.slice()
    eventually(lambda: mirror.sandbox.get("pods", "default/b"), "it follows")
    eventually(lambda: proxy.watches() >= len(mirror.session.follower.resources), "it watches")
    mirror.stop()
    assert {method for method, _, _ in proxy.asked} == {"GET"}
    assert {path for _, path, _ in proxy.asked} <= {"/version", *map(list_path, FOLLOWED)}
    assert not any("secret" in path or "configmap" in path for _, path, _ in proxy.asked)
    # Neither the credentials nor what is secret in the cluster leaves the process.
    client, whole = new_client(), store.read_whole(mirror.name)
    pages = ("", "pods/default/a/", "leader/", "download/objects/", "trace", "recording", "api/v1/pods")
    shown = [client.get(f"/s/{mirror.name}/{path}") for path in pages]
    assert all(answer.status_code == 200 for answer in shown)
    bodies = [
        b"".join(answer.streaming_content) if answer.streaming else answer.content  # type: ignore[arg-type]
        for answer in shown
    ]
    log = mirror.sandbox.events(0 if not whole.objects else mirror.sandbox.origin().version, 1000)
    left = repr((whole, log, mirror.sandbox.meta(), mirror.said, caplog.text, bodies))
    assert "registry" in left or "app" in left
    assert TOKEN not in left
    assert PASSWORD not in left


@pytest.mark.long
def test_it_goes_on_without_what_is_forbidden(world: World, start: Start, proxy: Proxy) -> None:
    proxy.allows = lambda _, path: "poddisruptionbudgets" not in path and "namespaces" not in path
    world.create(node("n0"), pod("a"))
    world.slice()
    mirror = start().sandbox.meta().mirror
    assert mirror
    assert [each.partition(" ")[0] for each in mirror.unknown] == ["namespaces", "poddisruptionbudgets"]


@pytest.mark.parametrize("all_pods", [True, pytest.param(False, marks=pytest.mark.long)])
def test_of_other_namespaces_only_the_room_that_their_pods_take_is_followed(
    *,
    world: World,
    proxy: Proxy,
    store: Store,
    cluster_at: Callable[[str], Cluster],
    sandbox_name: str,
    all_pods: bool,
) -> None:
    """Where their pods may not be listed, nothing of them is, and no decision is judged."""

    def within(namespace: str, name: str, **spec: Any) -> Manifest:
        made = pod(name, **spec)
        made["metadata"] |= {"namespace": namespace, "labels": {"app": "a"}}
        return made

    namespaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("shop", "bank")
    ]
    world.create(node("n0"), *namespaces, within("shop", "a"), within("bank", "a"))
    world.slice()
    world.create(within("shop", "large", cpu="99"), within("bank", "large", cpu="99"))
    world.slice()
    proxy.allows = lambda _, path: all_pods or "/namespaces/" in path or not path.endswith("/pods")
    cluster = cluster_at(proxy.address)._replace(namespaces=("shop",), all_pods=all_pods)
    mirror = Mirror(store, sandbox_name, cluster)
    try:
        eventually(mirror.follows, "the mirror follows")
        pods = {
            key for key in ("shop/a", "shop/large", "bank/a", "bank/large") if mirror.sandbox.get("pods", key)
        }
        assert pods == {"shop/a", "shop/large"} | ({"bank/a"} if all_pods else set())
        world.create(within("shop", "b"), within("bank", "b"))
        world.slice()
        eventually(lambda: mirror.sandbox.get("pods", "shop/b"), "it follows")
        if all_pods:
            other = eventually(lambda: mirror.sandbox.get("pods", "bank/b"), "its room is followed")
            assert "labels" not in other["metadata"]
            assert other["spec"]["nodeName"] == "n0"

            def judged() -> list[str]:
                events = [event for _, event in mirror.sandbox.trace_tail(100)]
                return [event.pod for event in events if isinstance(event, BindingJudged)]

            eventually(lambda: judged() == ["shop/b"], "the binding is judged, and no other")
        meta = mirror.sandbox.meta().mirror
        assert meta
        said = "other namespaces (not asked for)" if all_pods else "pods of other namespaces (forbidden)"
        assert [each.partition(":")[0] for each in meta.unknown] == [said]
        assert {path for _, path, _ in proxy.asked if "bank" in path} == set()
    finally:
        mirror.stop()


@pytest.mark.parametrize("plural", ["pods", pytest.param("nodes", marks=pytest.mark.long)])
def test_without_pods_or_nodes_it_ends_with_one_line(start: Start, proxy: Proxy, plural: str) -> None:
    proxy.allows = lambda _, path: not path.endswith(f"/{plural}")
    mirror = start(waits=False)
    eventually(lambda: mirror.failure, "it ends")
    assert isinstance(mirror.failure, ClusterError)
    assert str(mirror.failure) == f"no permission to list {plural}: forbidden by the proxy"
    assert not mirror._store.exists(mirror.name)


def test_the_document_names_all_that_is_read() -> None:
    text = (Path(__file__).parents[2] / "docs" / "MIRROR.md").read_text()
    table = text.partition("## What is read")[2].partition("##")[0]
    named = {word for row in table.splitlines() for word in re.findall(r"[a-z]+", row.partition(" | ")[0])}
    assert {resource.plural for resource in FOLLOWED} <= named

"""Undo outside lessons: what the last change was, that it is undone, and why one cannot be."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client

from schedviz.api import removal, write
from schedviz.cache import default_caches
from schedviz.store import Store
from schedviz.store.commit_script import LIMITS
from tests.loop.conftest import node, pod
from tests.loop.world import World
from tests.web.asking import HTMX, text

LEASE = {
    "apiVersion": "coordination.k8s.io/v1",
    "kind": "Lease",
    "metadata": {"name": "other-scheduler", "namespace": "kube-system"},
    "spec": {"holderIdentity": "other"},
}


@pytest.fixture
def world(store: Store) -> Iterator[World]:
    made = World(store)
    made.create(node("n0", cpu="2"))
    made.slice()
    yield made
    store.delete(made.sandbox.name)


def shown(client: Client, world: World) -> str:
    return text(client.get(f"/s/{world.sandbox.name}/undo/", headers=HTMX).content)


def edit_of(html: str) -> str:
    found = re.search(r'name="edit" value="([^"]+)"', html)
    return found[1] if found else ""


def undo(client: Client, world: World) -> int:
    """Undo what the dialog shows. Returns the status of the answer."""
    data = {"edit": edit_of(shown(client, world))}
    return client.post(f"/s/{world.sandbox.name}/undo/", data).status_code


def test_the_dialog_says_what_the_last_change_was_and_undoes_it(client: Client, world: World) -> None:
    base = f"/s/{world.sandbox.name}/"
    assert f'href="{base}undo/"' in text(client.get(base).content)
    world.create(pod("web"))
    world.let_time_pass(5)
    world.slice()
    assert (world.sandbox.get("pods", "default/web") or {})["spec"]["nodeName"] == "n0"
    assert len(default_caches().read(world.sandbox.name).names("pods")) == 1
    assert "Pod web was created." in shown(client, world)
    assert undo(client, world) == 302
    assert world.sandbox.names("pods") == []
    assert world.sandbox.names("nodes") == ["n0"]
    assert world.sandbox.clock().paused
    # Those who read the sandbox before see what it is now.
    assert default_caches().read(world.sandbox.name).names("pods") == []
    # The one before it, whose state the sandbox does not have any more.
    assert "Node n0 was created." in shown(client, world)
    assert undo(client, world) == 302
    assert world.sandbox.names("nodes") == []
    assert "There is nothing to undo" in shown(client, world)
    assert client.post(f"{base}undo/", {"edit": ""}).status_code == 422


def test_what_came_meanwhile_is_not_undone_instead(client: Client, world: World) -> None:
    world.create(pod("web"))
    before = shown(client, world)
    removal.delete(world.sandbox, "pods", "default/web")
    answer = client.post(f"/s/{world.sandbox.name}/undo/", {"edit": edit_of(before)})
    assert answer.status_code == 422
    assert "Meanwhile something else was changed." in text(answer.content)
    assert "Pod web was deleted." in text(answer.content)
    assert undo(client, world) == 302
    assert world.sandbox.names("pods") == ["default/web"]
    world.let_time_pass(1)
    world.slice()
    removal.delete(world.sandbox, "pods", "default/web")
    assert "Pod web was deleted." in shown(client, world), "it is terminating"
    write.patch(world.sandbox, "nodes", "n0", {"spec": {"unschedulable": True}})
    assert "Node n0 was changed." in shown(client, world)


def test_what_programs_write_all_the_time_is_undone_with_the_change_before_it(
    client: Client, world: World
) -> None:
    world.create(*(pod(f"web-{number}") for number in range(10)))
    write.create(world.sandbox, [LEASE])
    found = shown(client, world)
    assert "Lease" not in found
    assert "And 2 more objects." in found
    assert undo(client, world) == 302
    assert world.sandbox.names("pods") == world.sandbox.names("leases.coordination.k8s.io") == []


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("commit_bytes", "one commit may change 0 MB of objects as JSON"),
        ("objects", "a sandbox may hold 1 objects"),
        ("pods", "a sandbox may hold 1 pods"),
        ("bytes", "a sandbox may hold 0 MB"),
    ],
)
def test_a_cluster_that_is_too_large_says_so_and_stays(
    client: Client, world: World, monkeypatch: pytest.MonkeyPatch, limit: str, words: str
) -> None:
    """The sandbox is deleted only when what replaces it can be stored. One of more than 16 MB was lost."""
    world.create(pod("web"), pod("other"))
    world.create(pod("another"))
    data = {"edit": edit_of(shown(client, world))}
    monkeypatch.setitem(LIMITS, limit, 1)
    answer = client.post(f"/s/{world.sandbox.name}/undo/", data)
    assert answer.status_code == 422
    assert "It cannot be undone." in text(answer.content)
    assert f"its state is too large to be restored: {words}" in text(answer.content)
    assert len(world.sandbox.names("pods")) == 3

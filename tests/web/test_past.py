"""Past moments by HTTP, without scripts: the page, its panels, the acts that are refused, and branches."""

import re
from collections.abc import Iterator
from html import unescape

import pytest
from django.test import Client

from schedviz.api.branch import branch_of_now
from schedviz.api.schedulers import configure
from schedviz.store import Meta, Sandbox, Store
from schedviz.store.history import History
from schedviz.store.model import Origin
from simulator.versions.kubernetes_version import V1_36
from simulator.what_if.edit import create_object
from tests.loop.conftest import node, pod
from tests.loop.world import World

GATES = {"StorageCapacityScoring": True}
HTMX = {"HX-Request": "true"}


@pytest.fixture
def client() -> Iterator[Client]:
    return Client(headers={"host": "localhost"})


@pytest.fixture
def world(store: Store) -> Iterator[World]:
    """A small node: "web" is bound to it, then "big" is unschedulable, and at last "web" is deleted."""
    world = World(store)
    notes = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "notes"}}
    world.create(node("n0", cpu="2"), notes)
    for step in (pod("web", cpu="1"), pod("big", cpu="8")):
        world.create(step)
        world.let_time_pass(5)
        world.slice()
    world.delete("pods", "default/web")
    for _ in range(3):
        world.let_time_pass(40)
        world.slice()
    yield world
    store.delete(world.sandbox.name)


def seq_of(world: World, kind: str) -> int:
    return next(seq for seq, event in world.sandbox.trace(0) if type(event).__name__ == kind)


def text(html: bytes) -> str:
    return unescape(html.decode())


def drawn(html: str) -> list[str]:
    """The addresses of the pods on nodes and in lanes."""
    return re.findall(r'data-uid="[^"]+"(?: ?> ?<a data-panel)? href="([^"]+)"', html)


def test_the_page_of_a_past_moment_shows_its_objects_and_no_controls_that_change(
    client: Client, world: World
) -> None:
    base = f"/s/{world.sandbox.name}/"
    failed = seq_of(world, "Unschedulable")
    assert drawn(text(client.get(base).content)) == [f"{base}pods/default/big/"]
    at = f"{base}at/{failed}/"
    page = text(client.get(at).content)
    assert sorted(drawn(page)) == [f"{at}pods/default/big/", f"{at}pods/default/web/"]
    assert (
        'id="past" class="moment-bar" hx-swap-oob="true" role="group" aria-label="Past moment" '
        f'data-seq="{failed}"' in page
    )
    assert client.get(f"{base}at/", {"seq": failed}).headers["Location"] == at
    # The parts that change show the events until then, and the clock shows that time.
    assert 'data-paused="1"' in page
    before = f"{base}at/{seq_of(world, 'Bound') - 1}/"
    assert drawn(text(client.get(before).content)) == [f"{before}pods/default/web/"]
    parts = client.get(at, headers=HTMX).content.decode()
    assert "<html" not in parts
    assert 'id="past"' in parts
    assert len(re.findall(r'hx-swap-oob="true"', parts)) > 10

    for path, said in (
        ("pods/default/web/", "on"),
        ("nodes/n0/", "web"),
        ("cycles/2/", "n0"),
        ("objects/configmaps/default/notes/", "YAML"),
    ):
        panel = text(client.get(at + path, headers=HTMX).content)
        assert said in panel
        assert "<form" not in panel
        assert f'href="{base}pods' not in panel, "links of a moment lead to the same moment"
        whole = text(client.get(at + path).content)
        assert 'id="past"' in whole
        assert said in whole
    missing = client.get(f"{at}cycles/99/", headers=HTMX, follow=True)
    assert "Cycle 99 is no longer stored, or has not happened yet." in text(missing.content)
    # Moments are numbered as the trace events are: from 1.
    for number in (0, world.sandbox.trace_head() + 1):
        gone = client.get(f"{base}at/{number}/")
        assert gone.status_code == 410
        assert f'href="{base}"' in text(gone.content)
    assert client.get("/s/none-such/at/1/").status_code == 404


def test_the_pod_of_a_cycle_is_in_flight_until_its_attempt_has_failed(client: Client, world: World) -> None:
    base, failed = f"/s/{world.sandbox.name}/", seq_of(world, "Unschedulable")
    popped = next(
        seq
        for seq, event in reversed(world.sandbox.trace(0))
        if seq < failed
        and type(event).__name__ == "QueueMoved"
        and getattr(event, "target", "") == "inFlight"
    )

    def lane(seq: int) -> str:
        page = text(client.get(f"{base}at/{seq}/").content)
        return next(
            name
            for name in ("inFlight", "activeQ", "unschedulable")
            if "default/big/" in page.split(f'id="lane-{name}"')[1].split('id="lane-')[0]
        )

    # All of these events are of one commit, which stores the pod's last place only.
    assert [lane(seq) for seq in (popped - 1, popped, failed, failed + 1)] == [
        "activeQ",
        "inFlight",
        "inFlight",
        "unschedulable",
    ]
    pinned = text(client.get(f"{base}cycles/2/", follow=True).content)
    assert "default/big/" in pinned.split('id="lane-inFlight"')[1].split('id="lane-')[0]


def test_a_cycle_is_shown_at_the_moment_at_which_it_ended(client: Client, world: World) -> None:
    base = f"/s/{world.sandbox.name}/"
    bound = seq_of(world, "Bound")
    pinned = f"{base}at/{bound}/cycles/1/"
    later = f"{base}at/{seq_of(world, 'Unschedulable')}/"
    # At any address, also from a later moment.
    for path in (f"{base}cycles/1/", f"{later}cycles/1/"):
        assert client.get(path, {"play": "1"}).headers["Location"] == f"{pinned}?play=1"
    page = text(client.get(pinned).content)
    assert f'data-seq="{bound}"' in page
    assert {*drawn(page)} == {f"{base}at/{bound}/pods/default/web/"}
    assert "Unpin this cycle" in page
    assert f'data-panel href="{base}at/{bound}/cycles/1/"' in re.sub(r"\s+", " ", page)
    # For the script: the panel with all parts of that moment in one response.
    answer = client.get(f"{base}cycles/1/", {"moment": "1"}, headers=HTMX)
    assert answer.headers["X-Moment"] == str(bound)
    html = answer.content.decode()
    assert 'id="past"' in html
    assert 'id="nodes"' in html
    assert html.count('<template hx-swap-oob="innerHTML:#detail">') == 1
    assert world.sandbox.history().end_of_cycle(2) == seq_of(world, "Unschedulable")
    assert world.sandbox.history().end_of_cycle(99) is None


def test_the_panel_of_an_ended_cycle_has_the_short_node_names_of_its_moment(
    client: Client, store: Store
) -> None:
    domain = "eu-west-1.compute.internal"
    world = World(store)
    for host in ("ip-10-0-10-108", "ip-10-0-10-17"):
        world.create(node(f"{host}.{domain}"))
    world.create(pod("web"))
    world.let_time_pass(5)
    world.slice()
    world.create(node(f"ip-172-31-9-4.{domain}"))  # it has less in common with the others
    base = f"/s/{world.sandbox.name}/"
    assert re.search(r">\s*ip-10-0-10-108\s*<", text(client.get(base).content))
    pinned = client.get(f"{base}cycles/1/").headers["Location"]
    for html in (
        client.get(pinned, headers=HTMX).content,
        client.get(f"{base}cycles/1/", {"moment": "1"}, headers=HTMX).content,
        client.get(pinned).content,
    ):
        assert re.search(r">\s*10-108\s*<", text(html))
        assert not re.search(r">\s*ip-10-0-10-108\s*<", text(html))
    store.delete(world.sandbox.name)


def test_a_cycle_whose_moment_is_not_kept_is_shown_with_a_message(
    client: Client, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(History, "end_of_cycle", lambda *_: None)
    page = text(client.get(f"/s/{world.sandbox.name}/cycles/1/").content)
    assert 'class="moment-bar"' in page
    assert "The history does not include this cycle" in page


def test_a_branch_links_to_its_parent(client: Client, store: Store, world: World) -> None:
    name = world.sandbox.name
    at = f"/s/{name}/at/{seq_of(world, 'Unschedulable')}/"
    proposed = re.search(r'name="name" value="([^"]+)"', client.get(f"{at}branch/").content.decode())
    assert proposed
    assert proposed[1].startswith(f"{name}-at-")
    assert client.post(f"{at}branch/", {"name": "No Name"}).status_code == 422
    assert client.post(f"{at}branch/", {"name": name}).status_code == 422
    answer = client.post(f"{at}branch/", {"name": proposed[1]})
    assert answer.headers["Location"] == f"/s/{proposed[1]}/"
    made = store.sandbox(proposed[1])
    assert made.clock().paused
    page = text(client.get(answer.headers["Location"]).content)
    assert f'Branched from <a href="{at}">' in page
    assert "from event" in text(client.get("/").content)
    store.delete(proposed[1])


def test_a_branch_says_of_what_it_is_one_and_what_was_changed_in_it(
    client: Client, store: Store, sandbox: Sandbox
) -> None:
    """Also one of the present, and one of a sandbox of which there is no event yet."""
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}
    edit = create_object("configmaps", "default/c", manifest)
    changed = branch_of_now(store, sandbox, [edit], "make the ConfigMap c")
    page = text(client.get(f"/s/{changed.name}/").content)
    assert f'href="/s/{sandbox.name}/"' in page
    assert f"branch of {sandbox.name}" in page
    assert "What was changed in the branch: make the ConfigMap c" in page
    assert f"{sandbox.name}, what if: make the ConfigMap c" in page
    plain = branch_of_now(store, sandbox, [])
    page = text(client.get(f"/s/{plain.name}/").content)
    assert "It began with the same objects, version of Kubernetes, seed, queue and configuration." in page
    assert "What was changed" not in page


def test_a_branch_whose_parent_was_deleted_says_so_and_has_no_link(
    client: Client, store: Store, sandbox_name: str
) -> None:
    deleted = "The sandbox from which this one was branched was deleted."
    parent = store.create(Meta(f"{sandbox_name[:50]}-parent", created=1_000.0))
    branch = store.create(Meta(sandbox_name, created=2_000.0, origin=Origin(parent.name, 1, 0)))
    link = f'href="/s/{parent.name}/at/1/"'
    page = text(client.get(f"/s/{branch.name}/").content)
    assert link in page
    assert deleted not in page
    store.delete(parent.name)
    page = text(client.get(f"/s/{branch.name}/").content)
    assert link not in page
    assert page.count(deleted) == 2
    assert f"branch of {parent.name} (deleted)" in page
    # Another sandbox that now has the parent's name is not its parent.
    store.create(Meta(parent.name, created=3_000.0))
    assert link not in text(client.get(f"/s/{branch.name}/").content)
    for each in (parent, branch):
        store.delete(each.name)


def test_a_moment_has_the_feature_gates_of_its_time(client: Client, store: Store) -> None:
    world = World(store, kubernetes=V1_36.patch)
    world.create(node("n0", cpu="2"))
    world.slice()
    before = world.sandbox.trace_head()
    configure(world.sandbox, None, [], feature_gates=GATES)
    world.slice()
    path = f"/s/{world.sandbox.name}/"
    said = "<code>StorageCapacityScoring=true</code>"
    assert said in text(client.get(path).content)
    assert said not in text(client.get(f"{path}at/{before}/").content)
    assert said in text(client.get(f"{path}at/{world.sandbox.trace_head()}/").content)
    store.delete(world.sandbox.name)

"""In a mirror of a real cluster nothing acts but its mirroring process: every way in is refused, no worker
leads it, and a branch of it is an ordinary sandbox."""

from collections.abc import Iterator
from http import HTTPStatus

import pytest
from django.test import Client
from msgspec.structs import replace

from schedviz.api.new_sandbox import new_sandbox
from schedviz.loop.mirror_silence import ENDED, SILENT_SECONDS
from schedviz.routes import routes
from schedviz.store import Clock, Meta, Sandbox, Store
from schedviz.store.model import Mirrored
from simulator.api import Change, Manifest
from simulator.apiserver.new_cluster import new_cluster
from tests.access.conftest import new_client
from tests.access.expected_routes import EXPECTED
from tests.access.test_routes import path_of
from tests.loop.conftest import node, pod
from tests.loop.world import World

REAL = Mirrored(
    "prod-eu",
    "https://10.0.0.1:6443",
    "v1.36.2",
    ["services (forbidden): the constraints"],
    [],
    ["bank", "shop"],
)
OF_OWNER = ("delete-sandbox", "one-sandbox")


@pytest.fixture
def mirror(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    """A mirror whose pod has an owner that is not followed."""
    wall = store.wall()
    owned: Manifest = pod("web-1")
    owner = {"apiVersion": "example.com/v1", "kind": "App", "name": "web", "uid": "u", "controller": True}
    changes: list[Change] = new_cluster([node("n0"), owned], round(wall) * 1_000_000)
    made = next(change.object for change in changes if change.resource == "pods")
    assert made
    made["metadata"]["ownerReferences"] = [owner]
    meta = Meta(sandbox_name, created=wall, seed=1, stands_down=True, mirror=REAL)
    with new_sandbox(
        store, [sandbox_name], meta, changes, Clock(sim=round(wall) * 1_000_000, wall=wall)
    ) as it:
        yield it
    if store.exists(sandbox_name):
        store.delete(sandbox_name)


@pytest.fixture
def client() -> Client:
    return new_client()


def test_every_url_that_changes_a_sandbox_is_refused(mirror: Sandbox, store: Store, client: Client) -> None:
    before, clock = store.read_whole(mirror.name), mirror.clock()
    checked = 0
    for name, route in routes().items():
        path, expected = path_of(route, mirror.name, "ABCDEF"), EXPECTED[name]
        if not path.startswith((f"/s/{mirror.name}/", f"/api/sandboxes/{mirror.name}")) or name in OF_OWNER:
            continue
        if not (expected.changes or expected.acts):
            continue
        for act in expected.acts or ("",):
            answer = client.post(path, {"do": act} if act else {})
            assert answer.status_code == HTTPStatus.FORBIDDEN, (path, act)
            assert "branch" in answer.content.decode(), path
            checked += 1
    assert checked >= 20
    after = store.read_whole(mirror.name)
    assert after.position == before.position
    assert mirror.clock() == clock


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_the_kubernetes_api_only_reads(mirror: Sandbox, client: Client, method: str) -> None:
    path = f"/s/{mirror.name}/api/v1/namespaces/default/pods/web-1"
    answer = getattr(client, method)(path)
    assert (answer.status_code, answer.json()["reason"]) == (HTTPStatus.FORBIDDEN, "Forbidden")
    assert f"POST /api/sandboxes/{mirror.name}/branches" in answer.json()["message"]
    assert client.get(path).status_code == HTTPStatus.OK
    described = client.get(f"/api/sandboxes/{mirror.name}").json()
    assert described["mirror"]["context"] == "prod-eu"
    review = f"/s/{mirror.name}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert "mirror" not in client.post(review, {}, "application/json").content.decode()


def test_its_page_says_what_it_is_and_has_no_controls(mirror: Sandbox, client: Client) -> None:
    page = client.get(f"/s/{mirror.name}/").content.decode()
    assert "Mirror of the cluster <b>prod-eu</b> (https://10.0.0.1:6443, v1.36.2)." in page
    assert "Only the namespaces bank, shop are followed." in page
    assert "services (forbidden): the constraints." in page
    assert "view-only" in page
    assert "Try in a branch" in page
    assert f"/s/{mirror.name}/new/pod/" not in page
    assert client.get(f"/s/{mirror.name}/new/pod/").status_code == HTTPStatus.FORBIDDEN


def test_its_branch_is_an_ordinary_sandbox_whose_scheduler_acts(
    mirror: Sandbox, store: Store, client: Client
) -> None:
    answer = client.post(f"/s/{mirror.name}/branch/")
    assert answer.status_code == HTTPStatus.FOUND
    branch = store.sandbox(answer.headers["Location"].split("/")[2])
    meta = branch.meta()
    assert (meta.mirror, meta.stands_down) == (None, False)
    assert meta.origin
    assert meta.origin.sandbox == mirror.name
    world = World(store, branch)
    world.let_time_pass(1)
    world.slice()
    world.slice()
    bound = branch.get("pods", "default/web-1")
    assert bound, "the garbage collector does not delete it"
    assert "ownerReferences" not in bound["metadata"]
    assert bound["spec"]["nodeName"] == "n0"
    page = client.get(f"/s/{branch.name}/").content.decode()
    assert "Mirror of the cluster" not in page
    store.delete(branch.name)


def test_no_worker_leads_it_and_one_says_that_its_process_has_ended(mirror: Sandbox, store: Store) -> None:
    lease = mirror.take_lease("mirror-1", None)
    assert lease
    world = World(store, mirror)
    version = mirror.version()
    world.slice()
    assert mirror.lease() == lease
    assert mirror.version() == version
    assert mirror.failure() is None
    state = mirror._keys.state
    store.redis.hset(state, "renewed", f"{store.wall() - SILENT_SECONDS - 1:.6f}")
    world.slice()
    failure = mirror.failure()
    assert failure
    assert (failure.message, failure.again) == (ENDED, 0.0)
    renewed = mirror.lease()
    assert renewed
    assert replace(renewed, renewed=0) == replace(lease, renewed=0)


def test_the_page_of_one_that_is_cut_off_says_since_when(
    mirror: Sandbox, client: Client, store: Store
) -> None:
    world = World(store, mirror)
    world.slice()
    page = client.get(f"/s/{mirror.name}/").content.decode()
    assert "this mirror does not show the present state of its cluster:" in page
    assert ENDED in page

"""Who creates a sandbox owns it."""

import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from django.conf import settings
from django.core import signing
from django.test import Client, override_settings

from schedviz.access.identity import COOKIE, KEPT_SECONDS, RENEWED_SECONDS, SALT
from schedviz.access.links import make_link
from schedviz.access.record import digest_of, owned_by, read_record
from schedviz.jobs.comparison_job import COMPARISONS, ComparisonJob, ComparisonRequest, RequestedSide
from schedviz.jobs.job_store import JobStore
from schedviz.lessons.catalogue import lessons
from schedviz.store import Meta, Sandbox, Store
from schedviz.up.kept_key import FILE, kept_key
from simulator.queueing.queue_version import QueueVersion
from tests.loop.conftest import pod
from tests.loop.world import World
from tests.processes import ROOT
from tests.round_trips import round_trips
from tests.waiting import PATIENCE

from .conftest import Scene, identity_cookie, new_client

SIDE = RequestedSide("own", None, QueueVersion.KUBERNETES, 1)


@pytest.fixture
def made(store: Store) -> Iterator[list[str]]:
    """Names of sandboxes to delete afterwards."""
    names: list[str] = []
    yield names
    for name in {*names}:
        store.delete(name)


def owner_in(client: Client) -> str:
    """The digest of the identity in the cookie of a client."""
    return digest_of(signing.TimestampSigner(salt=SALT).unsign(client.cookies[COOKIE].value))


def name_in(location: str) -> str:
    assert location.startswith("/s/"), location
    return location.split("/")[2]


def test_a_sandbox_belongs_to_its_creator(owners: None, store: Store, made: list[str]) -> None:
    client = new_client()
    lesson = next(iter(lessons()))
    for path, data in (
        ("/sandboxes/", {}),
        ("/sandboxes/", {"scenario": "gang"}),
        ("/bring/", {"text": "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"}),
        ("/guides/preemption/", {}),
        (f"/lessons/{lesson}/", {}),
    ):
        answer = client.post(path, data)
        assert answer.status_code == 302, (path, answer.content)
        made.append(name_in(answer.headers["Location"]))
        assert read_record(store.handle(made[-1]).access() or "").owner == owner_in(client), path
    client.post("/ideas/filter/example/")
    (idea,) = (name for name in store.names() if name == f"idea-filter-{client.cookies['visitor'].value}")
    made.append(idea)
    assert read_record(store.handle(idea).access() or "").owner == owner_in(client)
    for name in made:
        assert client.get(f"/s/{name}/").status_code == 200
        assert new_client().get(f"/s/{name}/").status_code == 403


def test_a_branch_belongs_to_those_who_made_it(owners: None, store: Store, made: list[str]) -> None:
    world, client = World(store), new_client()
    world.create(pod("web"))
    world.slice()
    answer = client.post(f"/s/{world.sandbox.name}/at/1/branch/")
    made += [world.sandbox.name, name_in(answer.headers["Location"])]
    assert store.handle(made[-1]).access() == owned_by(owner_in(client))
    assert store.handle(world.sandbox.name).access() == ""


def test_starting_over_keeps_the_owner_and_the_links(owners: None, store: Store, made: list[str]) -> None:
    client = new_client()
    name = name_in(client.post("/sandboxes/", {"scenario": "gang"}).headers["Location"])
    made.append(name)
    make_link(store.handle(name), "view", "")
    before = store.handle(name).access()
    assert client.post(f"/s/{name}/start-over/").status_code == 302
    assert store.handle(name).access() == before
    store.delete(name)
    assert store.create(Meta(name)).access() == ""


def test_the_home_page_lists_ones_own_and_what_is_shared(scene: Scene, store: Store, made: list[str]) -> None:
    free = store.create(Meta(f"{scene.own}-free")).name
    made.append(free)
    lists = {
        who: scene.clients[who].get("/").context for who in ("owner", "editor", "viewer", "another owner")
    }
    names = {
        who: [[card.name for card in context[part]] for part in ("sandboxes", "shared")]
        for who, context in lists.items()
    }
    assert names == {
        "owner": [[scene.own], []],
        "editor": [[], [scene.own]],
        "viewer": [[], [scene.own]],
        "another owner": [[], []],
    }
    for context in lists.values():
        assert free in [card.name for card in context["public"]]


def test_the_form_of_comparisons_lists_what_one_may_see(scene: Scene) -> None:
    assert scene.own in scene.clients["viewer"].get("/compare/").context["sandboxes"]
    assert scene.own not in scene.clients["another owner"].get("/compare/").context["sandboxes"]


def test_a_comparison_is_for_those_who_asked_for_it_and_see_its_sandbox(scene: Scene, store: Store) -> None:
    jobs, owner = JobStore(store, COMPARISONS), digest_of("another owner")
    of_scenario = ComparisonJob(
        request=ComparisonRequest("scenario", "gang", "", SIDE, SIDE, 60), owner=owner, state="done"
    )
    of_sandbox = ComparisonJob(
        request=ComparisonRequest("sandbox", scene.own, "", SIDE, SIDE, 60), owner=owner, state="done"
    )
    for job, may_see in (
        (of_scenario, {"another owner"}),
        (of_sandbox, {"another owner", "owner", "editor", "viewer"}),
    ):
        jobs.save(job)
        for path in (f"/compare/{job.id}/", f"/compare/{job.id}/stop/"):
            for who, client in scene.clients.items():
                answer = client.post(path) if path.endswith("stop/") else client.get(path)
                assert (answer.status_code != 404) == (who in may_see), (who, path)
        jobs.forget(job)


def test_the_cookie_of_an_owner(owners: None, made: list[str]) -> None:
    client = new_client()
    assert COOKIE not in client.get("/").cookies
    answer = client.post("/sandboxes/")
    made.append(name_in(answer.headers["Location"]))
    cookie = answer.cookies[COOKIE]
    assert (cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (True, "Lax", KEPT_SECONDS)
    assert not cookie["secure"]
    assert COOKIE not in client.get("/").cookies
    secure = new_client().post("/sandboxes/", secure=True)
    made.append(name_in(secure.headers["Location"]))
    assert secure.cookies[COOKIE]["secure"]


def test_an_old_signature_is_replaced_and_a_very_old_one_is_nobodys(scene: Scene) -> None:
    client = scene.clients["owner"]
    for age, status, is_replaced in (
        (RENEWED_SECONDS - 60, 200, False),
        (RENEWED_SECONDS + 60, 200, True),
        (KEPT_SECONDS + 60, 403, False),
    ):
        with patch("django.core.signing.time.time", return_value=time.time() - age):
            client = new_client(**identity_cookie("the owner"))
        answer = client.get(f"/s/{scene.own}/")
        assert answer.status_code == status
        assert (COOKIE in answer.cookies) == is_replaced
        if is_replaced:
            assert owner_in(client) == digest_of("the owner")


def test_a_key_before_the_present_one_is_valid(scene: Scene) -> None:
    cookie = identity_cookie("the owner")
    for fallbacks, status in (([settings.SECRET_KEY], 200), ([], 403)):
        with override_settings(SECRET_KEY="another", SECRET_KEY_FALLBACKS=fallbacks):
            assert new_client(**cookie).get(f"/s/{scene.own}/").status_code == status


def test_open_mode_sets_no_cookie(store: Store, made: list[str]) -> None:
    client = new_client()
    answer = client.post("/sandboxes/")
    made.append(name_in(answer.headers["Location"]))
    assert COOKIE not in answer.cookies
    assert store.handle(made[-1]).access() == ""


@pytest.mark.parametrize("path", ["", "nodes/", "new/pod/", "api/v1/pods"])
def test_an_owner_costs_one_round_trip_more_at_most(sandbox: Sandbox, path: str) -> None:
    def count(client: Client) -> int:
        client.get(f"/s/{sandbox.name}/{path}")
        with round_trips() as sent:
            assert client.get(f"/s/{sandbox.name}/{path}").status_code == 200
        return sent()

    before = count(new_client())
    sandbox.set_access(owned_by(digest_of("the owner")), "")
    with override_settings(ACCESS="owners"):
        assert count(new_client(**identity_cookie("the owner"))) <= before + 1


def test_the_generated_key_is_kept_for_its_user_alone(tmp_path: Path) -> None:
    key = kept_key(tmp_path / "data")
    assert kept_key(tmp_path / "data") == key
    assert len(key) > 50
    assert stat.S_IMODE((tmp_path / "data" / FILE).stat().st_mode) == 0o600
    assert [each.name for each in (tmp_path / "data").iterdir()] == [FILE]


def started(environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", "import schedviz.asgi; print(len(schedviz.asgi.settings.SECRET_KEY))"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.mark.long
def test_a_web_process_with_owners_needs_a_key(redis_url: str, tmp_path: Path) -> None:
    environment = {"REDIS_URL": redis_url, "ACCESS": "owners"}
    refused = started(environment)
    assert refused.returncode == 1
    assert (
        refused.stderr == "schedviz: SECRET_KEY must be set where ACCESS is owners: it signs their cookies\n"
    )
    (tmp_path / "SECRET_KEY").write_text("x" * 60 + "\n")
    (tmp_path / "REDIS_URL").write_text(redis_url)
    files = {
        "SECRET_KEY_FILE": str(tmp_path / "SECRET_KEY"),
        "REDIS_URL_FILE": str(tmp_path / "REDIS_URL"),
        "ACCESS": "owners",
    }
    assert started(files).stdout == "60\n"
    absent = started({**files, "SECRET_KEY_FILE": "/nowhere"})
    assert absent.stderr.startswith("schedviz: SECRET_KEY_FILE cannot be read: ")


@pytest.mark.parametrize(
    ("environment", "mode"),
    [({}, "open"), ({"HOST": "0.0.0.0"}, "owners"), ({"HOST": "0.0.0.0", "ACCESS": "open"}, "open")],
)
def test_the_default_of_access_depends_on_the_allowed_hosts(environment: dict[str, str], mode: str) -> None:
    found = subprocess.run(
        [sys.executable, "-c", "from schedviz import settings; print(settings.ACCESS)"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout == f"{mode}\n"

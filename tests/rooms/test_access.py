"""Every path of a room's sandbox, requested by the teacher, its learner, another learner, and another
visitor."""

import itertools
import json
import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from schedviz.rooms.access import member_cookie, personal_token, teacher_cookie
from schedviz.rooms.create_sandboxes import open_sandbox
from schedviz.rooms.room import What, sandbox_name
from schedviz.rooms.room_store import Rooms
from schedviz.store import Store

VALUES = {
    "seq": "1", "number": "1", "kind": "pod", "resource": "pods", "key": "default/web",
    "namespace": "default", "pod": "web", "node": "node-1", "action": "cordon",
}  # fmt: skip


class Scene(NamedTuple):
    code: str
    own: str
    """Name of the sandbox of the first learner."""
    clients: dict[str, Client]


@pytest.fixture
def scene(store: Store) -> Iterator[Scene]:
    rooms = Rooms(store)
    room, teacher = rooms.create("Monday", What("scenario", "online-vs-offline"), "own", 3600)
    found = {
        who: Client(headers={"host": "localhost"}) for who in ("teacher", "learner", "other", "stranger")
    }
    found["teacher"].cookies[teacher_cookie(room.code)] = teacher
    for who in ("learner", "other"):
        member, token = rooms.join(room, who)
        found[who].cookies[member_cookie(room.code)] = personal_token(member, token)
        open_sandbox(store, room, member.number)
    yield Scene(room.code, sandbox_name(room.code, 1), found)
    for number in (1, 2):
        store.delete(sandbox_name(room.code, number))


def paths(name: str) -> list[str]:
    """A path for each URL pattern of a sandbox."""
    found = []
    for resolver in get_resolver().url_patterns:
        assert isinstance(resolver, URLResolver)
        for pattern in resolver.url_patterns:
            assert isinstance(pattern, URLPattern)
            route = str(pattern.pattern)
            if route.startswith("s/<"):
                found.append("/" + re.sub(r"<\w+:(\w+)>", lambda m: VALUES.get(m[1], name), route))
    api = ["api/v1/pods", "apis/", "version", "openapi/v3", "api/v1/namespaces/default/pods/web"]
    return found + [f"/s/{name}/{each}" for each in api]


def test_all_paths_of_a_sandbox_are_requested(scene: Scene) -> None:
    assert len(paths(scene.own)) > 50


@pytest.mark.parametrize("who", ["other", "stranger"])
def test_other_visitors_cannot_read_or_change_a_sandbox_of_the_room(scene: Scene, who: str) -> None:
    client = scene.clients[who]
    for path, method in itertools.product(paths(scene.own), ("get", "post", "put", "patch", "delete")):
        answer = getattr(client, method)(path)
        if re.search(r"/(apis?/|version|openapi|trace|recording)|/scheduler$", path):
            assert answer.status_code == 401, (method, path)
            assert json.loads(answer.content)["kind"] == "Status"
            assert json.loads(answer.content)["reason"] == "Unauthorized"
        else:
            assert answer.status_code == 403, (method, path)


@pytest.mark.parametrize("who", ["teacher", "learner"])
def test_the_learner_and_the_teacher_read_it(scene: Scene, who: str) -> None:
    for path in paths(scene.own):
        # Only the teacher deletes it and shares it.
        is_refused = (
            who == "learner" and re.fullmatch(r"/s/[^/]+/(delete|share|share/kubeconfig)/", path) is not None
        )
        assert (scene.clients[who].get(path).status_code == 403) == is_refused, path
    page = scene.clients[who].get(f"/s/{scene.own}/")
    assert page.status_code == 200
    assert scene.code in page.content.decode()


def test_encoded_paths_are_refused_too(scene: Scene) -> None:
    encoded = scene.own.replace("-", "%2D").replace("r", "%72", 1)
    assert scene.clients["stranger"].get(f"/s/{encoded}/").status_code == 403
    assert scene.clients["stranger"].get(f"/s/{encoded}/api/v1/pods").status_code == 401


def test_other_visitors_cannot_create_or_copy_a_sandbox_of_the_room(scene: Scene) -> None:
    stranger = scene.clients["stranger"]
    later = sandbox_name(scene.code, 3)
    assert stranger.post("/sandboxes/", {"name": later}).status_code == 403
    assert stranger.post("/sandboxes/", {"name": f" {scene.own}-x"}).status_code == 403
    assert stranger.post("/bring/", {"name": later}).status_code == 403
    assert stranger.post("/compare/", {"workload": f"sandbox:{scene.own}"}).status_code == 403


def test_the_home_page_and_the_comparison_do_not_list_it(scene: Scene) -> None:
    for path in ("/", "/compare/"):
        for client in scene.clients.values():
            assert scene.own not in client.get(path).content.decode()


@pytest.mark.parametrize("who", ["learner", "stranger"])
def test_only_the_teacher_opens_the_teachers_pages(scene: Scene, who: str) -> None:
    client = scene.clients[who]
    for path in ("teach/", "projector/", "teach/results.csv", "teach/wrong-token/"):
        refused = client.get(f"/rooms/{scene.code}/{path}")
        assert refused.status_code == 403
        assert "not in this room" not in refused.content.decode(), "a learner is"
        assert "You may not open this page of the room" in refused.content.decode()
    assert client.post(f"/rooms/{scene.code}/teach/do/", {"do": "end"}).status_code == 403


def test_a_post_without_a_csrf_token_is_refused(scene: Scene) -> None:
    strict = Client(enforce_csrf_checks=True, headers={"host": "localhost"})
    strict.cookies = scene.clients["teacher"].cookies
    assert strict.post(f"/rooms/{scene.code}/teach/do/", {"do": "end"}).status_code == 403


async def test_sockets_are_refused_as_requests_are(scene: Scene, server: str) -> None:
    def socket(who: str, path: str) -> connect:
        cookies = "; ".join(f"{name}={each.value}" for name, each in scene.clients[who].cookies.items())
        headers = {"Cookie": cookies} if cookies else {}
        url = server.replace("http:", "ws:") + path
        return connect(url, origin=server, additional_headers=headers, max_size=2**22)  # type: ignore[arg-type]

    for who in ("teacher", "learner"):
        async with socket(who, f"/s/{scene.own}/live/?lang=en") as connection:
            assert await connection.recv()
    async with socket("teacher", f"/rooms/{scene.code}/live/?lang=en") as connection:
        assert "learner" in str(await connection.recv())
    for who, path in (
        ("other", f"/s/{scene.own}/live/"),
        ("stranger", f"/s/{scene.own}/live/"),
        ("learner", f"/rooms/{scene.code}/live/"),
        ("stranger", f"/rooms/{scene.code}/live/"),
    ):
        with pytest.raises(InvalidStatus) as refused:
            async with socket(who, path):
                pass
        assert refused.value.response.status_code == 403


def test_in_a_shared_room_each_member_opens_the_one_sandbox(store: Store) -> None:
    rooms = Rooms(store)
    room, _ = rooms.create("Monday", What("scenario", "online-vs-offline"), "shared", 3600)
    clients = []
    for name in ("Ada", "Bo"):
        member, token = rooms.join(room, name)
        client = Client(headers={"host": "localhost"})
        client.cookies[member_cookie(room.code)] = personal_token(member, token)
        clients.append(client)
        assert open_sandbox(store, room, member.number) == sandbox_name(room.code, 0)
    path = f"/s/{sandbox_name(room.code, 0)}/"
    assert [client.get(path).status_code for client in clients] == [200, 200]
    assert Client(headers={"host": "localhost"}).get(path).status_code == 403
    store.delete(sandbox_name(room.code, 0))

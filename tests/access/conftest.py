"""Sandboxes with owners, and clients of each kind of visitor."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from django.conf import settings
from django.core import signing
from django.test import Client, override_settings

from schedviz.access.identity import COOKIE, SALT
from schedviz.access.links import make_link
from schedviz.access.record import digest_of, owned_by
from schedviz.access.visitor import SHARED_COOKIE, with_shared
from schedviz.rooms.access import member_cookie, personal_token, teacher_cookie
from schedviz.rooms.create_sandboxes import open_sandbox
from schedviz.rooms.room import What
from schedviz.rooms.room_store import Rooms
from schedviz.store import Meta, Store
from schedviz.up.embedded_redis import free_port
from schedviz.up.programs import SERVER
from tests.processes import Process, answers
from tests.waiting import eventually


@pytest.fixture
def owners() -> Iterator[None]:
    """Sandboxes have owners."""
    with override_settings(ACCESS="owners"):
        yield


class Scene(NamedTuple):
    own: str
    """The sandbox of the owner; the editor and the viewer have a link to it."""
    code: str
    room: str
    """The sandbox of the first learner of a room."""
    clients: dict[str, Client]
    tokens: dict[str, str]
    """The tokens of the editor's and the viewer's link."""


def new_client(**cookies: str) -> Client:
    client = Client(headers={"host": "localhost"})
    for name, value in cookies.items():
        client.cookies[name] = value
    return client


def identity_cookie(number: str) -> dict[str, str]:
    return {COOKIE: signing.TimestampSigner(salt=SALT).sign(number)}


@pytest.fixture
def scene(store: Store, sandbox_name: str, owners: None) -> Iterator[Scene]:
    sandbox = store.create(Meta(sandbox_name), access=owned_by(digest_of("the owner")))
    _, edit = make_link(sandbox, "edit", "for Bo")
    _, view = make_link(sandbox, "view", "")
    rooms = Rooms(store)
    room, teacher = rooms.create("Monday", What("scenario", "online-vs-offline"), "own", 3600)
    member, token = rooms.join(room, "Ada")
    other, other_token = rooms.join(room, "Bo")
    room_sandbox = open_sandbox(store, room, member.number)
    assert room_sandbox
    clients = {
        "owner": new_client(**identity_cookie("the owner")),
        "editor": new_client(**{SHARED_COOKIE: with_shared({}, sandbox.name, edit)}),
        "viewer": new_client(**{SHARED_COOKIE: with_shared({}, sandbox.name, view)}),
        "another owner": new_client(**identity_cookie("another owner")),
        "stranger": new_client(),
        "teacher": new_client(**{teacher_cookie(room.code): teacher}),
        "learner": new_client(**{member_cookie(room.code): personal_token(member, token)}),
        "other learner": new_client(**{member_cookie(room.code): personal_token(other, other_token)}),
    }
    yield Scene(sandbox.name, room.code, room_sandbox, clients, {"edit": edit, "view": view})
    for name in (sandbox.name, room_sandbox):
        if store.handle(name).access() is not None:
            store.delete(name)


@pytest.fixture(scope="package")
def owners_server(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real server whose sandboxes have owners."""
    port = free_port()
    log = tmp_path_factory.mktemp("server") / "log"
    environment = {"ACCESS": "owners", "SECRET_KEY": settings.SECRET_KEY}
    process = Process(["-m", SERVER, f"--port={port}"], log, environment)
    url = f"http://127.0.0.1:{port}"
    eventually(lambda: process.alive() and answers(f"{url}/healthz"), "the server answers")
    yield url
    process.stop()

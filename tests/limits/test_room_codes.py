"""The limit of wrong codes of rooms from one address. Right codes do not count: a class behind one address
joins at once."""

from collections.abc import Iterator
from http import HTTPStatus

import pytest
from django.test import Client

from schedviz.limit_settings import DEFAULTS, LimitName
from schedviz.rooms.access import member_cookie, personal_token, teacher_cookie
from schedviz.rooms.room import MEMBERS_AT_MOST, What
from schedviz.rooms.room_store import Rooms
from schedviz.store import Store

Limits = dict[LimitName, int]
LIMIT: LimitName = "MAX_WRONG_CODES_PER_MINUTE_PER_ADDRESS"
WRONG = "CCCCCC"


def outside(address: str = "203.0.113.7") -> Client:
    return Client(headers={"host": "localhost"}, REMOTE_ADDR=address)


@pytest.fixture
def room(store: Store, limits: Limits) -> Iterator[tuple[str, str]]:
    """The code of a room, and the token of its teacher."""
    limits[LIMIT] = 3
    rooms = Rooms(store)
    made, token = rooms.create("Monday", What("course"), "own", 3600)
    yield made.code, token
    rooms.end(made.code)


@pytest.mark.parametrize(
    "path", ["/rooms/?code={}", "/rooms/{}/", "/rooms/{}/me/", "/rooms/{}/teach/", "/rooms/{}/qr.svg"]
)
def test_no_code_can_be_tried_after_too_many_wrong_ones(room: tuple[str, str], path: str) -> None:
    client = outside()
    for _ in range(3):
        assert client.get(path.format(WRONG)).status_code in (HTTPStatus.NOT_FOUND, 422)
    for code in (WRONG, room[0]):  # a right one is not told from a wrong one
        refused = client.get(path.format(code))
        assert refused.status_code == HTTPStatus.TOO_MANY_REQUESTS
        assert "Too many wrong codes" in refused.content.decode()
        assert refused.headers["Retry-After"] == "20"
    assert outside("203.0.113.8").get(path.format(WRONG)).status_code != HTTPStatus.TOO_MANY_REQUESTS


def test_what_is_no_code_does_not_count(room: tuple[str, str]) -> None:
    client = outside()
    for _ in range(5):
        assert client.get("/rooms/", {"code": "hello"}).status_code == 422
        assert client.get("/rooms/nonsense/").status_code == HTTPStatus.NOT_FOUND
    assert client.get(f"/rooms/{room[0]}/").status_code == HTTPStatus.OK


def test_whoever_is_in_the_room_is_not_refused(room: tuple[str, str], store: Store) -> None:
    code, token = room
    rooms, stranger = Rooms(store), outside()
    member, learners = rooms.join(rooms.find(code), "Ada")
    for _ in range(4):
        stranger.get(f"/rooms/{WRONG}/")
    for cookie, value, path in (
        (member_cookie(code), personal_token(member, learners), "me/"),
        (teacher_cookie(code), token, "teach/"),
    ):
        client = outside()
        client.cookies[cookie] = value
        assert client.get(f"/rooms/{code}/{path}").status_code == HTTPStatus.OK
    assert stranger.get(f"/rooms/{code}/").status_code == HTTPStatus.TOO_MANY_REQUESTS


@pytest.mark.long
def test_a_class_behind_one_address_joins_within_a_minute(room: tuple[str, str], limits: Limits) -> None:
    """With the default limits, and buckets that are not refilled meanwhile. One in ten mistypes the code."""
    limits.update(DEFAULTS)
    code = room[0]
    for number in range(MEMBERS_AT_MOST):
        learner = outside()
        if number % 10 == 0:
            assert learner.get("/rooms/", {"code": WRONG}).status_code == 422
        assert learner.get("/rooms/", {"code": code}).status_code == HTTPStatus.FOUND
        joined = learner.post(f"/rooms/{code}/", {"name": f"learner {number}"})
        assert joined.status_code == HTTPStatus.FOUND, number
        assert learner.get(f"/rooms/{code}/me/").status_code == HTTPStatus.OK

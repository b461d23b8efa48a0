"""What each role may do, by every URL."""

from collections.abc import Callable
from typing import Final

import pytest
from django.test import Client, RequestFactory, override_settings

from schedviz.access.record import owned_by
from schedviz.routes import routes
from schedviz.store import Meta, Store
from tests.access.expected_routes import EXPECTED, WITH_ACCOUNTS

from .conftest import PASSWORD, logged_in, new_client

pytestmark = pytest.mark.django_db(transaction=True)

ROLES: Final = ("guest", "learner", "teacher", "administrator")


def test_every_url_is_a_route() -> None:
    assert routes().keys() == EXPECTED.keys() | WITH_ACCOUNTS.keys()


@pytest.mark.parametrize("guests", ["join", "create"])
def test_each_url_needs_the_role_that_the_table_says(guests: str) -> None:
    letters = {"G": "GUEST", "L": "LEARNER" if guests == "join" else "GUEST", "T": "TEACHER"}
    requests = RequestFactory().get("/"), RequestFactory().post("/")
    with override_settings(GUESTS=guests):
        for name, expected in EXPECTED.items():
            found = [routes()[name].least_role(request).name for request in requests]
            assert found == [letters[letter] for letter in expected.roles], name
        branch = RequestFactory().post("/", {"do": "branch"})
        assert routes()["what-if"].least_role(branch).name == letters["L"]
        for name, expected in WITH_ACCOUNTS.items():
            found = [routes()[name].least_role(request).name for request in requests]
            assert found == ["LEARNER" if letter == "L" else "GUEST" for letter in expected.roles], name


@pytest.fixture
def clients(make_user: Callable[..., object], redis_url: str) -> dict[str, Client]:
    for role in ROLES[1:]:
        make_user(role, role)
    return {"guest": new_client(), **{role: logged_in(role) for role in ROLES[1:]}}


def test_only_teachers_and_administrators_open_rooms_and_upload_lessons(
    clients: dict[str, Client],
) -> None:
    room = {"what": "scenario:gang", "minutes": "60", "mode": "own"}
    for path in ("/rooms/new/", "/lesson-upload/"):
        found = {role: client.get(path).status_code for role, client in clients.items()}
        assert found == {"guest": 302, "learner": 403, "teacher": 200, "administrator": 200}
        assert clients["guest"].get(path).headers["Location"].startswith("/account/log-in/?next=%2F")
    found = {role: client.post("/rooms/new/", room) for role, client in clients.items()}
    assert {role: answer.status_code for role, answer in found.items()} == {
        "guest": 403, "learner": 403, "teacher": 302, "administrator": 302,
    }  # fmt: skip
    assert "/teach/" in found["teacher"].headers["Location"]
    assert "Only teachers" in found["learner"].content.decode()


@pytest.mark.parametrize(("guests", "status"), [("join", 403), ("create", 302)])
def test_a_setting_says_whether_guests_create_sandboxes(
    clients: dict[str, Client], guests: str, status: int
) -> None:
    with override_settings(GUESTS=guests):
        for path in ("/sandboxes/", "/guides/preemption/"):
            assert clients["guest"].post(path).status_code == status
            assert clients["learner"].post(path).status_code == 302
        assert "Log in" in clients["guest"].get("/").content.decode()


def test_guests_join_rooms_by_code(clients: dict[str, Client]) -> None:
    room = {"what": "scenario:gang", "minutes": "60", "mode": "own"}
    teach = clients["teacher"].post("/rooms/new/", room).headers["Location"]
    code = teach.split("/")[2]
    joined = clients["guest"].post(f"/rooms/{code}/", {"name": "Ada"})
    sandbox = joined.headers["Location"]
    assert sandbox.startswith("/s/")
    assert clients["guest"].get(sandbox).status_code == 200
    assert clients["guest"].post(f"{sandbox}clock/", {"do": "pause"}).status_code < 400
    assert clients["learner"].get(sandbox).status_code == 403
    assert clients["administrator"].get(sandbox).status_code == 200


def test_administrators_see_and_delete_all_sandboxes(
    clients: dict[str, Client], store: Store, sandbox_name: str
) -> None:
    name = store.create(Meta(sandbox_name), access=owned_by("somebody")).name
    for role, status in (("guest", 403), ("learner", 403), ("teacher", 403), ("administrator", 200)):
        assert clients[role].get(f"/s/{name}/").status_code == status, role
    assert name in [card.name for card in clients["administrator"].get("/").context["others"]]
    assert name not in clients["teacher"].get("/").content.decode()
    assert clients["teacher"].post(f"/s/{name}/delete/").status_code == 403
    assert clients["administrator"].post(f"/s/{name}/delete/").status_code == 302
    assert store.handle(name).access() is None


def test_the_admin_is_for_administrators(clients: dict[str, Client]) -> None:
    found = {role: client.get("/admin/") for role, client in clients.items()}
    assert {role: answer.status_code for role, answer in found.items()} == {
        "guest": 302, "learner": 403, "teacher": 403, "administrator": 200,
    }  # fmt: skip
    assert found["guest"].headers["Location"] == "/account/log-in/?next=%2Fadmin%2F"
    attempt = clients["guest"].post("/admin/login/", {"username": "administrator", "password": PASSWORD})
    assert attempt.status_code == 403
    assert clients["administrator"].get("/admin/accounts/user/").status_code == 200
    assert clients["administrator"].get("/admin/auth/group/").status_code == 200


def test_an_administrator_makes_a_teacher(clients: dict[str, Client]) -> None:
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import Group

    learner = get_user_model().objects.get(username="learner")
    form = {
        "username": "learner", "is_active": "on", "groups": [Group.objects.get(name="teachers").pk],
        "date_joined_0": "2026-01-01", "date_joined_1": "00:00:00",
    }  # fmt: skip
    answer = clients["administrator"].post(f"/admin/accounts/user/{learner.pk}/change/", form)
    assert answer.status_code == 302
    assert clients["learner"].get("/rooms/new/").status_code == 200

"""Accounts of each role, and their browsers."""

from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.test import Client, override_settings

from schedviz.limits.buckets import Buckets
from schedviz.limits.rates import BUCKETS

collect_ignore_glob = [] if settings.ACCOUNTS else ["*"]
PASSWORD = "a good pass phrase"


@pytest.fixture(autouse=True)
def _fast_passwords() -> Iterator[None]:
    """Django's own digest takes half a second."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(autouse=True)
def _full_buckets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The attempts to log in of one test do not count for another."""
    for name in ("MAX_LOGINS_PER_MINUTE_PER_ACCOUNT", "MAX_LOGINS_PER_MINUTE_PER_ADDRESS"):
        monkeypatch.setitem(BUCKETS, name, Buckets())


@pytest.fixture
def make_user(transactional_db: None) -> "Callable[..., object]":
    from django.contrib.auth import get_user_model
    from django.contrib.auth.models import Group

    def make(name: str, role: str = "learner", **fields: object) -> object:
        users = get_user_model().objects
        create = users.create_superuser if role == "administrator" else users.create_user
        user = create(name, f"{name}@example.com", PASSWORD, **fields)
        if role == "teacher":
            user.groups.add(Group.objects.get_or_create(name="teachers")[0])
        return user

    return make


def new_client(**cookies: str) -> Client:
    client = Client(headers={"host": "localhost"})
    for name, value in cookies.items():
        client.cookies[name] = value
    return client


def logged_in(name: str, **cookies: str) -> Client:
    """The browser of a person who has logged in on the page."""
    client = new_client(**cookies)
    answer = client.post("/account/log-in/", {"username": name, "password": PASSWORD})
    assert answer.status_code == 302, answer.content.decode()
    return client

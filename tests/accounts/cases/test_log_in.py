"""Log in and out, passwords, and what belongs to an account."""

import re
from collections.abc import Callable

import pytest
from django.conf import settings
from django.core import mail, signing
from django.test import override_settings

from schedviz.access.identity import COOKIE, SALT
from schedviz.access.links import make_link
from schedviz.access.record import digest_of, owned_by, read_record
from schedviz.store import Meta, Store

from .conftest import PASSWORD, logged_in, new_client

pytestmark = pytest.mark.django_db(transaction=True)
MakeUser = Callable[..., "object"]


def test_a_sandbox_belongs_to_the_account_on_every_machine(make_user: MakeUser, store: Store) -> None:
    user = make_user("ada")
    make_user("bo")
    name = logged_in("ada").post("/sandboxes/").headers["Location"].split("/")[2]
    assert read_record(store.handle(name).access() or "").owner == user.owner  # type: ignore[attr-defined]
    elsewhere = logged_in("ada")
    assert name in [card.name for card in elsewhere.get("/").context["sandboxes"]]
    assert logged_in("bo").get(f"/s/{name}/").status_code == 403
    assert new_client().get(f"/s/{name}/").status_code == 403
    assert COOKIE not in elsewhere.cookies
    assert elsewhere.post(f"/s/{name}/delete/").status_code == 302


def test_sandboxes_of_the_cookie_belong_to_the_account_after_log_in(
    make_user: MakeUser, store: Store, sandbox_name: str
) -> None:
    user = make_user("ada")
    sandbox = store.create(Meta(sandbox_name), access=owned_by(digest_of("a guest")))
    other = store.create(Meta(f"{sandbox_name}-2"), access=owned_by(digest_of("another")))
    link, _ = make_link(sandbox, "view", "for Bo")
    client = logged_in("ada", **{COOKIE: signing.TimestampSigner(salt=SALT).sign("a guest")})
    record = read_record(sandbox.access() or "")
    assert record.owner == user.owner  # type: ignore[attr-defined]
    assert record.links == (link,)
    assert read_record(other.access() or "").owner == digest_of("another")
    assert client.cookies[COOKIE].value == ""
    client.post("/account/log-out/")
    assert client.get(f"/s/{sandbox.name}/").status_code == 403


def test_tokens_of_a_sandbox_work_for_programs(make_user: MakeUser, store: Store, sandbox_name: str) -> None:
    user = make_user("ada")
    sandbox = store.create(Meta(sandbox_name), access=owned_by(user.owner))  # type: ignore[attr-defined]
    _, token = make_link(sandbox, "edit", "")
    pods = f"/s/{sandbox.name}/api/v1/namespaces/default/pods"
    assert new_client().get(pods).status_code == 401
    assert new_client().get(pods, headers={"Authorization": f"Bearer {token}"}).status_code == 200
    ada = logged_in("ada")
    file = ada.post(f"/s/{sandbox.name}/share/kubeconfig/")
    (token,) = set(re.findall(r"token: (\S+)", file.content.decode())) or {""}
    assert new_client().get(pods, headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_attempts_to_log_in_are_limited(make_user: MakeUser) -> None:
    make_user("ada")
    at_most = settings.LIMITS["MAX_LOGINS_PER_MINUTE_PER_ACCOUNT"]
    # The second is written with full-width letters, which Django's forms normalise.
    names = ["Ada ", "\uff21\uff44\uff41"] * at_most
    wrong = [{"username": name, "password": "wrong"} for name in names[:at_most]]
    assert [new_client().post("/account/log-in/", each).status_code for each in wrong] == [200] * at_most
    refused = new_client().post("/account/log-in/", {"username": "ada", "password": PASSWORD})
    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert "Too many attempts to log in" in refused.content.decode()


def test_the_session_s_cookie_and_the_way_back(make_user: MakeUser) -> None:
    make_user("ada")
    for target, location in (("/lessons/", "/lessons/"), ("https://evil.example/", "/"), ("", "/")):
        client = new_client()
        answer = client.post(
            "/account/log-in/", {"username": "ada", "password": PASSWORD, "next": target}, secure=True
        )
        assert answer.headers["Location"] == location
        cookie = answer.cookies[settings.SESSION_COOKIE_NAME]
        assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    with override_settings(HTTPS=True):
        answer = new_client().post("/account/log-in/", {"username": "ada", "password": PASSWORD})
        assert answer.cookies[settings.SESSION_COOKIE_NAME]["secure"]


def test_forms_need_the_token_against_forgery(make_user: MakeUser) -> None:
    from django.test import Client

    make_user("ada")
    client = Client(enforce_csrf_checks=True, headers={"host": "localhost"})
    assert client.post("/account/log-in/", {"username": "ada", "password": PASSWORD}).status_code == 403


@override_settings(EMAIL_HOST="mail.example.com")
def test_a_password_is_reset_by_mail(make_user: MakeUser) -> None:
    make_user("ada")
    client = new_client()
    assert "Did you forget" in client.get("/account/log-in/").content.decode()
    for address in ("ada@example.com", "nobody@example.com"):
        answer = client.post("/account/reset/", {"email": address})
        assert answer.headers["Location"] == "/account/reset/sent/"
    (sent,) = mail.outbox
    assert sent.to == ["ada@example.com"]
    (path,) = re.findall(r"http://localhost(/\S+)", str(sent.body))
    form = client.get(path).headers["Location"]
    words = {"new_password1": "another pass phrase", "new_password2": "another pass phrase"}
    assert client.post(form, words).headers["Location"] == "/account/log-in/"
    answer = client.post("/account/log-in/", {"username": "ada", "password": "another pass phrase"})
    assert answer.status_code == 302
    assert "was used, or is too old" in new_client().get(path).content.decode()


def test_without_mail_no_password_is_reset() -> None:
    assert new_client().get("/account/reset/").status_code == 404


def test_a_new_password_ends_other_sessions(make_user: MakeUser) -> None:
    make_user("ada")
    here, there = logged_in("ada"), logged_in("ada")
    words = {"old_password": PASSWORD, "new_password1": "another pass phrase"}
    words["new_password2"] = words["new_password1"]
    assert here.post("/account/password/", words).headers["Location"] == "/account/"
    assert here.get("/account/").status_code == 200
    assert there.get("/account/").status_code == 302


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_the_pages_in_each_language(make_user: MakeUser, language: str) -> None:
    make_user("ada")
    client = logged_in("ada")
    client.cookies["django_language"] = language
    for path in ("/account/", "/account/password/", "/"):
        page = client.get(path)
        assert page.status_code == 200
        assert f'<html lang="{language}"' in page.content.decode()
        assert "ada" in page.content.decode()
    assert ("注销" in client.get("/account/").content.decode()) == (language == "zh-hans")


def test_limits_count_for_the_account(make_user: MakeUser, store: Store) -> None:
    make_user("ada")
    with override_settings(LIMITS={**settings.LIMITS, "MAX_SANDBOXES_PER_OWNER": 1}):
        assert logged_in("ada").post("/sandboxes/").status_code == 302
        assert logged_in("ada").post("/sandboxes/").status_code == 429

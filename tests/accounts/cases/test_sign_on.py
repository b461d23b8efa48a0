"""Single sign-on, with a provider in this process."""

from collections.abc import Callable, Iterator
from urllib.parse import urlsplit

import pytest
from django.http import HttpResponse
from django.test import Client, override_settings
from joserfc.jwk import RSAKey

from schedviz.accounts import sign_on
from schedviz.store import Store

from .conftest import new_client
from .provider import CLIENT, SECRET, Provider

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def provider(store: Store) -> Iterator[Provider]:
    provider = Provider()
    sign_on.provider.cache_clear()
    with override_settings(
        OIDC_ISSUER=provider.url, OIDC_CLIENT_ID=CLIENT, OIDC_CLIENT_SECRET=SECRET, OIDC_NAME="the school"
    ):
        yield provider
    sign_on.provider.cache_clear()
    provider.stop()


def sign_in(provider: Provider, client: Client, target: str = "/lessons/") -> HttpResponse:
    sent = client.get("/account/sign-on/", {"next": target}).headers["Location"]
    assert sent.startswith(f"{provider.url}/authorize?")
    back = urlsplit(provider.authorize(sent))
    assert back.path == "/account/signed-on/"
    answer: HttpResponse = client.get(f"{back.path}?{back.query}")  # type: ignore[assignment]
    return answer


def test_an_account_is_made_at_the_first_time(provider: Provider, store: Store) -> None:
    client = new_client()
    assert "Log in with the school" in client.get("/account/log-in/").content.decode()
    answer = sign_in(provider, client)
    assert (answer.status_code, answer.headers["Location"]) == (302, "/lessons/")
    assert "You are a learner" in client.get("/account/").content.decode()
    name = client.post("/sandboxes/").headers["Location"].split("/")[2]
    provider.claims["preferred_username"] = "ada.l"
    elsewhere = new_client()
    assert sign_in(provider, elsewhere, "https://evil.example/").headers["Location"] == "/"
    assert name in [card.name for card in elsewhere.get("/").context["sandboxes"]]
    from schedviz.accounts.models import User

    (user,) = User.objects.all()
    assert (user.username, user.has_usable_password()) == ("ada", False)


def test_single_sign_on_does_not_match_accounts_by_name_or_mail_address(
    provider: Provider, make_user: Callable[..., object]
) -> None:
    make_user("ada", "administrator")
    provider.claims |= {"email": "ada@example.com", "email_verified": True}
    client = new_client()
    assert sign_in(provider, client).status_code == 302
    page = client.get("/account/").content.decode()
    assert "ada-2" in page
    assert "You are a learner" in page


@override_settings(OIDC_ROLE="teacher")
def test_a_setting_gives_the_role_of_new_accounts(provider: Provider) -> None:
    client = new_client()
    sign_in(provider, client)
    assert "You are a teacher" in client.get("/account/").content.decode()


@pytest.mark.parametrize(
    "wrong",
    [
        {"nonce": "another"},
        {"aud": "another client"},
        {"iss": "https://evil.example"},
        {"exp": 1_000_000_000},
        {"sub": ""},
    ],
    ids=str,
)
def test_a_wrong_token_is_refused(provider: Provider, wrong: dict[str, object]) -> None:
    provider.claims |= wrong
    client = new_client()
    answer = sign_in(provider, client)
    assert answer.status_code == 403
    assert "the school did not log you in" in answer.content.decode()
    assert client.get("/account/").status_code == 302


def test_a_wrong_signature_is_refused(provider: Provider) -> None:
    provider.signing_key = RSAKey.generate_key(2048, {"kid": "1"})
    assert sign_in(provider, new_client()).status_code == 403


def test_the_browser_that_returns_is_the_one_that_was_sent(provider: Provider) -> None:
    sent = new_client().get("/account/sign-on/").headers["Location"]
    back = urlsplit(provider.authorize(sent))
    assert new_client().get(f"{back.path}?{back.query}").status_code == 403
    assert new_client().get("/account/signed-on/", {"error": "access_denied"}).status_code == 403


def test_an_inactive_account_does_not_log_in(provider: Provider) -> None:
    from schedviz.accounts.models import User

    sign_in(provider, new_client())
    User.objects.update(is_active=False)
    assert sign_in(provider, new_client()).status_code == 403


def test_a_provider_that_does_not_respond(provider: Provider) -> None:
    provider.stop()
    assert new_client().get("/account/sign-on/").status_code == 403


def test_without_a_provider_there_is_no_single_sign_on() -> None:
    assert new_client().get("/account/sign-on/").status_code == 404
    assert "Log in with" not in new_client().get("/account/log-in/").content.decode()

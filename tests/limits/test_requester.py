"""Who asks, as limits count."""

import pytest
from django.conf import settings
from django.test import RequestFactory, override_settings

from schedviz.access.record import digest_of
from schedviz.limits import requester
from schedviz.limits.requester import CONFIRMED, Confirmed, Requester, find_requester, requester_of_socket
from tests.access.conftest import identity_cookie


def address(peer: str, forwarded: str = "") -> str:
    return find_requester({}, "", peer, forwarded).address


@pytest.mark.parametrize(
    ("peer", "counted"),
    [
        ("203.0.113.7", "203.0.113.7"),
        ("127.0.0.1", ""),
        ("127.8.8.8", ""),
        ("::1", ""),
        ("::ffff:127.0.0.1", ""),
        ("::ffff:203.0.113.7", "203.0.113.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("", ""),
        ("testclient", ""),
    ],
)
def test_an_address_counts_unless_it_is_this_machine(peer: str, counted: str) -> None:
    assert address(peer) == counted


def test_proxies_of_one_s_own_are_counted_from_the_end() -> None:
    written_by_the_client = "198.51.100.1, 203.0.113.7, 10.0.0.2"
    assert address("10.0.0.3", written_by_the_client) == "10.0.0.2"
    with override_settings(PROXIES=2):
        assert address("10.0.0.3", written_by_the_client) == "203.0.113.7"
        assert address("10.0.0.3", "203.0.113.7") == "10.0.0.3", "it did not come by both proxies"


def test_the_header_counts_only_where_it_is_set() -> None:
    request = RequestFactory().get("/", headers={"X-Forwarded-For": "203.0.113.7"}, REMOTE_ADDR="10.0.0.3")
    scope = {"client": ("10.0.0.3", 1), "headers": [(b"x-forwarded-for", b"203.0.113.7")]}
    assert requester.requester_of(request).address == requester_of_socket(scope).address == "10.0.0.3"
    with override_settings(PROXY_ADDRESS_HEADER="HTTP_X_FORWARDED_FOR"):
        assert requester.requester_of(request).address == requester_of_socket(scope).address == "203.0.113.7"
    assert not settings.PROXY_ADDRESS_HEADER


@override_settings(ACCESS="owners")
def test_an_owner_and_a_token_count_beside_the_address() -> None:
    owner = find_requester(identity_cookie("somebody"), "", "203.0.113.7", "")
    assert owner == Requester(digest_of("somebody"), "203.0.113.7")
    forged = {name: value[:-1] for name, value in identity_cookie("somebody").items()}
    assert find_requester(forged, "", "203.0.113.7", "") == Requester("", "203.0.113.7")
    program = find_requester({}, "Bearer secret", "203.0.113.7", "")
    assert program.owner.startswith("token ")
    assert "secret" not in program.owner
    assert program.address == "203.0.113.7"


def test_a_member_of_a_room_counts_alone_after_the_first_request(limits: object) -> None:
    cookies = {"room-abcdef": "3-aaaaaaaaaaaa", "other": "x"}
    assert find_requester(cookies, "", "203.0.113.7", "") == Requester("", "203.0.113.7")
    CONFIRMED.add("3-aaaaaaaaaaaa")
    known = find_requester(cookies, "", "203.0.113.7", "")
    assert known.owner.startswith("room ")
    assert known.address == ""
    assert find_requester({"other": "3-aaaaaaaaaaaa"}, "", "203.0.113.7", "").owner == ""


def test_the_number_of_remembered_requesters_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requester, "CONFIRMED_AT_MOST", 2)
    known = Confirmed()
    for token in ("a", "b", "c"):
        known.add(token)
    assert [known.has(token) for token in ("a", "b", "c")] == [False, True, True]
    monkeypatch.setattr(requester, "CONFIRMED_SECONDS", -1.0)
    known.add("c")
    assert not known.has("c")

"""Requests that Django cannot read get a page that says so, at any path."""

import pytest
from django.test import Client

FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data; boundary=f"


def part(value: str, more: str = "") -> bytes:
    return f'--f\r\nContent-Disposition: form-data; name="a"{more}\r\n\r\n{value}\r\n'.encode()


BODIES = {
    "charset": (b"a=b", f"{FORM}; charset=utf-16"),
    "fields": (b"a=b&" * 1_200, FORM),
    "large": (b"a=" + b"b" * 5_000_000, FORM),
    "boundary": (b"a", "multipart/form-data; boundary="),
    "parts": (part("b") * 1_200 + b"--f--\r\n", MULTIPART),
    "large part": (part("b" * 5_000_000) + b"--f--\r\n", MULTIPART),
    "files": (part("b", '; filename="c"') * 200 + b"--f--\r\n", MULTIPART),
}


@pytest.fixture
def client() -> Client:
    client = Client(enforce_csrf_checks=True, headers={"host": "localhost"})
    client.cookies["csrftoken"] = "a" * 32
    return client


@pytest.mark.parametrize("body", BODIES)
def test_a_form_that_cannot_be_read_is_a_bad_request(client: Client, body: str) -> None:
    data, content_type = BODIES[body]
    answer = client.post("/sandboxes/", data, content_type=content_type)
    if body.startswith("large"):
        assert answer.status_code == 413
        assert "cannot be sent here" in answer.content.decode()
    else:
        assert answer.status_code == 400
        assert "The server cannot read this request." in answer.content.decode()


@pytest.mark.parametrize("body", BODIES)
def test_a_path_without_a_page_is_not_found_with_any_body(client: Client, body: str) -> None:
    data, content_type = BODIES[body]
    answer = client.post("/nothing/", data, content_type=content_type)
    assert answer.status_code == 404
    assert "This page does not exist." in answer.content.decode()


def test_an_unknown_host_is_a_bad_request() -> None:
    assert Client(headers={"host": "example.com"}).get("/nothing/").status_code == 400

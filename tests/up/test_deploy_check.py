"""The settings of a server behind a proxy that speaks HTTPS."""

import os
import re
import subprocess
import sys

import pytest
from django.conf import settings
from django.test import Client

from schedviz.web.security_headers import CONTENT_SECURITY_POLICY
from tests.processes import ROOT

PRODUCTION = {
    "HTTPS": "1",
    "PROXY_SSL_HEADER": "X-Forwarded-Proto",
    "SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRST",
    "ALLOWED_HOSTS": "schedviz.example.com",
    "CSRF_TRUSTED_ORIGINS": "https://schedviz.example.com",
}

ASK = """
import django
django.setup()
from django.conf import settings
from django.test import Client
assert settings.SESSION_COOKIE_SECURE and settings.CSRF_COOKIE_SECURE and settings.LANGUAGE_COOKIE_SECURE
client = Client(headers={"Host": "schedviz.example.com"})
for path in ("/ideas/", "/healthz"):
    answer = client.get(path)
    print(answer.status_code, answer.headers.get("Location", "-"))
answer = client.post("/language/", {"language": "en"}, headers={"X-Forwarded-Proto": "https"})
print(answer.status_code, answer.headers["Strict-Transport-Security"])
print(answer.cookies["django_language"].OutputString())
"""


def run(*arguments: str) -> str:
    ended = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**os.environ, **PRODUCTION, "DJANGO_SETTINGS_MODULE": "schedviz.settings"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout + ended.stderr


def test_django_s_check_finds_nothing() -> None:
    found = run("manage.py", "check", "--deploy", "--fail-level", "WARNING")
    assert re.fullmatch(r"System check identified no issues \(\d silenced\)\.\n", found)


def test_pages_are_redirected_to_https_but_for_health_checks_and_cookies_are_secure() -> None:
    redirected, healthy, https, cookie = run("-c", ASK).splitlines()
    assert redirected == "301 https://schedviz.example.com/ideas/"
    assert healthy == "200 -"
    assert https == "302 max-age=2592000"
    assert "Secure" in cookie


def test_without_https_nothing_of_it_is_on() -> None:
    assert not settings.SECURE_SSL_REDIRECT
    assert not settings.CSRF_COOKIE_SECURE
    assert settings.SECURE_PROXY_SSL_HEADER is None


@pytest.mark.parametrize("path", ["/ideas/", "/none/"])
def test_each_page_says_what_a_browser_may_do_with_it(client: Client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["Content-Security-Policy"] == CONTENT_SECURITY_POLICY
    assert "camera=()" in headers["Permissions-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "DENY"

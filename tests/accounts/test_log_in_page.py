"""Log in and out on the page."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from schedviz.up.embedded_redis import free_port
from schedviz.up.programs import SERVER
from tests.browser.test_accessibility import Violations
from tests.processes import ROOT, Process, answers
from tests.waiting import PATIENCE, eventually

pytestmark = [pytest.mark.browser, pytest.mark.long]
PASSWORD = "a good pass phrase"


@pytest.fixture
def accounts_server(redis_url: str, tmp_path: Path) -> Iterator[str]:
    """A real server with accounts, and the account ada."""
    environment = {"ACCOUNTS": "1", "SECRET_KEY": "x" * 50, "DATA_DIR": str(tmp_path)}
    for command in (["migrate_accounts"], ["createsuperuser", "--noinput", "--username=ada", "--email="]):
        subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env={**os.environ, **environment, "DJANGO_SUPERUSER_PASSWORD": PASSWORD},
            check=True,
            capture_output=True,
        )
    port = free_port()
    process = Process(["-m", SERVER, f"--port={port}"], tmp_path / "log", environment)
    url = f"http://127.0.0.1:{port}"
    eventually(lambda: process.alive() and answers(f"{url}/healthz"), "the server answers")
    yield url
    process.stop()


def test_log_in_and_log_out_on_the_page(browser: Browser, accounts_server: str) -> None:
    context = browser.new_context(base_url=accounts_server, locale="en")
    context.set_default_timeout(PATIENCE * 1000)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda each: said.append(each.text))
    violations = Violations(page)
    page.goto("/account/password/")
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    violations.look("log in")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("alert")).to_contain_text("correct username and password")
    violations.look("a wrong password")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Change the password")).to_be_visible()
    violations.look("change the password")
    page.goto("/")
    violations.look("home")
    page.get_by_role("button", name="Create", exact=True).click()
    page.wait_for_url("**/s/**")
    other = context.new_page()
    other.goto("/account/")
    others = Violations(other)
    others.look("account")
    other.get_by_role("link", name="Manage the accounts").click()
    expect(other.get_by_role("link", name="Users")).to_be_visible()
    other.goto("/account/")
    other.get_by_role("button", name="Log out").click()
    # The server closed the sandbox's page, and the browser requested it again.
    expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()
    page.get_by_role("link", name="Log in").last.click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    assert violations.found + others.found == []
    assert not [each for each in said if "Content Security Policy" in each]
    context.close()

"""What operators do with accounts."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from schedviz.operate.doctor.account_checks import check_accounts
from schedviz.store import Meta, Store
from tests.processes import ROOT

from .conftest import logged_in, new_client

PRODUCTION = {
    "HTTPS": "1",
    "PROXY_SSL_HEADER": "X-Forwarded-Proto",
    "SECRET_KEY": "0123456789abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRST",
    "ALLOWED_HOSTS": "schedviz.example.com",
}


def run(*arguments: str, **settings: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**os.environ, "ACCOUNTS": "1", "DATABASE_URL": "", **settings},
        capture_output=True,
        text=True,
        check=False,
    )


def test_django_s_check_finds_nothing(tmp_path: Path) -> None:
    found = run("check", "--deploy", "--fail-level", "WARNING", DATA_DIR=str(tmp_path), **PRODUCTION)
    assert found.returncode == 0, found.stderr
    assert "no issues" in found.stdout


def test_the_database_is_made_and_migrated(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    for _ in range(2):
        assert run("migrate_accounts", DATA_DIR=str(directory)).returncode == 0
    assert (directory / "accounts.sqlite3").exists()
    assert run("migrate_accounts", ACCOUNTS="0", DATA_DIR=str(tmp_path / "none")).returncode == 0
    assert not (tmp_path / "none").exists()


def test_the_models_have_their_migrations() -> None:
    assert run("makemigrations", "--check", "--dry-run").returncode == 0


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"DATABASE_URL": "nothing"}, "DATABASE_URL must be postgres://"),
        ({"DATABASE_URL": "postgres://u:secret@127.0.0.1:1/x"}, "the database of accounts does not serve"),
        ({"ACCESS": "open"}, "ACCESS must be owners where ACCOUNTS is 1"),
        ({"OIDC_ISSUER": "https://id.example.com"}, "OIDC_ISSUER needs OIDC_CLIENT_ID"),
    ],
)
def test_a_wrong_setting_gets_one_error_line(settings: dict[str, str], words: str) -> None:
    ended = run("migrate_accounts", **settings)
    assert ended.returncode == 1
    assert words in ended.stderr
    assert "secret" not in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.django_db(transaction=True)
def test_without_the_database_sessions_are_answered_with_503(
    make_user: Callable[..., object], store: Store, sandbox_name: str
) -> None:
    make_user("ada")
    client, guest = logged_in("ada"), new_client()
    store.create(Meta(sandbox_name))
    pods = f"/s/{sandbox_name}/api/v1/pods"

    def fail(*_: object) -> None:
        raise OperationalError("away")

    with connection.execute_wrapper(fail):
        for path in ("/", "/account/", pods):
            assert client.get(path).status_code == 503
        assert "does not answer" in client.get("/").content.decode()
        assert guest.get(pods).status_code == guest.get("/").status_code == 200
        assert guest.post("/account/log-in/", {"username": "ada", "password": "x"}).status_code == 503
    assert client.get("/account/").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_the_doctor_looks_at_the_database(make_user: Callable[..., object]) -> None:
    (finding,) = check_accounts()
    assert finding.problem == "there is no administrator"
    make_user("root", "administrator")
    assert check_accounts() == []
    recorder = MigrationRecorder(connection)
    recorder.record_unapplied("accounts", "0001_accounts")
    try:
        (finding,) = check_accounts()
        assert "lacks 1 migrations" in finding.problem
    finally:
        recorder.record_applied("accounts", "0001_accounts")

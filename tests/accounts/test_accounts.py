"""Accounts are a setting: their tests run in a process that has it on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ROOT

CASES = Path(__file__).parent / "cases"


@pytest.mark.long
def test_all_cases_with_accounts(tmp_path: Path) -> None:
    """What is in cases/, which is collected with ACCOUNTS=1 only. To run one by itself:
    ``ACCOUNTS=1 SECRET_KEY=x pytest tests/accounts/cases``."""
    inherited = {
        name: text for name, text in os.environ.items() if not name.startswith(("PYTEST_", "DJANGO_"))
    }
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", str(CASES)],
        cwd=ROOT,
        env={**inherited, "ACCOUNTS": "1", "SECRET_KEY": "x" * 50, "DATA_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_without_the_setting_nothing_of_accounts_is_loaded(redis_url: str) -> None:
    program = (
        "import sys, schedviz.asgi as asgi\n"
        "loaded = [name for name in sys.modules if name.startswith(('schedviz.accounts', 'authlib',"
        " 'dj_database_url', 'django.contrib.auth.models', 'django.contrib.sessions', 'psycopg'))]\n"
        "print(loaded, asgi.settings.DATABASES)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={name: text for name, text in os.environ.items() if name != "ACCOUNTS"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == "[] {}\n"

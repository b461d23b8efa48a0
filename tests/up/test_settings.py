"""Settings: documented, and wrong values end the process with one line."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from schedviz import environment, settings
from schedviz.cores import count_cores
from schedviz.local_names import is_local
from schedviz.up.programs import web_programs
from tests.processes import ROOT
from tests.waiting import PATIENCE


def test_every_setting_is_documented_with_its_default() -> None:
    assert settings.PORT  # read them all
    text = (ROOT / "docs/SETTINGS.md").read_text()
    documented = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \| [^|]+ \|$", text, re.MULTILINE))
    assert documented.keys() == environment.KNOWN.keys()
    for name, default in environment.KNOWN.items():
        if default:
            assert documented[name].strip("`") == default


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"PORT": "http"}, "PORT must be a number from 1 to 65535, not 'http'"),
        ({"PORT": "0"}, "PORT must be a number from 1 to 65535, not '0'"),
        ({"PORT": "65536"}, "PORT must be a number from 1 to 65535, not '65536'"),
        ({"PORT": "-1"}, "PORT must be a number from 1 to 65535, not '-1'"),
        ({"PORT": "٣"}, "PORT must be a number from 1 to 65535, not '٣'"),
        ({"WORKERS": "1.5"}, "WORKERS must be a number from 1 to 64, not '1.5'"),
        ({"DATA_DIR": "somewhere"}, "DATA_DIR must be an absolute path, not 'somewhere'"),
        ({"LOG_FORMAT": "xml"}, "LOG_FORMAT must be text or json, not 'xml'"),
        (
            {"CSRF_TRUSTED_ORIGINS": "b.example"},
            "CSRF_TRUSTED_ORIGINS must be origins such as https://schedviz.example.com, not 'b.example'",
        ),
        (
            {"SECRET_KEY": "short"},
            "SECRET_KEY has 5 characters and can be guessed: set 32 random characters or more",
        ),
        (
            {"METRICS_TOKEN": "short"},
            "METRICS_TOKEN has 5 characters and can be guessed: set 16 random characters or more",
        ),
        (
            {"DATABASE_URL": "mysql://root:secret@localhost/schedviz"},
            "DATABASE_URL must be postgres://USER:PASSWORD@HOST/NAME or sqlite:////PATH",
        ),
        (
            {"MAX_SANDBOX": "5"},
            "there is no setting MAX_SANDBOX: MAX_SANDBOXES is one (docs/SETTINGS.md)",
        ),
    ],
)
def test_a_wrong_value_ends_the_process_with_one_line(given: dict[str, str], line: str) -> None:
    ended = subprocess.run(
        [sys.executable, "manage.py", "up"],
        cwd=ROOT,
        env={**os.environ, **given},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", f"schedviz: {line}\n")


def test_an_empty_value_counts_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "")
    assert environment.number("PORT", 8000, 1, 65535) == 8000
    assert not environment.given("PORT")


@pytest.mark.parametrize(
    ("given", "access"),
    [
        ({}, "open"),
        ({"HOST": "localhost", "ALLOWED_HOSTS": "sandbox.localhost,[::1]"}, "open"),
        ({"HOST": "0.0.0.0"}, "owners"),
        # A proxy on this machine lets others in.
        ({"ALLOWED_HOSTS": "localhost,schedviz.example.com"}, "owners"),
        ({"ALLOWED_HOSTS": "*"}, "owners"),
        ({"ALLOWED_HOSTS": "*", "ACCESS": "open"}, "open"),
    ],
)
def test_open_mode_is_allowed_only_without_other_allowed_hosts(given: dict[str, str], access: str) -> None:
    assert read_settings("settings.ACCESS", given) == access


@pytest.mark.parametrize(
    ("given", "most"),
    [
        ({}, "0"),
        ({"MAX_REQUESTS_PER_SECOND_PER_OWNER": "7"}, "7"),
        ({"ACCESS": "owners"}, "50"),
        ({"HOST": "0.0.0.0", "ACCESS": "open"}, "50"),
    ],
)
def test_the_only_user_of_a_machine_has_no_limited_rate(given: dict[str, str], most: str) -> None:
    assert read_settings("settings.LIMITS['MAX_REQUESTS_PER_SECOND_PER_OWNER']", given) == most


def read_settings(what: str, given: dict[str, str]) -> str:
    """What the settings are in a process with these variables."""
    plain = {
        name: text for name, text in os.environ.items() if name not in ("HOST", "ALLOWED_HOSTS", "ACCESS")
    }
    answer = subprocess.run(
        [sys.executable, "-c", f"from schedviz import settings; print({what})"],
        cwd=ROOT,
        env={**plain, **given},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    return answer.stdout.strip()


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("localhost", True),
        ("localhost:8000", True),
        ("127.0.0.1:8000", True),
        ("::1", True),
        ("[::1]", True),
        ("[::1]:8000", True),
        ("demo.localhost:8000", True),
        ("0.0.0.0", False),
        ("fe80::1", False),
        ("localhost.example.com", False),
        ("*", False),
        ("", False),
    ],
)
def test_names_of_the_machine_itself(host: str, local: bool) -> None:
    assert is_local(host) == local


def test_the_cores_of_a_container_are_those_of_its_quota(tmp_path: Path) -> None:
    quota, bound = tmp_path / "cpu.max", count_cores(tmp_path / "none")
    for text, cores in (("max 100000\n", bound), ("50000 100000\n", 1), ("100000 100000\n", 1), ("", bound)):
        quota.write_text(text)
        assert count_cores(quota) == cores
    quota.write_text("100000000 100000")
    assert count_cores(quota) == bound


def test_one_process_of_the_web_server_has_its_port_alone() -> None:
    [one] = web_programs("127.0.0.1", 8000, 1)
    assert (one.name, one.command[-1]) == ("web", "--port=8000")
    two = web_programs("127.0.0.1", 8000, 2)
    assert [(each.name, each.command[-1]) for each in two] == [
        ("web-1", "--shares-port"),
        ("web-2", "--shares-port"),
    ]

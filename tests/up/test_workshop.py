"""What ``manage.py workshop`` finds out, and shows."""

import subprocess
import sys

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from schedviz import __version__, machine_names
from schedviz.machine_names import find_addresses
from schedviz.operate.other_devices import NoteOtherDevices, find_other_device, forget_other_devices
from schedviz.store import Store
from schedviz.up.announcement import host_for_browsers, terminal_code
from tests.processes import ROOT

LOOPBACK = ["127.0.0.1", "localhost", "[::1]"]


@pytest.mark.parametrize(
    ("host", "allowed", "shown"),
    [
        ("127.0.0.1", LOOPBACK, "127.0.0.1"),
        ("::1", LOOPBACK, "[::1]"),
        ("0.0.0.0", LOOPBACK, "localhost"),
        ("0.0.0.0", ["*"], "localhost"),
        ("0.0.0.0", [*LOOPBACK, "teach.example"], "teach.example"),
        ("0.0.0.0", [".teach.example", "192.168.1.20"], "192.168.1.20"),
        ("10.1.2.3", ["teach.example"], "teach.example"),
        ("10.1.2.3", [".teach.example"], "10.1.2.3"),
    ],
)
def test_the_address_that_is_shown_is_one_that_the_server_accepts(
    host: str, allowed: list[str], shown: str
) -> None:
    assert host_for_browsers(host, allowed) == shown


def test_only_addresses_that_others_reach_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any(address.startswith("127.") for address in find_addresses())
    monkeypatch.setattr(machine_names, "NETWORKS", ("127.0.0.2",))
    assert find_addresses() == []


def test_the_first_device_that_is_not_this_machine_is_noted(store: Store) -> None:
    forget_other_devices(store.redis)
    middleware = NoteOtherDevices(lambda request: HttpResponse())
    for address in ("127.0.0.1", *find_addresses()):
        middleware(RequestFactory(REMOTE_ADDR=address).get("/"))
    assert find_other_device(store.redis) == ""
    for address in ("203.0.113.7", "203.0.113.8"):
        middleware(RequestFactory(REMOTE_ADDR=address).get("/"))
    assert find_other_device(store.redis) == "203.0.113.7"
    forget_other_devices(store.redis)


def test_the_code_of_the_terminal_is_a_picture_of_equal_lines() -> None:
    lines = terminal_code("http://192.168.1.20:8000/rooms/").splitlines()
    assert len({len(line) for line in lines}) == 1
    assert len(lines) > 10


def test_help_and_version_are_those_of_schedviz() -> None:
    def run(*words: str) -> str:
        command = [sys.executable, "-m", "schedviz", *words]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    assert run("--version") == run("version") == f"schedviz {__version__}\n"
    shown = run("--help")
    assert "  workshop " in shown
    assert "runserver" not in shown

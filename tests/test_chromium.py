"""``make test`` installs the Chromium that it needs, or says why it cannot."""

import os
from pathlib import Path

import pytest

from tests import chromium


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only directory with programs, and for root: none is there yet."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return tmp_path


def program(path: Path, *lines: str) -> None:
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    path.chmod(0o755)


def refusal(capsys: pytest.CaptureFixture[str]) -> str:
    assert chromium.main() == 1
    [line] = capsys.readouterr().err.splitlines()
    assert "apt-get install chromium" in line
    assert "make test-without-browser" in line
    return line


def test_a_chromium_that_is_there_is_taken(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program(programs / "google-chrome")
    assert chromium.main() == 0
    assert capsys.readouterr() == ("", "")
    assert chromium.find() == str(programs / "google-chrome")


def test_chromium_is_installed_if_there_is_none(programs: Path) -> None:
    said = programs / "said"
    program(
        programs / "apt-get",
        f'echo "$*" >> {said}',
        f'[ "$1" = update ] || {{ echo > {programs}/chromium; /bin/chmod +x {programs}/chromium; }}',
    )
    assert chromium.main() == 0
    assert chromium.find() == str(programs / "chromium")
    assert said.read_text().splitlines() == ["update -qq", "install -qq -y --no-install-recommends chromium"]


def test_without_apt_get_it_says_what_to_do(programs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "apt-get, which would install it, is not found" in refusal(capsys)


def test_a_user_other_than_root_gets_a_message(
    programs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program(programs / "apt-get", "exit 1")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "only root may install it" in refusal(capsys)


def test_a_failed_installation_shows_the_message_of_apt_get(
    programs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(programs / "apt-get", "echo 'E: Unable to fetch some archives' >&2", "exit 100")
    assert "apt-get update failed: E: Unable to fetch some archives" in refusal(capsys)

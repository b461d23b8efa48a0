"""Runs ``kubectl schedviz`` in this process."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from schedviz.kubectl_plugin.__main__ import run
from tests.kubectl_plugin.api_server import ApiServer, serving, write_kubeconfig
from tests.kubectl_plugin.small_cluster import small_cluster


class Printed(NamedTuple):
    status: int
    out: str
    err: str


Ask = Callable[..., Printed]


@pytest.fixture
def api_server() -> Iterator[ApiServer]:
    with serving(small_cluster()) as server:
        yield server


@pytest.fixture
def ask(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Return what a command prints. Without a kubeconfig of its own it gets that of ``server``."""
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))

    def ask(*arguments: str, server: ApiServer | None = None) -> Printed:
        given = [*arguments]
        if server is not None:
            given += ["--kubeconfig", str(write_kubeconfig(tmp_path / "kubeconfig", server.address))]
        return Printed(run(given), *capsys.readouterr())

    return ask

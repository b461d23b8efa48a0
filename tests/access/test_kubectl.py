"""kubectl with the kubeconfig of a link: what its right allows, and when the link is withdrawn."""

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.test import Client, override_settings

from schedviz.access.identity import COOKIE
from schedviz.access.links import withdraw_link
from schedviz.access.record import digest_of, owned_by, read_record
from schedviz.store import Clock, Meta, Sandbox, Store
from simulator.api import SECOND
from simulator.apiserver.new_cluster import new_cluster
from tests.access.conftest import identity_cookie
from tests.kubectl.transcript import FOLDER, Shell, difference, read_transcript

CREATED = 1_700_000_000
OWNER = "the owner"


@pytest.fixture
def owned(store: Store, sandbox_name: str) -> Sandbox:
    """A sandbox with an owner, whose time stands still."""
    clock = Clock(sim=CREATED * SECOND, wall=CREATED, paused=True)
    meta = Meta(name=sandbox_name, created=CREATED)
    access = owned_by(digest_of(OWNER))
    return store.create(meta, new_cluster([], clock.sim), clock, access=access)


def download(sandbox: Sandbox, server: str, right: str) -> str:
    """The kubeconfig that the owner downloads from the page."""
    with override_settings(ACCESS="owners"):
        browser = Client(headers={"Host": urlsplit(server).netloc})
        browser.cookies[COOKIE] = identity_cookie(OWNER)[COOKIE]
        return browser.post(f"/s/{sandbox.name}/share/kubeconfig/", {"right": right}).content.decode()


def test_a_kubeconfig_allows_what_its_link_allows(owned: Sandbox, owners_server: str, tmp_path: Path) -> None:
    wrong = []
    for section in read_transcript(FOLDER / "rights.txt"):
        home = tmp_path / section.name
        home.mkdir()
        shell = Shell(home, download(owned, owners_server, section.name))
        wrong += [difference(step, shell.run(step.command)) for step in section.steps]
    assert not any(wrong), "\n".join(wrong)
    for link in read_record(owned.access() or "").links:
        withdraw_link(owned, link.id)
    assert "You must be logged in to the server" in shell.run("kubectl get configmap made")

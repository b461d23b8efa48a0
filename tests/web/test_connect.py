"""The page that connects clusters: what it offers, whom it lets, and what it shows."""

import re
from http import HTTPStatus

import pytest
from django.test import Client, override_settings
from django.utils.translation import override

from schedviz.access.record import digest_of, owned_by
from schedviz.store import Meta, Sandbox, Store
from schedviz.store.connected_mirrors import (
    MIRRORS_AT_MOST,
    OFFERED,
    ConnectedMirror,
    ConnectedMirrors,
    MirrorProgress,
    OfferedContexts,
)
from schedviz.store.model import Mirrored
from schedviz.web.text.mirror_trouble import SENTENCES, say_trouble
from tests.access.conftest import new_client

EKS = "arn:aws:eks:eu-west-1:123:cluster/prod"

VALUES = {
    **dict.fromkeys(
        ["said", "context", "path", "file", "contexts", "plugin", "status", "field", "user", "cluster"],
        "what was said",
    ),
    "server": "https://10.0.0.1:6443",
    "n": "3",
    "seconds": "0.2",
    "resources": "pods",
    "name": "prod",
    "trouble": "https://a: no answer within 5 s",
}


@pytest.fixture
def mirrors(mirrors: ConnectedMirrors) -> ConnectedMirrors:
    assert mirrors.offer("keeper", OfferedContexts([EKS, "kind-dev"], EKS))
    return mirrors


@pytest.fixture
def client() -> Client:
    return new_client()


def connect(client: Client, context: str = EKS, name: str = "", namespaces: str = "") -> str:
    """Return where the page leads, or its text."""
    answer = client.post("/connect/", {"context": context, "name": name, "namespaces": namespaces})
    if answer.status_code == HTTPStatus.FOUND:
        return answer.headers["Location"]
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    return answer.content.decode()


def test_the_start_page_and_the_import_page_lead_to_it_where_contexts_are_offered(
    client: Client, mirrors: ConnectedMirrors, store: Store
) -> None:
    for page in ("/", "/bring/"):
        assert 'href="/connect/"' in client.get(page).content.decode()
    page = client.get("/connect/").content.decode()
    assert page.index(f'value="{EKS}" required checked') < page.index('value="kind-dev" required')
    assert page.count("current context") == 1
    store.redis.delete(OFFERED)
    for page in ("/", "/bring/"):
        assert 'href="/connect/"' not in client.get(page).content.decode()
    page = client.get("/connect/").content.decode()
    assert "MIRROR_CONTEXTS" in page
    assert "schedviz mirror" in page
    mirrors.offer("keeper", OfferedContexts(fault="kubeconfig ~/.kube/config: no such file"))
    assert "kubeconfig ~/.kube/config: no such file" in client.get("/connect/").content.decode()


def test_it_shows_how_it_goes_and_leads_to_the_mirror(client: Client, mirrors: ConnectedMirrors) -> None:
    page = connect(client)
    name = "arn-aws-eks-eu-west-1-123-cluster-prod"
    assert page == f"/connect/{name}/"
    assert mirrors.wanted()[name].context == EKS
    for progress, text in (
        (MirrorProgress(), "Reading the kubeconfig, and asking the API server for its version."),
        (MirrorProgress("reading", "services", 40), "Reading services: 40"),
        (MirrorProgress("reading", "pods", 3120, 10_000), "Reading pods: 3\u202f120 of about 10\u202f000"),
        (MirrorProgress("ended", message="https://a:1: no answer within 30 s"), "no answer within 30 s"),
    ):
        mirrors.note(name, progress)
        shown = client.get(page).content.decode()
        assert " ".join(text.split()) in " ".join(shown.split())
        assert ("Try again" in shown) == (progress.phase == "ended")
        assert ('value="31"' in shown) == (progress.total > 0)
    mirrors.note(name, MirrorProgress("following", has_followed=True))
    assert client.get(page).headers["Location"] == f"/s/{name}/"
    assert client.get(page, headers={"HX-Request": "true"}).headers["HX-Redirect"] == f"/s/{name}/"
    assert client.post(f"{page}disconnect/").headers["Location"] == "/connect/"
    assert mirrors.wanted() == {}
    mirrors.note(name, MirrorProgress("following"))
    assert mirrors.progress(name) == MirrorProgress(), "a process that ends later leaves nothing"
    assert client.get(page).status_code == HTTPStatus.NOT_FOUND


def test_its_buttons_are_loaded_again_only_when_they_change(
    client: Client, mirrors: ConnectedMirrors
) -> None:
    page = connect(client, "kind-dev")

    def polled() -> tuple[str, str]:
        """Return the address that the shown page asks, and what htmx swaps of the answer."""
        shown = client.get(page).content.decode()
        part = shown[shown.index('id="progress"') : shown.index("<footer")]
        found = re.search(r'hx-get="(.+?)".+ hx-select="(.+?)"', part)
        assert found
        return found[1], found[2]

    def swapped() -> str | None:
        """Return what the answer says to swap instead."""
        return client.get(address, headers={"HX-Request": "true"}).headers.get("HX-Reselect")

    address, part = polled()
    assert part == "#progress > [hx-get]"
    mirrors.note("kind-dev", MirrorProgress("reading", "pods", 3))
    assert swapped() is None
    mirrors.note("kind-dev", MirrorProgress("ended", message="https://a:1: no answer within 30 s"))
    assert swapped() == "#progress", "with the button to try again"
    address, part = polled()
    assert swapped() is None
    mirrors.note("kind-dev", MirrorProgress())
    assert swapped() == "#progress"


def test_what_cannot_be_connected_is_said(
    client: Client, mirrors: ConnectedMirrors, sandbox: Sandbox
) -> None:
    assert "There is no context “prod” to connect." in connect(client, "prod")
    assert "at most 63" in connect(client, EKS, "Prod EU")
    assert f"There is a sandbox “{sandbox.name}” already" in connect(client, EKS, sandbox.name)
    for number in range(MIRRORS_AT_MOST):
        mirrors.connect(ConnectedMirror(f"m{number}", EKS, float(number)))
    assert f"There are {MIRRORS_AT_MOST} connected clusters" in connect(client, EKS, "another")
    assert connect(client, EKS, "m0") == "/connect/m0/", "again"
    assert len(mirrors.wanted()) == MIRRORS_AT_MOST


def test_single_namespaces_are_kept_for_the_next_try_and_wrong_ones_are_said_at_the_field(
    client: Client, mirrors: ConnectedMirrors
) -> None:
    for given, message in (
        ("shop, Bank", "“Bank” is no name of a namespace."),
        (",".join(f"n{each}" for each in range(11)), "At most 10 namespaces can be followed, not 11."),
    ):
        page = connect(client, "kind-dev", namespaces=given)
        assert f'id="namespaces-error" role="alert">{message}' in page
        assert f'value="{given}" aria-invalid="true" aria-describedby="namespaces-error"' in page
    assert mirrors.wanted() == {}
    page = connect(client, "kind-dev", namespaces=" shop, bank,shop,")
    assert mirrors.wanted()["kind-dev"].namespaces == ("shop", "bank")
    mirrors.note("kind-dev", MirrorProgress("ended", message="https://a:1: no answer within 30 s"))
    assert 'name="namespaces" value="shop,bank"' in client.get(page).content.decode()


def test_a_mirror_can_be_disconnected_and_connected_again_on_its_page(
    client: Client, mirrors: ConnectedMirrors, store: Store, sandbox_name: str
) -> None:
    real = Mirrored(EKS, "https://10.0.0.1:6443", "v1.36.2", namespaces=["shop", "bank"])
    store.create(Meta(sandbox_name, created=1_700_000_000.0, stands_down=True, mirror=real))
    page = client.get(f"/s/{sandbox_name}/").content.decode()
    assert (
        f'href="/connect/?context=arn%3Aaws%3Aeks%3Aeu-west-1%3A123%3Acluster%2Fprod&amp;name={sandbox_name}'
        '&amp;namespaces=shop%2Cbank"' in page
    )
    assert connect(client, EKS, sandbox_name) == f"/connect/{sandbox_name}/"
    page = client.get(f"/s/{sandbox_name}/").content.decode()
    assert f'action="/connect/{sandbox_name}/disconnect/"' in page
    answer = client.post(f"/connect/{sandbox_name}/disconnect/")
    assert answer.headers["Location"] == f"/s/{sandbox_name}/"


def test_another_visitors_mirror_is_neither_shown_nor_ended(
    client: Client, mirrors: ConnectedMirrors
) -> None:
    with override_settings(ACCESS="owners"):
        mirrors.connect(ConnectedMirror("prod", EKS, 1.0, owned_by(digest_of("another"))))
        assert "h-connected" not in client.get("/connect/").content.decode()
        assert client.get("/connect/prod/").status_code == HTTPStatus.NOT_FOUND
        assert client.post("/connect/prod/disconnect/").status_code == HTTPStatus.NOT_FOUND
        assert "choose another name" in connect(client, EKS, "prod")
        assert connect(client, EKS, "mine") == "/connect/mine/"
        assert client.get("/connect/mine/").status_code == HTTPStatus.OK
        assert [*mirrors.wanted()] == ["prod", "mine"]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_each_line_of_a_mirroring_process_is_known_by_its_sentence(sentence: str) -> None:
    line = sentence % VALUES
    assert say_trouble(line) == (line, False)


def test_a_line_is_said_in_the_language_of_the_page() -> None:
    with override("de"):
        said = say_trouble("pods: https://10.0.0.1:6443: no answer within 30 s (and 2 more resources)")
        assert "Antwort" in said.text
        assert "answer" not in said.text
        assert say_trouble("Something new") == ("Something new", True)

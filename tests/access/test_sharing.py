"""The page on which an owner shares a sandbox, and what its links give."""

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
import yaml
from django.conf import settings
from django.test import Client, override_settings
from kubernetes import client as kubernetes
from kubernetes import config as kubernetes_config

from schedviz.access.links import TooManyLinks, make_link, withdraw_link
from schedviz.access.record import LABEL_AT_MOST, LINKS_AT_MOST, digest_of, owned_by, read_record
from schedviz.access.visitor import SHARED_AT_MOST, SHARED_COOKIE, find_visitor, read_shared, with_shared
from schedviz.api import write
from schedviz.loop.clock import pause
from schedviz.store import Commit, Meta, Store
from schedviz.store.model import Failure
from schedviz.web.share.kubeconfig import kubeconfig
from tests.web.samples import lane
from tests.web.test_predict_hold import pod

from .conftest import Scene, identity_cookie, new_client

HTMX = {"HX-Request": "true"}


def share(scene: Scene, **data: str) -> str:
    answer = scene.clients["owner"].post(f"/s/{scene.own}/share/", data, headers=HTMX)
    assert answer.status_code == 200
    return answer.content.decode()


def link_in(page: str) -> str:
    found = re.search(r'id="made-link"[^>]*>([^<]+)</pre>', page)
    assert found
    return urlsplit(found[1]).path


@pytest.mark.parametrize(("right", "clock"), [("view", 403), ("edit", 302)])
def test_a_link_gives_its_right_until_it_is_withdrawn(scene: Scene, right: str, clock: int) -> None:
    page = share(scene, do="make", right=right, label="  for\n Cy ")
    path = link_in(page)
    assert "for Cy" in page
    assert path.split("/")[3] not in share(scene)
    guest = new_client()
    assert guest.get(f"/s/{scene.own}/").status_code == 403
    opened = guest.get(path)
    assert (opened.status_code, opened.headers["Location"]) == (302, f"/s/{scene.own}/")
    assert (opened.headers["Referrer-Policy"], opened.headers["Cache-Control"]) == ("no-referrer", "no-store")
    cookie = opened.cookies[SHARED_COOKIE]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    assert guest.get(f"/s/{scene.own}/").status_code == 200
    assert guest.post(f"/s/{scene.own}/clock/", {"do": "pause"}).status_code == clock
    assert guest.post(f"/s/{scene.own}/delete/").status_code == 403
    assert guest.get(f"/s/{scene.own}/share/").status_code == 403
    record = read_record(Store(settings.REDIS_URL).handle(scene.own).access() or "")
    (link,) = (each for each in record.links if each.label == "for Cy")
    share(scene, do="withdraw", link=link.id)
    assert guest.get(f"/s/{scene.own}/").status_code == 403
    assert guest.get(f"/s/{scene.own}/api/v1/pods").status_code == 401
    withdrawn = new_client().get(path)
    assert withdrawn.status_code == 403
    assert "This link was withdrawn" in withdrawn.content.decode()
    assert SHARED_COOKIE not in withdrawn.cookies


def test_a_link_to_view_does_not_reduce_the_right_to_edit(scene: Scene) -> None:
    editor = scene.clients["editor"]
    editor.get(link_in(share(scene, do="make", right="view")))
    assert editor.post(f"/s/{scene.own}/clock/", {"do": "pause"}).status_code == 302
    viewer = scene.clients["viewer"]
    viewer.get(link_in(share(scene, do="make", right="edit")))
    assert viewer.post(f"/s/{scene.own}/clock/", {"do": "pause"}).status_code == 302


def test_a_sandbox_has_a_bounded_number_of_links(scene: Scene, store: Store) -> None:
    sandbox = store.sandbox(scene.own)
    for _ in range(LINKS_AT_MOST - 2):
        make_link(sandbox, "view", "x" * 1000)
    record = read_record(sandbox.access() or "")
    assert {len(each.label) for each in record.links} == {0, len("for Bo"), LABEL_AT_MOST}
    with pytest.raises(TooManyLinks):
        make_link(sandbox, "view", "")
    answer = scene.clients["owner"].post(f"/s/{scene.own}/share/", {"do": "make"}, headers=HTMX)
    assert f"at most {LINKS_AT_MOST} links" in answer.content.decode()
    assert scene.clients["owner"].post(f"/s/{scene.own}/share/kubeconfig/").status_code == 422
    withdraw_link(sandbox, "no such link")
    assert read_record(sandbox.access() or "") == record


def test_the_store_has_no_token(scene: Scene, store: Store) -> None:
    access = store.handle(scene.own).access() or ""
    for token in scene.tokens.values():
        assert token not in access
        assert digest_of(token) in access


def test_the_cookie_keeps_a_bounded_number_of_tokens() -> None:
    cookies: dict[str, str] = {}
    for number in range(SHARED_AT_MOST + 5):
        cookies[SHARED_COOKIE] = with_shared(cookies, f"sandbox-{number}" + "x" * 50, "t" * 32)
    found = read_shared(cookies)
    assert len(found) == SHARED_AT_MOST
    assert [*found][-1].startswith(f"sandbox-{SHARED_AT_MOST + 4}x")
    assert len(cookies[SHARED_COOKIE]) < 3_500
    for broken in ("", "a", "a:b", "a:" + "t" * 32 + ".." + "x" * 5000, "A:" + "t" * 32):
        assert set(read_shared({SHARED_COOKIE: broken})) <= {"a"}


def test_programs_send_the_token_in_a_header(scene: Scene) -> None:
    pods = f"/s/{scene.own}/api/v1/namespaces/default/pods"
    pod = {"metadata": {"generateName": "p-"}, "spec": {"containers": [{"name": "main", "image": "a"}]}}

    def codes(authorization: str) -> tuple[int, int]:
        program = Client(headers={"host": "localhost", "Authorization": authorization})
        return program.get(pods).status_code, program.post(pods, pod, "application/json").status_code

    assert codes(f"Bearer {scene.tokens['view']}") == (200, 403)
    assert codes(f"bearer  {scene.tokens['edit']}") == (200, 201)
    for wrong in ("Bearer wrong", "Basic wrong", "Basic", "Bearer", ""):
        assert codes(wrong) == (401, 401), wrong


def test_with_a_token_the_cookies_do_not_count(scene: Scene) -> None:
    owner = scene.clients["owner"]
    wrong = {"Authorization": "Bearer wrong"}
    assert owner.get(f"/s/{scene.own}/api/v1/pods").status_code == 200
    assert owner.get(f"/s/{scene.own}/api/v1/pods", headers=wrong).status_code == 401
    assert find_visitor(identity_cookie("the owner"), "Bearer wrong").owner == ""


def test_the_password_of_a_proxy_is_no_token(scene: Scene) -> None:
    """A browser sends it with each request to a server that a proxy protects by Basic authorization."""
    owner, pods = scene.clients["owner"], f"/s/{scene.own}/api/v1/pods"

    def basic(user: str, password: str) -> dict[str, str]:
        return {"Authorization": "Basic " + b64encode(f"{user}:{password}".encode()).decode()}

    assert owner.get(pods, headers=basic("alice", "of the proxy")).status_code == 200
    assert Client(headers={"host": "localhost"}).get(pods, headers=basic("alice", "x")).status_code == 401
    assert owner.get(pods, headers=basic("token", "wrong")).status_code == 401


def test_a_page_of_another_site_writes_nothing_with_the_owners_cookie(scene: Scene) -> None:
    pods = f"/s/{scene.own}/api/v1/namespaces/default/pods"
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        answer = scene.clients["owner"].post(pods, {}, "application/json", headers=headers)
        assert (answer.status_code, json.loads(answer.content)["message"]) == (
            403,
            "pages of other origins may not write to a sandbox",
        )


def test_a_viewer_sees_no_controls(scene: Scene) -> None:
    def page(who: str) -> str:
        return scene.clients[who].get(f"/s/{scene.own}/").content.decode()

    base = f"/s/{scene.own}/"
    for who in ("owner", "editor", "owner"):
        assert f'href="{base}new/pod/"' in page(who)
        assert "view-only" not in page(who)
        assert (f'href="{base}share/"' in page(who)) == (who == "owner")
    viewer = page("viewer")
    assert f'href="{base}share/"' not in viewer
    assert "View only" in viewer
    assert re.search(r'<body class="live\s+view-only', viewer)
    # The remaining controls are hidden by the class, as they are rendered once for all viewers.
    links = re.findall(rf'<a\b[^>]*href="{base}(?:new|edit|command|start-over)/[^>]*>', viewer)
    assert all("data-edit" in link or 'id="hint-do"' in link for link in links), links
    assert re.search(r'<aside\s+id="hint"\s+class="next"\s+data-edit', viewer)
    forms = re.findall(r"<(?:form|div)\b[^>]*(?:clock|relist)/[^>]*>", viewer)
    assert forms


def test_in_open_mode_the_page_says_that_everybody_may_change_it(store: Store, sandbox_name: str) -> None:
    sandbox, client = store.create(Meta(sandbox_name)), new_client()
    page = client.get(f"/s/{sandbox.name}/share/", headers=HTMX).content.decode()
    assert "Whoever reaches this server may open and change this sandbox." in page
    config = yaml.safe_load(client.post(f"/s/{sandbox.name}/share/kubeconfig/").content)
    assert config["users"][0]["user"] == {}
    assert config["clusters"][0]["cluster"]["server"] == f"http://localhost/s/{sandbox.name}"
    assert sandbox.access() == ""
    store.delete(sandbox.name)


def test_a_teacher_shares_a_sandbox_of_the_room(scene: Scene) -> None:
    with override_settings(ACCESS="open"):
        page = scene.clients["teacher"].post(
            f"/s/{scene.room}/share/", {"do": "make", "right": "view"}, headers=HTMX
        )
        guest = new_client()
        assert guest.get(link_in(page.content.decode())).status_code == 302
        assert guest.get(f"/s/{scene.room}/").status_code == 200
        assert guest.post(f"/s/{scene.room}/clock/", {"do": "pause"}).status_code == 403


@pytest.fixture
def kubeconfigs(
    owners_server: str, store: Store, sandbox_name: str, tmp_path: Path
) -> Iterator[dict[str, Path]]:
    """The downloaded files, by right."""
    sandbox = store.create(Meta(sandbox_name), access=owned_by(digest_of("the owner")))
    host = urlsplit(owners_server).netloc
    owner = new_client(**identity_cookie("the owner"))
    files = {}
    with override_settings(ACCESS="owners"):
        for right in ("view", "edit"):
            answer = owner.post(
                f"/s/{sandbox.name}/share/kubeconfig/", {"right": right}, headers={"host": host}
            )
            assert (
                answer.headers["Content-Disposition"] == f'attachment; filename="{sandbox.name}.kubeconfig"'
            )
            files[right] = tmp_path / f"{right}.kubeconfig"
            files[right].write_bytes(answer.content)
    yield files
    store.delete(sandbox.name)


def test_the_python_client_uses_the_kubeconfig(kubeconfigs: dict[str, Path]) -> None:
    pod = {"metadata": {"name": "web"}, "spec": {"containers": [{"name": "main", "image": "a"}]}}
    for right, path in kubeconfigs.items():
        core = kubernetes.CoreV1Api(kubernetes_config.new_client_from_config(str(path)))
        if right == "edit":
            assert core.create_namespaced_pod("default", pod).metadata.name == "web"
        else:
            with pytest.raises(kubernetes.ApiException) as refused:
                core.create_namespaced_pod("default", pod)
            assert refused.value.status == 403
            assert core.list_namespaced_pod("default").items == []


def test_kubectl_over_plain_http_sends_what_the_address_contains(kubeconfigs: dict[str, Path]) -> None:
    """It leaves out the token of ``users`` then. Go's net/http sends the address's user and password as Basic
    authorization."""
    for right, path in kubeconfigs.items():
        config = yaml.safe_load(path.read_text())
        (cluster,), (user,) = config["clusters"], config["users"]
        server = urlsplit(cluster["cluster"]["server"])
        assert (server.username, server.password) == ("token", user["user"]["token"])
        basic = b64encode(f"{server.username}:{server.password}".encode()).decode()
        request = Request(
            f"http://{server.hostname}:{server.port}{server.path}/api/v1/namespaces/default/pods",
            b"{}",
            {"Authorization": f"Basic {basic}", "Content-Type": "application/json"},
        )
        with pytest.raises(HTTPError) as answer, urlopen(request):
            pass
        assert answer.value.code == {"view": 403, "edit": 422}[right]
        answer.value.close()


def test_over_https_the_token_is_in_the_user_of_the_kubeconfig() -> None:
    config = yaml.safe_load(kubeconfig("demo", "https://example.com/s/demo", "secret"))
    assert config["clusters"][0]["cluster"]["server"] == "https://example.com/s/demo"
    assert config["users"][0]["user"]["token"] == "secret"
    (context,) = config["contexts"]
    assert context["name"] == config["current-context"]
    assert context["context"] == {
        "cluster": config["clusters"][0]["name"],
        "user": config["users"][0]["name"],
    }


def test_a_viewers_guess_is_counted_and_runs_no_step(scene: Scene, store: Store) -> None:
    sandbox, path = store.sandbox(scene.own), f"/s/{scene.own}/predict/"
    write.create(sandbox, [pod("a"), pod("b")])
    sandbox.commit(Commit(queue_places={f"default/{name}": lane(name, "activeQ", 5) for name in "ab"}))
    pause(sandbox)

    def guess(who: str) -> None:
        client = scene.clients[who]
        asked = client.get(path, headers=HTMX).context["view"].question.id
        data = {"do": "guess", "question": asked, "pick": "default/a"}
        answer = client.post(path, data, headers=HTMX)
        assert answer.status_code == 200
        assert answer.context["view"].guessed or who == "editor"

    guess("viewer")
    assert not sandbox.clock().steps
    guess("editor")
    assert sandbox.clock().steps


def test_no_cache_keeps_a_private_answer_for_another_visitor(scene: Scene) -> None:
    for path in ("/", f"/s/{scene.own}/", f"/s/{scene.own}/api/v1/pods", f"/s/{scene.own}/download/objects/"):
        answer = scene.clients["owner"].get(path)
        assert answer.status_code == 200, path
        assert answer.headers["Cache-Control"] == "private, no-store", path
        assert {"Cookie", "Authorization"} <= set(answer.headers["Vary"].split(", ")), path


def test_readyz_names_no_sandbox_to_strangers(scene: Scene) -> None:
    sandbox = Store(settings.REDIS_URL).handle(scene.own)
    sandbox.set_failure(Failure("ConfigError: Elsewhere", 1, 0.0, 1.0))
    text = new_client().get("/readyz").content.decode()
    assert scene.own not in text
    assert "[!]sandboxes failed: 1 stand still; manage.py doctor names them\n" in text

"""Every URL, as each kind of visitor, compared with one table."""

import json
import re
from typing import Final

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.test import RequestFactory, override_settings
from django.urls import URLResolver, get_resolver, resolve

from schedviz.access.asker import asker_of
from schedviz.access.record import digest_of, owned_by
from schedviz.access.rights import Right
from schedviz.routes import PUBLIC, Route, routes
from schedviz.store import Meta, Store
from schedviz.web.access import Access
from schedviz.web.home import views as home
from tests.amounts import ONE_OF, sample

from .conftest import Scene, identity_cookie, new_client
from .expected_routes import EXPECTED

VALUES = {
    "seq": "1", "number": "1", "table": "pods", "kind": "pod", "resource": "pods", "key": "default/web",
    "namespace": "default", "pod": "web", "group": "train", "node": "node-1", "action": "cordon",
    "token": "x" * 24, "path": "api/v1", "panel": "leader", "mirror": "filter",
}  # fmt: skip

API_PATHS: Final = {
    "api": "api/v1/pods",
    "api-version": "version",
    "api-health": "healthz",
    "openapi": "openapi/v3",
}
"""Paths for the URL patterns that are regular expressions."""

VISITORS: Final = {
    # who: the rights on the sandbox with an owner, and on that of the room
    "owner": ("VEO", ""),
    "editor": ("VE", ""),
    "viewer": ("V", ""),
    "another owner": ("", ""),
    "stranger": ("", ""),
    "teacher": ("", "VEOT"),
    "learner": ("", "VE"),
    "other learner": ("", ""),
}


def path_of(route: Route, sandbox: str, code: str) -> str:
    if api := API_PATHS.get(route.name):
        return f"/s/{sandbox}/{api}"
    # The key of a solution is a slug.
    values = {**VALUES, "key": "x" if route.path.startswith("solutions/") else VALUES["key"]}
    values |= {"name": sandbox if route.path.startswith(("s/", "api/sandboxes/")) else "filter", "code": code}
    return "/" + re.sub(r"<\w+:(\w+)>", lambda found: values[found[1]], route.path)


def request_of(client_cookies: object, method: str, path: str, data: dict[str, str]) -> HttpRequest:
    factory = RequestFactory(headers={"host": "localhost"})
    request = factory.get(path) if method == "GET" else factory.post(path, data)
    request.COOKIES = {name: each.value for name, each in client_cookies.items()}  # type: ignore[attr-defined]
    request.resolver_match = resolve(path)
    return request


def is_allowed(scene: Scene, who: str, method: str, path: str, **data: str) -> bool:
    request = request_of(scene.clients[who].cookies, method, path, data)
    match = request.resolver_match
    answer = Access(lambda _: None).process_view(request, None, match.args, match.kwargs)  # type: ignore[arg-type, union-attr]
    assert answer is None or answer.status_code in (401, 403)
    return answer is None


def test_every_url_is_a_route_of_its_own_name() -> None:
    groups = [each.url_patterns for each in get_resolver().url_patterns if isinstance(each, URLResolver)]
    patterns = [each for group in groups for each in group]
    assert sorted(each.name for each in patterns if isinstance(each, Route)) == sorted(EXPECTED)
    assert len(patterns) == len(EXPECTED)


def test_a_url_that_is_no_route_is_refused(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    known = {name: route for name, route in routes().items() if name != "home"}
    monkeypatch.setattr("schedviz.routes.routes", lambda: known)
    assert scene.clients["owner"].get("/").status_code == 403


@pytest.mark.parametrize(
    ("rights", "message"),
    [
        ({}, "the route x has neither read= nor write="),
        ({"write": PUBLIC}, "the route x has write=, and does not say changes="),
    ],
)
def test_a_route_says_what_its_requests_need_and_change(rights: dict[str, Right], message: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"^{message}$"):
        Route("x/", home.home, "x", **rights)  # type: ignore[arg-type]  # those of the parameters


@pytest.mark.parametrize("who", VISITORS)
@pytest.mark.parametrize("place", [0, 1], ids=["with an owner", "of a room"])
def test_each_visitor_may_do_what_the_table_says(scene: Scene, who: str, place: int) -> None:
    sandbox = (scene.own, scene.room)[place]
    rights = VISITORS[who][place]
    rooms = VISITORS[who][1]
    for name, route in routes().items():
        for method, needed in zip(("GET", "POST"), EXPECTED[name].rights, strict=True):
            path = path_of(route, sandbox, scene.code)
            allowed = needed == "-" or needed in (rooms if needed == "T" else rights)
            assert is_allowed(scene, who, method, path) == allowed, (method, path)


@pytest.mark.sampled
@pytest.mark.parametrize("who", VISITORS)
def test_the_server_refuses_visitors_without_the_right(scene: Scene, who: str) -> None:
    """The requests that the table refuses, through the whole server. Of a sample each visitor has others."""
    client = scene.clients[who]
    each, first = [*routes().items()], [*VISITORS].index(who) % ONE_OF
    for name, route in sample(each[first:] + each[:first]):
        path = path_of(route, scene.own, scene.code)
        for method, needed in zip(("get", "post"), EXPECTED[name].rights, strict=True):
            if needed not in "-T" and needed not in VISITORS[who][0]:
                status = getattr(client, method)(path).status_code
                assert status in (401, 403), (method, path)


@pytest.mark.parametrize("method", ["put", "patch", "delete", "options"])
def test_other_methods_of_the_api_need_the_right_to_edit(scene: Scene, method: str) -> None:
    path = f"/s/{scene.own}/api/v1/namespaces/default/pods/web"
    found = {who: getattr(client, method)(path).status_code for who, client in scene.clients.items()}
    nobody = 401
    assert found["viewer"] == (405 if method == "options" else 403)
    assert found["another owner"] == 403
    assert found["stranger"] == found["learner"] == nobody
    assert found["owner"] == found["editor"] != 403


def test_a_viewer_may_ask_and_not_apply(scene: Scene) -> None:
    what_if, predict = f"/s/{scene.own}/pods/default/web/whatif/", f"/s/{scene.own}/predict/"
    for do in ("ask", "stop", "branch"):
        assert is_allowed(scene, "viewer", "POST", what_if, do=do)
    assert not is_allowed(scene, "viewer", "POST", what_if, do="apply")
    for do in ("guess", "reset"):
        assert is_allowed(scene, "viewer", "POST", predict, do=do)
    for do in ("begin", "go", "hold", "release", ""):
        assert not is_allowed(scene, "viewer", "POST", predict, do=do)
        assert is_allowed(scene, "editor", "POST", predict, do=do)


def test_a_sandbox_that_a_field_names_is_checked_too(scene: Scene) -> None:
    for who, allowed in (("owner", True), ("viewer", True), ("another owner", False), ("learner", False)):
        assert is_allowed(scene, who, "POST", "/compare/", workload=f"sandbox:{scene.own}") == allowed
    assert is_allowed(scene, "stranger", "POST", "/compare/", workload="scenario:gang")
    for path, field in (
        ("/sandboxes/", "name"),
        ("/bring/", "name"),
        (f"/s/{scene.own}/at/1/branch/", "name"),
    ):
        assert not is_allowed(scene, "owner", "POST", path, **{field: f" {scene.room}-x"})
        assert is_allowed(scene, "owner", "POST", path, **{field: "mine"})


def test_a_message_says_what_a_viewer_may_not_do(scene: Scene) -> None:
    viewer = scene.clients["viewer"]
    answer = viewer.post(f"/s/{scene.own}/clock/", {"do": "pause"}, headers={"HX-Request": "true"})
    assert (answer.status_code, answer.content.decode()) == (403, "You can view this sandbox, not change it.")
    page = scene.clients["stranger"].get(f"/s/{scene.own}/")
    assert page.status_code == 403
    assert "This sandbox is not shared with you." in page.content.decode()


def test_the_api_refuses_with_the_status_of_the_api_server(scene: Scene) -> None:
    pods = f"/s/{scene.own}/api/v1/namespaces/default/pods"
    nobody = scene.clients["stranger"].get(pods)
    assert (nobody.status_code, json.loads(nobody.content)) == (
        401,
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": "Unauthorized",
            "reason": "Unauthorized",
            "code": 401,
        },
    )
    refused = json.loads(scene.clients["viewer"].post(pods, {}, "application/json").content)
    assert refused["code"] == 403
    assert refused["reason"] == "Forbidden"
    assert refused["details"] == {"kind": "pods"}
    message = re.sub(r"view:\w+", "view:ID", refused["message"])
    assert message == (
        'pods is forbidden: User "schedviz:view:ID" cannot create resource "pods" in API group "" in the '
        'namespace "default"'
    )
    nodes = json.loads(scene.clients["viewer"].delete(f"/s/{scene.own}/api/v1/nodes/n1").content)
    assert nodes["message"].startswith('nodes "n1" is forbidden: User "schedviz:view:')
    assert nodes["message"].endswith('cannot delete resource "nodes" in API group "" at the cluster scope')
    version = json.loads(scene.clients["another owner"].get(f"/s/{scene.own}/version").content)
    assert re.sub(r"owner:\w+", "owner:ID", version["message"]) == (
        'forbidden: User "schedviz:owner:ID" cannot get path "/version"'
    )


def test_an_unknown_sandbox_of_a_policy_check_is_not_found(scene: Scene) -> None:
    assert scene.clients["stranger"].get("/s/nowhere/").status_code == 404
    assert scene.clients["stranger"].get("/s/nowhere/api/v1/pods").status_code == 404


def test_all_visitors_may_view_a_sandbox_without_an_owner(
    store: Store, scene: Scene, sandbox_name: str
) -> None:
    free = store.create(Meta(f"{sandbox_name}-free")).name
    for who in ("another owner", "stranger"):
        assert is_allowed(scene, who, "GET", f"/s/{free}/")
        assert not is_allowed(scene, who, "POST", f"/s/{free}/clock/")
        assert not is_allowed(scene, who, "POST", f"/s/{free}/delete/")
    store.delete(free)


def test_a_copy_of_a_sandbox_of_a_room_belongs_to_its_creator(store: Store, scene: Scene) -> None:
    """Its name is that of a room's sandbox, so the room's rules apply to it, too."""
    copy = store.create(Meta(f"{scene.room}-b1"), access=owned_by(digest_of("another owner"))).name
    for who, allowed in (("another owner", True), ("teacher", True), ("owner", False), ("stranger", False)):
        assert is_allowed(scene, who, "POST", f"/s/{copy}/delete/") == allowed, who
    assert is_allowed(scene, "learner", "POST", f"/s/{copy}/clock/")
    store.delete(copy)


@override_settings(ACCESS="open")
def test_in_open_mode_everybody_may_do_everything_but_in_rooms(scene: Scene) -> None:
    for who in VISITORS:
        rooms = VISITORS[who][1]
        for name, route in routes().items():
            for method, needed in zip(("GET", "POST"), EXPECTED[name].rights, strict=True):
                path = path_of(route, scene.own, scene.code)
                assert is_allowed(scene, who, method, path) == (needed != "T" or "T" in rooms), (method, path)
    assert not is_allowed(scene, "stranger", "GET", f"/s/{scene.room}/")


def test_a_request_has_its_visitor_for_the_view(scene: Scene) -> None:
    request = request_of(scene.clients["viewer"].cookies, "GET", f"/s/{scene.own}/", {})
    match = request.resolver_match
    assert match
    assert Access(lambda _: None).process_view(request, None, match.args, match.kwargs) is None  # type: ignore[arg-type]
    assert asker_of(request).right == Right.VIEW


def test_a_wrong_signature_is_nobodys(scene: Scene) -> None:
    for forged in ("the owner", "the owner:1:x", identity_cookie("the owner")["owner"] + "x"):
        assert new_client(owner=forged).get(f"/s/{scene.own}/").status_code == 403


def test_no_url_fails_for_too_many_query_parameters(scene: Scene) -> None:
    """Django refuses to read more than 1,000 (DATA_UPLOAD_MAX_NUMBER_FIELDS)."""
    query = "&".join(f"p{number}=1" for number in range(1_200))
    last = ("delete-sandbox", "room-act", "delete-object", "delete-pod")
    for route in sorted(routes().values(), key=lambda each: each.name in last):
        path = path_of(route, scene.own, scene.code)
        for client in (scene.clients["owner"], scene.clients["teacher"]):
            for send in (client.get, client.post):
                assert send(f"{path}?{query}").status_code != 500, path

"""Every URL, as each kind of visitor, compared with one table."""

import json
import re
from collections.abc import Iterator
from typing import Final

import pytest
from django.http import HttpRequest
from django.test import RequestFactory, override_settings
from django.urls import URLPattern, URLResolver, get_resolver, resolve

from schedviz.access.policy import TABLE, asker_of
from schedviz.access.record import digest_of, owned_by
from schedviz.access.rights import Right
from schedviz.store import Meta, Store
from schedviz.web.access import Access

from .conftest import Scene, identity_cookie, new_client

VALUES = {
    "seq": "1", "number": "1", "kind": "pod", "resource": "pods", "key": "default/web",
    "namespace": "default", "pod": "web", "node": "node-1", "action": "cordon",
    "token": "x" * 24, "path": "api/v1", "panel": "leader",
}  # fmt: skip

API_PATHS: Final = {
    "api": "api/v1/pods",
    "api-version": "version",
    "api-health": "healthz",
    "openapi": "openapi/v3",
}
"""Paths for the URL patterns that are regular expressions."""

NEEDED: Final = {
    # name of the URL: the right that GET and POST need. T: the room's teacher.
    "metrics": "--", "upload-lesson": "--", "solution": "--", "solution-picture": "--",
    "healthz": "--", "readyz": "--", "home": "--", "set-language": "--", "create-sandbox": "--",
    "bring": "--", "compare": "--", "comparison": "--", "stop-comparison": "--", "ideas": "--",
    "idea": "--", "start-idea": "--", "start-guide": "--", "lessons": "--", "start-lesson": "--",
    "handout": "--", "rooms": "--", "new-room": "--", "room": "--", "room-qr": "--", "room-me": "--",
    "room-hint": "--", "room-personal": "--", "teach-link": "--",
    "teach": "TT", "room-act": "TT", "room-own": "TT", "room-results": "TT", "room-projector": "TT",
    "api": "VE", "api-version": "VE", "api-health": "VE", "openapi": "VE", "built-in-openapi": "--",
    "trace": "VE", "recording": "VE",
    "scheduler-settings": "VE",
    "sandbox-openapi": "--", "sandbox-scenarios": "--", "sandboxes": "--", "one-sandbox": "VO",
    "sandbox-branches": "VV", "sandbox-objects": "EE", "sandbox-pause": "EE", "sandbox-resume": "EE",
    "sandbox-speed": "EE", "sandbox-step": "EE", "sandbox-run": "EE", "sandbox-trace": "VE",
    "sandbox-explanation": "VE", "sandbox-question": "VV", "sandbox-preventions": "VV",
    "sandbox": "VE", "jump": "VE", "moment": "VE", "moment-cycle": "VE", "moment-last-cycle": "VE",
    "moment-pod": "VE", "moment-nodes": "VE", "moment-node": "VE", "moment-object": "VE",
    "moment-kinds": "VE", "moment-objects": "VE", "moment-now": "VE", "moment-pending": "VE",
    "cycle": "VE", "last-cycle": "VE",
    "pod": "VE", "nodes": "VE", "node": "VE", "kinds": "VE", "objects": "VE", "object": "VE",
    "pending": "VE", "imported": "VE", "leader": "VE", "outside": "VE", "guide": "VV", "lesson-panel": "VE",
    "share-solution": "VE", "download": "VE",
    "download-objects": "VE", "download-manifests": "VE", "download-picture": "VE",
    "branch": "VV", "predict": "VE", "what-if": "VE", "evicted": "VV", "scheduler": "VE",
    "clock": "EE", "command": "EE", "command-options": "EE", "kill-leader": "EE", "break-watch": "EE",
    "propose": "EE", "paste": "EE", "new": "EE", "edit": "EE", "delete-object": "EE", "delete-pod": "EE",
    "permit": "EE", "change-node": "EE", "start-over": "EE", "undo": "EE", "keep-sandbox": "EE",
    "delete-sandbox": "OO", "share": "OO", "kubeconfig": "OO", "open-link": "--",
}  # fmt: skip

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


def patterns() -> Iterator[URLPattern]:
    for resolver in get_resolver().url_patterns:
        assert isinstance(resolver, URLResolver)
        for pattern in resolver.url_patterns:
            assert isinstance(pattern, URLPattern)
            yield pattern


def path_of(pattern: URLPattern, sandbox: str, code: str) -> str:
    if api := API_PATHS.get(str(pattern.name)):
        return f"/s/{sandbox}/{api}"
    route = str(pattern.pattern)
    # The key of a solution is a slug.
    values = {**VALUES, "key": "x" if route.startswith("solutions/") else VALUES["key"]}
    values |= {"name": sandbox if route.startswith(("s/", "api/sandboxes/")) else "filter", "code": code}
    return "/" + re.sub(r"<\w+:(\w+)>", lambda found: values[found[1]], route)


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


def test_every_url_is_in_the_table() -> None:
    names = {pattern.name for pattern in patterns()}
    assert names == TABLE.keys()
    assert names == NEEDED.keys()


def test_a_url_that_is_not_in_the_table_is_refused(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "schedviz.access.policy.TABLE", {name: rule for name, rule in TABLE.items() if name != "home"}
    )
    assert scene.clients["owner"].get("/").status_code == 403


@pytest.mark.parametrize("who", VISITORS)
@pytest.mark.parametrize("place", [0, 1], ids=["with an owner", "of a room"])
def test_each_visitor_may_do_what_the_table_says(scene: Scene, who: str, place: int) -> None:
    sandbox = (scene.own, scene.room)[place]
    rights = VISITORS[who][place]
    rooms = VISITORS[who][1]
    for pattern in patterns():
        for method, needed in zip(("GET", "POST"), NEEDED[str(pattern.name)], strict=True):
            path = path_of(pattern, sandbox, scene.code)
            allowed = needed == "-" or needed in (rooms if needed == "T" else rights)
            assert is_allowed(scene, who, method, path) == allowed, (method, path)


@pytest.mark.parametrize("who", VISITORS)
def test_the_server_refuses_visitors_without_the_right(scene: Scene, who: str) -> None:
    """The requests that the table refuses, through the whole server."""
    client = scene.clients[who]
    for pattern in patterns():
        path = path_of(pattern, scene.own, scene.code)
        for method, needed in zip(("get", "post"), NEEDED[str(pattern.name)], strict=True):
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
        for pattern in patterns():
            for method, needed in zip(("GET", "POST"), NEEDED[str(pattern.name)], strict=True):
                path = path_of(pattern, scene.own, scene.code)
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
    for pattern in sorted(patterns(), key=lambda each: each.name in last):
        path = path_of(pattern, scene.own, scene.code)
        for client in (scene.clients["owner"], scene.clients["teacher"]):
            for send in (client.get, client.post):
                assert send(f"{path}?{query}").status_code != 500, path

"""While a presenter hides the answers of Predict in a sandbox, nothing changes it: every way in is refused.
The presenter, the owner, the teacher and the withdrawal of the presenter's right end that."""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any, Final

import pytest
from django.test import Client, override_settings
from msgspec.structs import replace

from schedviz.access.links import withdraw_link
from schedviz.access.record import read_record
from schedviz.lessons import start
from schedviz.lessons.catalogue import COURSE, lesson_folders, lessons
from schedviz.rooms.room import sandbox_name
from schedviz.routes import routes
from schedviz.store import Store
from schedviz.web import examples
from tests.rooms.test_pages import browser, do, idle, join
from tests.waiting import eventually

from .conftest import Scene
from .expected_routes import EXPECTED
from .test_routes import path_of

HTMX: Final = {"HX-Request": "true"}


def hold(client: Client, sandbox: str) -> None:
    assert client.post(f"/s/{sandbox}/predict/", {"do": "hold"}, headers=HTMX).status_code == HTTPStatus.OK


def is_held(store: Store, sandbox: str) -> bool:
    return bool(store.hold(sandbox).token())


@pytest.fixture
def held(scene: Scene, store: Store) -> Iterator[Scene]:
    """A scene in whose sandbox the editor hides the answers."""
    hold(scene.clients["editor"], scene.own)
    before = store.names()
    yield scene
    for name in store.names() - before:
        store.delete(name)


def test_every_url_that_changes_a_sandbox_says_so(held: Scene, store: Store) -> None:
    before, clock = store.read_whole(held.own), store.sandbox(held.own).clock()
    checked = 0
    for name, route in routes().items():
        path, expected = path_of(route, held.own, held.code), EXPECTED[name]
        if not path.startswith((f"/s/{held.own}/", f"/api/sandboxes/{held.own}")):
            continue
        method = "delete" if name == "one-sandbox" else "post"
        for act in ("", *expected.acts):
            answer = getattr(held.clients["owner"], method)(path, {"do": act} if act else {})
            if answer.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
                continue
            told = "hides the answers" in answer.content.decode()
            is_refused = told and answer.status_code in (HTTPStatus.LOCKED, HTTPStatus.FORBIDDEN)
            assert is_refused == (expected.changes or bool(act)), (path, act, answer.status_code)
            checked += 1
    assert checked > len([each for each in EXPECTED.values() if each.changes])
    after = store.read_whole(held.own)
    # Links count as revisions.
    assert replace(after.position, revision=0) == replace(before.position, revision=0)
    assert store.sandbox(held.own).clock() == clock


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_other_methods_of_the_api_are_refused_too(held: Scene, method: str) -> None:
    path = f"/s/{held.own}/api/v1/namespaces/default/pods/web"
    for who in ("owner", "editor"):  # the API does not know who the presenter is
        answer = getattr(held.clients[who], method)(path)
        assert (answer.status_code, answer.json()["reason"]) == (HTTPStatus.FORBIDDEN, "Forbidden")
        assert "its owner" in answer.json()["message"] or "the owner" in answer.json()["message"]
    review = f"/s/{held.own}/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    assert "hides" not in held.clients["owner"].post(review, {}, "application/json").content.decode()


def test_the_owner_ends_the_hold_of_another(held: Scene, store: Store) -> None:
    owner, clock = held.clients["owner"], f"/s/{held.own}/clock/"
    refused = owner.post(clock, {"do": "pause"}, headers=HTMX)
    assert refused.status_code == HTTPStatus.LOCKED
    assert "You can end that: open Predict" in refused.content.decode()
    assert "predict-release" in owner.get(f"/s/{held.own}/predict/", headers=HTMX).content.decode()
    owner.post(f"/s/{held.own}/predict/", {"do": "release"}, headers=HTMX)
    assert not is_held(store, held.own)
    assert owner.post(clock, {"do": "pause"}, headers=HTMX).status_code == HTTPStatus.NO_CONTENT


def test_another_editor_does_not_end_it(scene: Scene, store: Store) -> None:
    hold(scene.clients["owner"], scene.own)
    editor = scene.clients["editor"]
    assert "predict-release" not in editor.get(f"/s/{scene.own}/predict/", headers=HTMX).content.decode()
    editor.post(f"/s/{scene.own}/predict/", {"do": "release"}, headers=HTMX)
    assert is_held(store, scene.own)
    refused = editor.post(f"/s/{scene.own}/clock/", {"do": "pause"})
    assert refused.status_code == HTTPStatus.LOCKED
    assert "The presenter and the owner of the sandbox can end that" in refused.content.decode()


def test_in_open_mode_only_the_presenter_ends_it(scene: Scene, store: Store) -> None:
    with override_settings(ACCESS="open"):
        presenter, other = browser(), browser()
        hold(presenter, scene.own)
        other.post(f"/s/{scene.own}/predict/", {"do": "release"}, headers=HTMX)
        assert is_held(store, scene.own)
        presenter.post(f"/s/{scene.own}/predict/", {"do": "release"}, headers=HTMX)
        assert not is_held(store, scene.own)


def test_the_withdrawal_of_the_presenters_link_ends_it(held: Scene, store: Store) -> None:
    sandbox = store.sandbox(held.own)
    links = {link.right: link.id for link in read_record(sandbox.access() or "").links}
    withdraw_link(sandbox, links["view"])
    assert is_held(store, held.own)
    withdraw_link(sandbox, links["edit"])
    assert not is_held(store, held.own)


def test_a_lesson_that_is_begun_again_is_refused_while_another_holds_it(scene: Scene, store: Store) -> None:
    lesson, learner = next(iter(lessons())), scene.clients["another owner"]
    name = learner.post(f"/lessons/{lesson}/").headers["Location"].split("/")[2]
    created = store.sandbox(name).meta().created
    try:
        assert store.hold(name).take()
        refused = learner.post(f"/lessons/{lesson}/", {"again": ""})
        assert refused.status_code == HTTPStatus.LOCKED
        assert "A presenter hides the answers" in refused.content.decode()
        assert store.sandbox(name).meta().created == created
    finally:
        store.delete(name)


class Browser(Client):
    """A client that sends a cookie as a browser does: only to the paths below the one that it was set for."""

    def _base_environ(self, **request: Any) -> dict[str, Any]:
        environ: dict[str, Any] = super()._base_environ(**request)
        sent = [
            each for each in self.cookies.values() if request["PATH_INFO"].startswith(each["path"] or "/")
        ]
        environ["HTTP_COOKIE"] = "; ".join(f"{each.key}={each.coded_value}" for each in sent)
        return environ


PLACES: Final = [
    f"/lessons/{lesson_folders(COURSE)[0].name}/",
    "/ideas/preemption/example/",
    "/guides/preemption/",
]


@pytest.mark.parametrize("path", PLACES)
def test_a_presenter_begins_their_own_sandbox_again_from_other_pages(store: Store, path: str) -> None:
    presenter, before = Browser(headers={"host": "localhost"}), store.names()
    presenter.post(path)
    [name] = store.names() - before
    created = store.sandbox(name).meta().created
    try:
        hold(presenter, name)
        place = presenter.post(path)
        assert place.status_code == HTTPStatus.FOUND, "they go to it"
        if path.startswith("/lessons/"):
            assert store.sandbox(name).meta().created == created, "and it stays as it is"
            assert is_held(store, name)
            presenter.post(path, {"again": ""})
        assert store.sandbox(name).meta().created != created
        assert not is_held(store, name), "the hold ends with the sandbox"
    finally:
        store.delete(name)


def test_a_presenter_who_is_a_learner_chooses_another_lesson(store: Store) -> None:
    """And holds several sandboxes at the same time."""
    teacher = browser()
    fields = {"what": "course:", "mode": "own", "minutes": "60"}
    code = teacher.post("/rooms/new/", fields).headers["Location"].split("/")[2]
    learner, name = Browser(headers={"host": "localhost"}), sandbox_name(code, 1)
    learner.post(f"/rooms/{code}/", {"name": "Ada"})
    first, second = [*lessons()][:2]
    learner.post(f"/rooms/{code}/me/", {"lesson": first})
    before = store.names()
    learner.post(PLACES[1])
    [example] = store.names() - before
    try:
        hold(learner, name)
        hold(learner, example)
        assert learner.post(f"/s/{name}/clock/", {"do": "pause"}).status_code != HTTPStatus.LOCKED
        assert learner.post(f"/s/{example}/clock/", {"do": "pause"}).status_code != HTTPStatus.LOCKED
        created = store.sandbox(name).meta().created
        assert learner.post(f"/rooms/{code}/me/", {"lesson": second}).headers["Location"] == f"/s/{name}/"
        assert store.sandbox(name).meta().created != created
    finally:
        store.delete(name)
        store.delete(example)


@pytest.mark.parametrize("path", PLACES)
def test_no_sandbox_that_is_held_is_deleted_for_another_one(
    store: Store, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Neither by its age nor because there are too many."""
    presenter, before = Browser(headers={"host": "localhost"}), store.names()
    presenter.post(path)
    [name] = store.names() - before
    hold(presenter, name)
    try:
        for bound, value in (("AT_MOST", 2), ("KEPT_SECONDS", 0)):
            for module in (start, examples):
                known = next(each for each in vars(module) if each.endswith(bound))
                monkeypatch.setattr(module, known, value)
            for _ in range(2):
                browser().post(path)
            assert store.exists(name), bound
        store.hold(name).release()
        browser().post(path)
        assert not store.exists(name)
    finally:
        for each in store.names() - before:
            store.delete(each)


def test_a_learners_choice_is_refused_and_the_teachers_acts_end_the_hold(store: Store) -> None:
    teacher = browser()
    fields = {"what": "course:", "mode": "own", "minutes": "60"}
    code = teacher.post("/rooms/new/", fields).headers["Location"].split("/")[2]
    learner, name = join(code, "Ada"), sandbox_name(code, 1)
    first, second = [*lessons()][:2]
    learner.post(f"/rooms/{code}/me/", {"lesson": first})
    try:
        created = store.sandbox(name).meta().created
        hold(teacher, name)
        assert learner.post(f"/rooms/{code}/me/", {"lesson": second}).status_code == HTTPStatus.LOCKED
        assert store.sandbox(name).meta().created == created
        for act, more in (("pause", {}), ("resume", {}), ("start", {"place": f"{first}/0"})):
            hold(learner, name)
            do(teacher, code, act, **more)
            assert not is_held(store, name), act
            eventually(lambda: idle(store, code))
        hold(learner, name)
        refused = teacher.post(f"/s/{name}/clock/", {"do": "pause"}, headers=HTMX)
        assert "You can end that" in refused.content.decode()
        teacher.post(f"/s/{name}/predict/", {"do": "release"}, headers=HTMX)
        assert not is_held(store, name)
        assert store.sandbox(name).meta().created != created
    finally:
        store.delete(name)

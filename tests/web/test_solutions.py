"""A shared solution of a level is kept after its sandbox was deleted."""

import re
from html import unescape

import pytest
from django.test import Client
from msgspec.structs import replace

from schedviz.api import removal
from schedviz.lessons import solutions
from schedviz.lessons.catalogue import lessons
from schedviz.lessons.evaluate import begin
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.offline import OfflineSandbox
from schedviz.lessons.result import Result
from schedviz.lessons.situation import situation_of
from schedviz.lessons.solutions import KEPT_SECONDS, Solution, Solutions, goal_step, is_solved
from schedviz.lessons.uploads import Uploads
from schedviz.store import Store
from schedviz.up.embedded_redis import EmbeddedRedis
from tests.lessons.uploaded import FILES
from tests.processes import Process

HTMX = {"HX-Request": "true"}
DONE = Solution(
    lesson="pending",
    author="",
    made=1e9,
    result=Result(1, 1, 2),
    helped=False,
    evicted=["batch"],
    waiting=[],
    picture=b"<svg/>",
)


def browser() -> Client:
    return Client(headers={"host": "localhost"})


def text(client: Client, path: str) -> str:
    return re.sub(r"\s+", " ", unescape(client.get(path).content.decode()))


def solve(client: Client) -> str:
    """Play the solutions of the lesson ``pending``; return the path of the sandbox."""
    path = client.post("/lessons/pending/").headers["Location"]
    for step, do in (("look", "next"), ("predict", "next"), ("create", "solution"), ("create", "next")):
        client.post(f"{path}lesson/", {"step": step, "do": do}, headers=HTMX)
    client.post(f"{path}lesson/", {"step": "preempt", "do": "solution"}, headers=HTMX)
    return path


def test_others_see_a_solution_after_its_sandbox_was_deleted(store: Store, worker: Process) -> None:
    client = browser()
    path = solve(client)
    assert f'action="{path}lesson/share/"' in text(client, path)
    answer = client.post(f"{path}lesson/share/", {"author": "Ada \u202e<b>"})
    page = answer.headers["Location"]
    store.delete(path.split("/")[2])

    other = browser()
    seen = text(other, page)
    assert "Requests decide" in seen
    assert "A solution by Ada <b>" in seen
    assert "Ada &lt;b&gt;" in other.get(page).content.decode()
    assert re.search(r"pods evicted</th> <td> 1 <span class=.good.>✓ par reached</span>", seen)
    assert "“Show solution” was used." in seen
    assert 'Evicted: <span translate="no">batch</span>' in seen
    assert "for 30 days after it was shared" in seen
    assert 'action="/lessons/pending/"' in seen
    picture = other.get(f"{page}nodes.svg")
    assert picture.headers["Content-Type"] == "image/svg+xml"
    assert "urgent" in picture.content.decode()


def test_only_a_learner_whose_goal_is_reached_can_share(store: Store, worker: Process) -> None:
    client = browser()
    path = client.post("/lessons/pending/").headers["Location"]
    answer = client.post(f"{path}lesson/share/")
    assert answer.status_code == 409
    assert "Nothing was shared" in answer.content.decode()
    assert browser().post(f"{path}lesson/share/").status_code == 404
    assert client.get(f"{path}lesson/share/").status_code == 405
    solve(client)
    removal.delete(store.sandbox(path.split("/")[2]), "pods", "default/urgent", grace_seconds=0)
    assert client.post(f"{path}lesson/share/").status_code == 409
    store.delete(path.split("/")[2])


@pytest.mark.parametrize(
    "level", [each for each in lessons().values() if each.par], ids=lambda each: each.name
)
def test_a_level_is_not_solved_at_its_beginning(level: Lesson) -> None:
    assert goal_step(level).checks
    sandbox = OfflineSandbox(level)
    progress = begin(level, "s", sandbox.meta().created, 0)
    assert not is_solved(level, situation_of(sandbox, progress))


def test_sharing_again_replaces_the_solution_of_the_same_sandbox(store: Store, worker: Process) -> None:
    client = browser()
    path = solve(client)
    first = client.post(f"{path}lesson/share/", {"author": "Ada"}).headers["Location"]
    assert client.post(f"{path}lesson/share/", {"author": "Bob"}).headers["Location"] == first
    assert "A solution by Bob" in text(browser(), first)
    store.delete(path.split("/")[2])


def test_the_number_of_solutions_is_bounded(
    own_redis: EmbeddedRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solutions, "SOLUTIONS_AT_MOST", 2)
    store = Store(own_redis.url)
    known = Solutions(store.redis)
    for place, key in enumerate("abc"):
        known.add(key, replace(DONE, made=store.wall() + place))
    assert known.find("a") is None
    assert known.find("c")
    assert 0 < store.redis.ttl("schedviz:{solutions}:c") <= KEPT_SECONDS
    store.close()


def test_beyond_the_number_the_oldest_solution_of_whoever_has_most_is_deleted(
    own_redis: EmbeddedRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(solutions, "SOLUTIONS_AT_MOST", 3)
    store = Store(own_redis.url)
    known = Solutions(store.redis)
    for place, (key, whose) in enumerate((("a", "ada"), ("b", "bo"), ("c", "bo"), ("d", "cy"), ("e", "bo"))):
        known.add(key, replace(DONE, made=store.wall() + place), whose)
    assert [key for key in "abcde" if known.find(key)] == ["c", "d", "e"], "first b, then the oldest"
    known.add("f", replace(DONE, made=store.wall() + 9), "bo")
    assert [key for key in "cdef" if known.find(key)] == ["d", "e", "f"]
    assert store.redis.hlen("schedviz:{solutions}:whose") == 3
    store.close()


def test_a_picture_that_is_too_large_is_not_stored(store: Store) -> None:
    known = Solutions(store.redis)
    drawn = "".join(f"{number * 7919 % 100_003:x}" for number in range(100_000))
    known.add("large", replace(DONE, picture=drawn.encode(), made=store.wall()))
    found = known.find("large")
    assert found
    assert found.picture == b""
    assert "too large for a picture" in text(browser(), "/solutions/large/")


def test_an_unknown_solution_and_one_of_a_deleted_level_are_not_found(store: Store) -> None:
    lesson = Uploads(store.redis).add(FILES, store.wall())
    for key, name in (("kept", lesson.name), ("lost", f"upload-{'b' * 24}")):
        made = replace(DONE, lesson=name, made=store.wall())
        Solutions(store.redis).add(key, made)
    assert browser().get("/solutions/kept/").status_code == 200
    assert browser().get("/solutions/lost/").status_code == 404
    assert browser().get("/solutions/none/").status_code == 404
    assert browser().get("/solutions/none/nodes.svg").status_code == 404

"""The ideas: each has a page, an example that ends by itself, and a link from an element that shows it."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client

from schedviz.store import Meta, Store
from schedviz.web import examples
from schedviz.web.ideas import texts as ideas
from tests.messages import ROOT
from tests.threads import at_once


@pytest.fixture
def client(store: Store) -> Iterator[Client]:
    client = Client(headers={"host": "localhost"})
    yield client
    for meta in store.sandboxes():
        if examples.is_example(meta):
            store.delete(meta.name)


def test_each_idea_is_reached_from_an_element_that_shows_it() -> None:
    linked = {
        name
        for path in (ROOT / "templates").rglob("*.html")
        for name in re.findall(r'(?:{% idea |explained=)"(\w+)"', path.read_text())
    }
    assert linked == set(ideas.ideas())


@pytest.mark.parametrize("name", ideas.ideas())
def test_each_idea_has_a_page_and_an_example_that_ends(client: Client, name: str) -> None:
    idea, made = ideas.ideas()[name], ideas.example_of(name).scenario
    assert made.name == name
    assert idea.shows
    assert idea.shows == ideas.chosen_parts(",".join(idea.shows)), "existing parts, in their order"
    timetables = [each for each in made.manifests if each["kind"] == "Timetable"]
    entries = [entry for each in timetables for entry in each["spec"]["entries"]]
    assert not [entry for entry in entries if "every" in entry], "an example that has ended costs nothing"
    page = client.get(f"/ideas/{name}/").content.decode()
    assert f"<h1>{idea.title[0].upper()}{idea.title[1:]}</h1>" in page
    assert "<iframe" not in page
    assert f"/ideas/{name}/" in client.get("/ideas/").content.decode()


def test_an_example_is_paused_shown_in_a_frame_and_created_again(client: Client, store: Store) -> None:
    assert client.get("/ideas/none/").status_code == client.post("/ideas/none/example/").status_code == 404
    assert client.post("/ideas/queue/example/").headers["Location"] == "/ideas/queue/#example"
    page = client.get("/ideas/queue/")
    [source] = re.findall(r'<iframe src="([^"]+)"', page.content.decode())
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    framed = client.get(source)
    assert 'class="live embed show-queue show-past"' in framed.content.decode()
    assert "frame-ancestors 'self'" in framed.headers["Content-Security-Policy"]
    assert framed.headers["X-Frame-Options"] == "SAMEORIGIN"
    path, _, _ = source.partition("?")
    name = path.split("/")[2]
    assert store.sandbox(name).clock().paused
    for alone in (path, f"{path}?embed=none"):
        assert client.get(alone).headers["X-Frame-Options"] == "DENY"
    assert name not in client.get("/").content.decode(), "the home page lists sandboxes, not examples"

    first = store.sandbox(name).meta().created
    client.post("/ideas/queue/example/")
    assert store.sandbox(name).meta().created > first
    other = Client(headers={"host": "localhost"})
    other.cookies["visitor"] = "../../demo"
    other.post("/ideas/queue/example/")
    assert len([meta for meta in store.sandboxes() if examples.is_example(meta)]) == 2


def test_the_oldest_example_is_deleted_at_the_bound_and_a_branch_is_no_example() -> None:
    now = 1_800_000_000.0
    many = [Meta(f"e{n}", created=now - n) for n in range(examples.EXAMPLES_AT_MOST, 0, -1)]
    assert examples.examples_to_delete(many[1:], now, 1) == []
    assert examples.examples_to_delete(many, now, 1) == [many[0].name]
    old = Meta("old", created=now - examples.KEPT_SECONDS)
    assert examples.examples_to_delete([old], now, 1) == ["old"]
    name = ideas.example_of("queue").sandbox("0123456789ab")
    assert examples.is_example(Meta(name, scenario="ideas/queue"))
    assert not examples.is_example(Meta(f"{name}-2", scenario="ideas/queue"))
    assert not examples.is_example(Meta(name))


def test_many_visitors_who_begin_at_the_same_time_do_not_exceed_the_bound_of_examples(
    client: Client, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(examples, "EXAMPLES_AT_MOST", 3)
    for number in range(2):
        examples.start_example(store, ideas.example_of("queue"), f"{number:012x}")
    at_once(lambda number: examples.start_example(store, ideas.example_of("queue"), f"{number + 16:012x}"))
    assert len([meta for meta in store.sandboxes() if examples.is_example(meta)]) == 3

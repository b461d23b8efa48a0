"""A sandbox whose description or clock cannot be read: it is listed as unreadable and can be deleted, and all
other pages work."""

from collections.abc import Iterator

import pytest
from django.test import Client

from schedviz.api.from_scenario import create_from_scenario
from schedviz.api.new_sandbox import numbered
from schedviz.store import Meta, Sandbox, Store
from schedviz.store.keys import Keys

from .asking import text


@pytest.fixture
def client() -> Iterator[Client]:
    return Client(headers={"host": "localhost"}, raise_request_exception=False)


@pytest.fixture(params=["meta", "clock"])
def broken(request: pytest.FixtureRequest, store: Store, sandbox_name: str) -> Iterator[str]:
    name = f"{sandbox_name[:50]}-broken"
    store.create(Meta(name))
    store.redis.hset(Keys.of(name).state, request.param, "{nonsense")
    yield name
    if name in store.names():
        store.delete(name)


def test_the_home_page_lists_it_with_a_button_that_deletes_it(
    client: Client, store: Store, sandbox: Sandbox, broken: str
) -> None:
    page = text(client.get("/").content)
    assert f'href="/s/{sandbox.name}/"' in page
    assert f'href="/s/{broken}/"' not in page
    assert f'action="/s/{broken}/delete/"' in page
    assert "This sandbox cannot be read" in page
    assert client.post(f"/s/{broken}/delete/").headers["Location"] == "/"
    assert broken not in text(client.get("/").content)
    assert broken not in store.names()


def test_the_page_of_an_unreadable_sandbox_says_so(client: Client, broken: str) -> None:
    page = client.get(f"/s/{broken}/")
    assert page.status_code == 500
    assert "This sandbox cannot be read" in text(page.content)
    assert f'action="/s/{broken}/delete/"' in text(page.content)


def test_the_api_of_an_unreadable_sandbox_says_so(client: Client, store: Store, sandbox: Sandbox) -> None:
    store.redis.hset(Keys.of(sandbox.name).state, "clock", "{nonsense")
    node = b'{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}}'
    refused = client.post(f"/s/{sandbox.name}/api/v1/nodes", node, "application/json")
    assert refused.status_code == 500
    assert f"the clock of sandbox '{sandbox.name}' cannot be read" in refused.json()["message"]


def test_comparisons_and_new_sandboxes_work_beside_an_unreadable_sandbox(
    client: Client, store: Store, sandbox: Sandbox, broken: str
) -> None:
    page = client.get("/compare/")
    assert page.status_code == 200
    assert sandbox.name in text(page.content)
    asked = {"workload": f"sandbox:{broken}", "a": "own", "b": "default"}
    answer = client.post("/compare/", asked)
    assert answer.status_code in (302, 422)
    made = create_from_scenario(store, "")
    assert made.name != broken
    store.delete(made.name)


def test_a_name_is_not_proposed_that_an_unreadable_sandbox_has(store: Store, client: Client) -> None:
    taken = next(numbered(store, "sandbox"))
    store.create(Meta(taken))
    store.redis.hset(Keys.of(taken).state, "meta", "{nonsense")
    new = client.post("/sandboxes/", {"name": ""}).headers["Location"].split("/")[2]
    assert new != taken
    for name in (new, taken):
        store.delete(name)

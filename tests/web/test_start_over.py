"""Sandboxes that are created paused, and those that are created again from their scenario."""

from collections.abc import Iterator

import pytest
from django.test import Client
from msgspec.structs import replace

from schedviz import bundled_scenarios
from schedviz.api import removal, write
from schedviz.api.from_scenario import create_from_scenario
from schedviz.store import Meta, Sandbox, Store
from schedviz.store.model import Origin
from schedviz.web import examples
from simulator.queueing.queue_version import QueueVersion
from tests.threads import at_once

SCENARIO = "taints-and-affinity"


@pytest.fixture
def client() -> Client:
    return Client(headers={"host": "localhost"})


@pytest.fixture
def made(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    yield create_from_scenario(store, SCENARIO, sandbox_name, QueueVersion.V1_10)
    store.delete(sandbox_name)


def test_each_scenario_can_be_created_paused(client: Client, store: Store, sandbox_name: str) -> None:
    page = client.get("/").content.decode()
    assert page.count('value="paused"') == len(bundled_scenarios.scenarios())
    for clock, paused in (("paused", True), ("", False)):
        answer = client.post("/sandboxes/", {"scenario": SCENARIO, "name": sandbox_name, "clock": clock})
        assert answer.headers["Location"] == f"/s/{sandbox_name}/"
        assert store.sandbox(sandbox_name).clock().paused == paused
        store.delete(sandbox_name)


def test_a_sandbox_starts_over_from_its_scenario_with_its_name_and_its_queue(
    client: Client, store: Store, made: Sandbox
) -> None:
    path = f"/s/{made.name}/start-over/"
    nodes = made.count("nodes")
    removal.delete(made, "nodes", "gpu-1")
    assert path in client.get(f"/s/{made.name}/").content.decode()
    assert "Taints and affinity" in client.get(path).content.decode()
    for clock, paused in (("paused", True), ("running", False)):
        assert client.post(path, {"clock": clock}).headers["Location"] == f"/s/{made.name}/"
        now = store.sandbox(made.name)
        assert (now.count("nodes"), now.clock().paused, now.meta().queue) == (nodes, paused, "v1.10")
    answers = at_once(lambda _: client.post(path, {"clock": "paused"}).status_code)
    assert 302 in answers, "of several requests at the same time at least one gets the new sandbox"
    assert store.sandbox(made.name).count("nodes") == nodes


def test_only_a_sandbox_made_from_a_scenario_can_start_over(
    client: Client, store: Store, sandbox_name: str
) -> None:
    of_scenario = Meta(sandbox_name, scenario=SCENARIO)
    assert examples.can_start_over(of_scenario)
    assert not examples.can_start_over(replace(of_scenario, origin=Origin("demo", 1, 0)))
    write.create_sandbox(store, Meta(sandbox_name))
    path = f"/s/{sandbox_name}/start-over/"
    assert path not in client.get(f"/s/{sandbox_name}/").content.decode()
    assert client.get(path).status_code == client.post(path).status_code == 404
    store.delete(sandbox_name)

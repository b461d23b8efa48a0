"""The end of a scenario: when the page shows it, what it offers, and to which visitor."""

from collections.abc import Iterator

import pytest
from django.test import Client
from msgspec.structs import replace

from schedviz.api import removal, schedulers, write
from schedviz.api.from_scenario import create
from schedviz.bundled_scenarios import scenarios
from schedviz.store import Meta, Store
from schedviz.web import examples
from schedviz.web.guide.endings import can_end, present_ending
from schedviz.web.ideas import texts as ideas
from simulator.trace import Bound
from tests.loop.conftest import pod
from tests.loop.world import World

VISITOR = "0123456789ab"
ENDED = "The example has ended."


@pytest.fixture
def client(store: Store) -> Iterator[Client]:
    yield Client(headers={"host": "localhost"})
    for meta in store.sandboxes():
        if examples.is_example(meta):
            store.delete(meta.name)


def play(store: Store, idea: str, seconds: int) -> World:
    """The example of an idea, run for this time, a second at a time."""
    world = World(store, examples.start_example(store, ideas.example_of(idea), VISITOR))
    for _ in range(seconds):
        world.let_time_pass(1)
        world.slice()
    return world


@pytest.mark.parametrize("name", ideas.ideas())
def test_each_example_says_that_it_has_ended_and_not_before(client: Client, store: Store, name: str) -> None:
    world = play(store, name, 1)
    source, known = world.sandbox, [*ideas.ideas()]
    ended = 0  # the number of times at which the end is shown
    for _ in range(60):
        view = present_ending(source, source.meta())
        ended += view is not None
        events = source.trace_head()
        world.let_time_pass(1)
        world.slice()
        if view:
            assert source.trace_head() == events, "something happened after the end"
            following = known[known.index(name) + 1 :]
            assert (view.idea, view.following) == (name, following[0] if following else "")
        if ended == 3:
            break
    assert ended == 3
    schedulers.switch_scheduler(source, stands_down=True)
    assert present_ending(source, source.meta()) is None, "an outside scheduler may act"
    schedulers.switch_scheduler(source, stands_down=False)
    path = f"/s/{source.name}/"
    framed = client.get(path, {"embed": ",".join(ideas.ideas()[name].shows)}).content.decode()
    assert ENDED in framed
    assert f'target="_top" action="/ideas/{name}/example/"' in " ".join(framed.split())


def test_the_end_is_shown_once_can_be_closed_and_disappears_after_a_change(
    client: Client, store: Store
) -> None:
    world = play(store, "score", 1)
    path = f"/s/{world.sandbox.name}/"
    assert client.get(f"{path}guide/").status_code == 204
    for _ in range(15):
        world.let_time_pass(1)
        world.slice()
    assert len([each for _, each in world.sandbox.trace_tail(200) if isinstance(each, Bound)]) == 2
    box = client.get(f"{path}guide/").content.decode()
    assert ENDED in box
    assert "Next: preemption" in box
    assert f'action="{path}start-over/"' in box
    assert client.get(f"{path}guide/?shown=ended").status_code == 204
    write.create(world.sandbox, [pod("mine", cpu="1")])
    assert ENDED not in client.get(f"{path}guide/?shown=ended").content.decode(), "a pod is pending"
    removal.delete(world.sandbox, "pods", "default/mine")
    for _ in range(40):
        world.let_time_pass(1)
        world.slice()
    assert ENDED in client.get(path).content.decode()
    client.post(f"{path}guide/")
    assert ENDED not in client.get(path).content.decode()


def test_a_scenario_without_an_end_a_guide_and_a_branch_show_no_end(store: Store) -> None:
    endings = {name: can_end(Meta(name, scenario=name)) for name in scenarios()}
    assert [name for name, ends in endings.items() if ends] == [
        "disruption-budgets",
        "gang",
        "gpus",
        "group-preemption",
        "mig",
        "nic",
        "pod-groups",
        "queue-starvation",
        "racks",
        "shared-claim",
        "two-gangs",
        "two-ways-for-gangs",
    ]
    assert not can_end(Meta("mine"))
    assert not can_end(Meta(f"guide-preemption-{VISITOR}", scenario="guides/preemption"))
    assert not can_end(Meta(f"idea-queue-{VISITOR}-2", scenario="ideas/queue"))


def test_a_scenario_that_has_ended_offers_the_next_one(
    client: Client, store: Store, sandbox_name: str
) -> None:
    world = World(store, create(store, scenarios()["gang"], "gang", [sandbox_name]))
    try:
        for _ in range(40):
            world.let_time_pass(5)
            world.slice()
        page = client.get(f"/s/{sandbox_name}/").content.decode()
        assert "The scenario has ended." in page
        assert 'name="scenario" value="gpus"' in page
        assert f'data-dialog href="/s/{sandbox_name}/start-over/"' in page
        meta = world.sandbox.meta()
        assert present_ending(world.sandbox, replace(meta, scenario="")) is None
    finally:
        store.delete(sandbox_name)

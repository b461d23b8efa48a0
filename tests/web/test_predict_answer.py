"""The answer of Predict is shown until a later cycle has ended, and its marks where they are no answer to the
next question."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from schedviz.store import Store
from tests.loop.conftest import node, pod
from tests.loop.world import World


@pytest.fixture
def world(store: Store) -> Iterator[World]:
    """A paused sandbox with a small node, and three pods in activeQ."""
    world = World(store)
    world.create(node("n0", cpu="2"), node("n1", cpu="2"))
    world.pause()
    world.create(pod("a", cpu="1"), pod("b", cpu="1"), pod("c", cpu="8"))
    world.slice()
    yield world
    store.delete(world.sandbox.name)


def ask(world: World, client: Client, **fields: Any) -> Any:
    path, headers = f"/s/{world.sandbox.name}/predict/", {"HX-Request": "true"}
    made = client.post(path, fields, headers=headers) if fields else client.get(path, headers=headers)
    return made.context["view"]


def guess(world: World, client: Client, question: Any, *picks: str) -> Any:
    ask(world, client, do="guess", question=question.id, pick=picks)
    world.slice()
    return ask(world, client)


def test_an_answer_ends_with_its_cycle_and_marks_only_what_the_next_question_does_not_ask(
    world: World,
) -> None:
    client = Client(headers={"host": "localhost"})
    view = ask(world, client)
    assert view.question.kind == "next"
    view = guess(world, client, view.question, "default/b")
    assert (view.answer.kind, view.question.kind) == ("next", "nodes")
    assert view.answer.why.startswith("a has priority 0. activeQ is sorted by priority")
    assert {each.value: each.mark for each in view.answer.marks} == {
        "default/a": "answer",
        "default/b": "wrong",
    }
    # The next question is about nodes, too: marks on them would read as its answer.
    view = guess(world, client, view.question, "n0")
    assert (view.answer.kind, view.question.kind) == ("nodes", "winner")
    assert view.answer.marks == []
    view = guess(world, client, view.question, "n0")
    assert (view.answer.kind, view.question) == ("winner", None)
    assert view.answer.marks
    # With the end of the cycle the next question is about the queue, and the marks are on nodes.
    ask(world, client, do="go")
    world.slice()
    view = ask(world, client)
    assert (view.answer.kind, view.question.kind) == ("winner", "next")
    assert view.answer.marks

    world.let_time_pass(60)
    world.slice()
    world.pause()
    world.slice()
    assert world.sandbox.last_cycle() > 1
    assert ask(world, client).answer is None

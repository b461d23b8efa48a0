"""Every request of the recorded stories is answered as kube-apiserver v1.34 answered it. ``make test`` plays
a sample of each category."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from schedviz.api.write import create_sandbox
from schedviz.store import Clock, Meta, Store
from simulator.api import SECOND
from tests.amounts import sample
from tests.stories.comparison import Comparison
from tests.stories.player import Player
from tests.stories.recorded import CATEGORIES, FOLDER, read_stories

PLAYED_AT_ONCE = 8
CREATED = 1_700_000_000
ALPHABET = "bcdfghjklmnpqrstvwxz2456789"
"""The characters of the ids of stories. No word of a body has only these characters."""


@pytest.fixture(scope="module")
def player(store: Store) -> Iterator[Player]:
    """A client of a new sandbox whose time stands still."""
    meta = Meta(name="stories", created=CREATED)
    clock = Clock(sim=CREATED * SECOND, wall=CREATED, paused=True)
    create_sandbox(store, meta, clock=clock)
    yield Player(meta.name)
    store.delete(meta.name)


def differences(player: Player, story: dict[str, Any]) -> Iterator[str]:
    ident = f"q{''.join(random.Random(story['name']).choices(ALPHABET, k=5))}z"
    comparison = Comparison(ident, managed_fields=story.get("managedFields", False))
    for number, (step, got) in enumerate(zip(story["steps"], player.play(story, ident), strict=True)):
        for difference in comparison.differences(step["response"], got):
            yield f"{story['name']}, step {number}: {difference}"


def play_all(player: Player, stories: list[dict[str, Any]]) -> dict[str, list[str]]:
    """The differences of each story, by its name. Stories are played at the same time, as a watch waits for
    its end; those that change what others see, such as a global default, when the others are done."""
    together = [story for story in stories if not story.get("alone", False)]
    with ThreadPoolExecutor(PLAYED_AT_ONCE) as threads:
        found = dict(threads.map(lambda story: (story["name"], [*differences(player, story)]), together))
    alone = [story for story in stories if story.get("alone", False)]
    return found | {story["name"]: [*differences(player, story)] for story in alone}


def names_of_differing(category: str) -> set[str]:
    """The stories of a category that differ: those of ``differing.txt``, whose comments say why."""
    lines = (FOLDER / "differing.txt").read_text().splitlines()
    return {line for line in lines if line.startswith(f"{category}/")}


def test_all_categories_of_recorded_answers_exist() -> None:
    assert len(CATEGORIES) == 14


@pytest.mark.sampled
@pytest.mark.parametrize("category", CATEGORIES)
def test_answers_are_those_of_the_real_api_server(player: Player, category: str) -> None:
    """Those stories differ that are named as such, and no other: the list can only get shorter."""
    stories = read_stories(category)
    found = play_all(player, [*sample(stories)])
    differing = {name for name, differs in found.items() if differs}
    known = names_of_differing(category)
    new = [line for name in sorted(differing - known) for line in found[name]]
    assert not new, "\n".join(new[:20])
    gone = known - {story["name"] for story in stories}
    agree = (known & found.keys()) - differing
    assert not gone | agree, f"agree now, or are gone: {sorted(gone | agree)}"

"""The memory that a worker and a web server use for a sandbox does not grow with deleted pods."""

import gc
import types
from functools import _lru_cache_wrapper
from typing import Any, Final

import pytest

from schedviz.cache import held
from schedviz.cache.caches import caches_of
from schedviz.store import Store
from schedviz.web.page.screen import DEFAULT
from schedviz.web.page.screens import SandboxScreens
from schedviz.web.picture import picture
from simulator.client import event_recorder
from tests.loop.conftest import node, pod
from tests.loop.world import World

PODS: Final = 20
"""The number of pods of a round."""
FILLED, FURTHER = 5, 12
"""Rounds until all that is bounded is full, and rounds after that."""

SHARED: Final = (
    types.ModuleType | type | types.FunctionType | types.BuiltinFunctionType | types.FrameType
) | _lru_cache_wrapper


def count_reachable(root: object) -> int:
    """The objects that the garbage collector would free with this one, and those that it shares with others;
    without code."""
    seen = {id(root): root}
    waiting = [root]
    while waiting:
        for found in gc.get_referents(waiting.pop()):
            if id(found) not in seen and not isinstance(found, SHARED):
                seen[id(found)] = found
                waiting.append(found)
    return len(seen)


def count_cached_forever() -> dict[str, int]:
    """How many results the functions have that keep all of them, by the function's name."""
    gc.unfreeze()  # the functions are among what was frozen after the collection of the tests
    wrappers: list[_lru_cache_wrapper[Any]] = [
        found for found in gc.get_objects() if isinstance(found, _lru_cache_wrapper)
    ]
    return {
        f"{each.__module__}.{each.__qualname__}": each.cache_info().currsize
        for each in wrappers
        if each.cache_info().maxsize is None
    }


@pytest.fixture
def small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_recorder, "MAX_EVENTS", 30)
    monkeypatch.setattr(event_recorder, "SWEPT_AT_ONCE", 10)
    monkeypatch.setattr(held, "TRACE_READ", 100)
    monkeypatch.setattr(held, "RING_EVENTS", 30)
    monkeypatch.setattr(picture, "TRACE_KEPT", 100)
    monkeypatch.setattr(picture, "VICTIMS_KEPT", 20)


def play_round(world: World, number: int) -> None:
    """Pods are created, run for two seconds, end and are removed."""
    pods = [pod(f"web-{number}-{each}") for each in range(PODS)]
    for each in pods:
        annotations = {"schedviz/run-seconds": "2", "schedviz/ttl-seconds-after-finished": "1"}
        each["metadata"]["annotations"] = annotations
    world.create(*pods)
    for _ in range(2):
        world.let_time_pass(4)
        world.slice()


@pytest.mark.long
@pytest.mark.usefixtures("small_bounds")
def test_deleted_pods_leave_no_objects_in_memory(store: Store) -> None:
    world = World(store)
    world.create(*(node(f"n{number}") for number in range(3)))
    cache = caches_of(store).follow(world.sandbox.name)
    cache.refresh()
    screens = SandboxScreens(cache.present())
    sizes: list[tuple[int, int]] = []
    cached: list[dict[str, int]] = []
    for number in range(FILLED + FURTHER):
        play_round(world, number)
        cache.refresh()
        screens.update(cache)
        screens.draw({"en": {DEFAULT}})
        gc.collect()
        sizes.append((count_reachable(world.driver), count_reachable([cache, screens])))
        cached.append(count_cached_forever())
    caches_of(store).unfollow(cache)
    assert world.sandbox.count("pods") == 0
    for of_process in zip(*sizes, strict=True):
        # The numbers differ by some tens from round to round, as the lists of pages do. A leak of one object
        # for each pod would be FURTHER * PODS objects.
        assert min(of_process[-3:]) - max(of_process[:FILLED]) < FURTHER * PODS / 2, sizes
    assert cached[-1] == cached[FILLED - 1]

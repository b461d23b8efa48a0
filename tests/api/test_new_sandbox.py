"""A sandbox is created completely or not at all, and its name is unique."""

import time
from collections.abc import Iterator

import pytest

from schedviz.api import write
from schedviz.api.branch import branch_of_now
from schedviz.api.from_scenario import create_from_scenario
from schedviz.api.new_sandbox import new_sandbox
from schedviz.store import Clock, Meta, Sandbox, Store
from schedviz.store.commit_script import LIMITS
from simulator.api import SECOND, Change
from simulator.apiserver.request_errors import TooLarge
from simulator.apiserver.status import AlreadyExists, StatusError
from simulator.what_if.edit import Edit
from tests.threads import THREADS, at_once

OBJECTS = 25
AT_ONCE = 10


@pytest.fixture(autouse=True)
def small_commits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("schedviz.api.new_sandbox.OBJECTS_AT_ONCE", AT_ONCE)


def node(number: int) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}"}, "status": {}}


def creations(*, broken_at: int = OBJECTS) -> Iterator[Change]:
    for number in range(OBJECTS):
        if number == broken_at:
            raise EOFError("the file ended")
        yield Change("nodes", f"n{number}", node(number), expected=0)


def running() -> Clock:
    return Clock(sim=1000 * SECOND, wall=time.time() - 60)


def test_the_time_of_a_new_sandbox_stands_still_until_it_is_complete(store: Store, sandbox_name: str) -> None:
    with new_sandbox(store, [sandbox_name], Meta(""), creations(), running()) as made:
        assert made.count("nodes") == OBJECTS
        assert made.clock().paused
    assert store.sandbox(sandbox_name).clock().sim == 1000 * SECOND
    assert not made.clock().paused
    assert made.clock().now(time.time()) < 1060 * SECOND, "the time of its making does not count"
    store.delete(sandbox_name)


@pytest.mark.parametrize("broken_at", [0, AT_ONCE, OBJECTS - 1])
def test_objects_whose_reading_fails_leave_no_sandbox(
    store: Store, sandbox_name: str, broken_at: int
) -> None:
    changes = creations(broken_at=broken_at)
    with pytest.raises(EOFError), new_sandbox(store, [sandbox_name], Meta(""), changes, running()):
        pass
    assert sandbox_name not in store.names()


def test_a_dump_of_more_objects_than_a_sandbox_may_have_stores_nothing(
    store: Store, sandbox_name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(LIMITS, "objects", AT_ONCE + 1)
    with pytest.raises(TooLarge), new_sandbox(store, [sandbox_name], Meta(""), creations(), running()):
        pass
    assert sandbox_name not in store.names()


@pytest.mark.parametrize("error", [KeyError("spec"), StatusError("refused"), KeyboardInterrupt()])
def test_any_failure_before_a_sandbox_is_complete_leaves_no_sandbox(
    store: Store, sandbox_name: str, error: BaseException
) -> None:
    with (
        pytest.raises(type(error)),
        new_sandbox(store, [sandbox_name], Meta(""), creations(), running()),
    ):
        raise error
    assert sandbox_name not in store.names()


def test_the_first_name_that_is_free_is_taken_and_the_objects_are_whole(
    store: Store, sandbox_name: str
) -> None:
    names = [f"{sandbox_name[:55]}-{number}" for number in range(3)]
    store.create(Meta(names[0]))
    with new_sandbox(store, iter(names), Meta(""), creations(), running()) as made:
        assert (made.name, made.count("nodes")) == (names[1], OBJECTS)
    with pytest.raises(AlreadyExists), new_sandbox(store, names[:2], Meta(""), creations(), running()):
        pass
    assert store.sandbox(names[1]).count("nodes") == OBJECTS, "a taken name takes nothing away"
    for name in names[:2]:
        store.delete(name)


def test_an_edit_that_raises_leaves_no_incomplete_branch(store: Store, sandbox: Sandbox) -> None:
    """Only objects with a spec can be recreated: a ConfigMap has none."""
    labelled = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c", "namespace": "default"}}
    write.create(sandbox, [labelled])
    edit = Edit("recreate", "configmaps", "default/c", labelled)
    with pytest.raises(KeyError):
        branch_of_now(store, sandbox, [edit], "what if")
    assert f"{sandbox.name}-b1"[:63] not in store.names()
    assert not [name for name in store.names() if name.startswith(sandbox.name) and name != sandbox.name]


def test_concurrent_starts_of_a_scenario_get_a_sandbox_each(store: Store) -> None:
    before = store.names()
    at_once(lambda _: create_from_scenario(store, "taints-and-affinity"))
    made = store.names() - before
    assert len(made) == THREADS
    for name in made:
        store.delete(name)

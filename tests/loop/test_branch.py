"""A branch equals its moment, its leader continues the queue, and two branches have the same trace."""

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from schedviz.api.branch import branch_of_moment
from schedviz.api.schedulers import configure
from schedviz.store import Sandbox, Store
from schedviz.store.commit_script import LIMITS
from schedviz.store.past import Past
from simulator.api import SECOND, Manifest, bare
from simulator.apiserver.request_errors import TooLarge
from tests.amounts import examples
from tests.loop.conftest import node
from tests.loop.world import Operation, World, operations
from tests.queue_places import standing

Objects = dict[str, dict[str, Manifest]]


def unversioned(objects: Objects) -> Objects:
    """The object without its version, as a branch counts its writes from 1."""
    return {resource: {key: bare(each) for key, each in found.items()} for resource, found in objects.items()}


def run_on(store: Store, sandbox: Sandbox, story: list[Operation]) -> list[bytes]:
    """Run a sandbox by workers of known names. Returns its trace."""
    World(store, sandbox, workers="worker").perform(story)
    return [msgspec.json.encode(event) for _, event in sandbox.trace(0, 10_000)]


@pytest.mark.sampled
@settings(
    max_examples=examples(12),
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
    derandomize=True,
    print_blob=False,
)
@given(
    story=st.lists(operations, min_size=15, max_size=30),
    share=st.floats(0, 1),
    rest=st.lists(operations, min_size=5, max_size=15),
)
def test_a_branch_equals_its_moment_and_two_branches_have_the_same_trace(
    store: Store, story: list[Operation], share: float, rest: list[Operation]
) -> None:
    world = World(store, seed=3, pace=SECOND // 4)
    world.perform(story)
    seq = max(1, round(share * world.sandbox.trace_head()))
    past = Past(world.sandbox, seq)
    led = World(store, branch_of_moment(store, past, f"{world.sandbox.name}-led"))
    led.slice()
    kept, found = standing(past.moment.queue_places), standing(led.sandbox.queue_places())
    # The leader of the moment may not have seen yet that a pod was created, bound or deleted.
    both = kept.keys() & found.keys()
    assert {pod: found[pod] for pod in both} == {pod: kept[pod] for pod in both}
    assert all(place.attempts == 0 for pod, place in found.items() if pod not in kept)
    unbound = {pod for pod in past.names("pods") if not (past.get("pods", pod) or {})["spec"].get("nodeName")}
    assert kept.keys() & unbound <= found.keys()
    store.delete(led.sandbox.name)
    traces = []
    for name in ("one", "two"):
        past = Past(world.sandbox, seq)
        made = branch_of_moment(store, past, f"{world.sandbox.name}-{name}")
        objects = {resource: found for resource, found in made.list_all()[0].items() if found}
        assert unversioned(objects) == unversioned(past.moment.objects)
        assert made.queue_places() == past.moment.queue_places
        assert (made.mark().now, made.mark().cycle) == (past.moment.mark.now, past.moment.mark.cycle)
        clock = made.clock()
        assert (clock.paused, clock.sim) == (True, past.moment.mark.now)
        traces.append(run_on(store, made, rest))
        assert made.mark().cycle >= past.moment.mark.cycle
        store.delete(made.name)
    assert traces[0] == traces[1]
    store.delete(world.sandbox.name)


def test_a_moment_of_more_objects_than_one_commit_may_have_is_branched_completely_or_not_at_all(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("schedviz.api.new_sandbox.OBJECTS_AT_ONCE", 10)
    monkeypatch.setattr("schedviz.store.commit_script.MAX_CHANGES", 20)
    world = World(store)
    for number in range(30):
        world.create(node(f"n{number}"))
    world.slice()
    past = Past(world.sandbox, world.sandbox.trace_head())
    made = branch_of_moment(store, past, f"{world.sandbox.name}-whole")
    objects = {resource: found for resource, found in made.list_all()[0].items() if found}
    assert unversioned(objects) == unversioned(past.moment.objects)
    store.delete(made.name)
    monkeypatch.setitem(LIMITS, "objects", 30)
    with pytest.raises(TooLarge):
        branch_of_moment(store, past, f"{world.sandbox.name}-half")
    assert f"{world.sandbox.name}-half" not in store.names()
    store.delete(world.sandbox.name)


def test_a_branch_has_the_configuration_of_its_moment(store: Store) -> None:
    world = World(store)
    world.create(node("n0"))
    world.slice()
    before = world.sandbox.trace_head()
    configure(world.sandbox, {"profiles": [{"schedulerName": "another"}]}, ["profiles"])
    world.slice()
    after = world.sandbox.trace_head()
    configs = []
    for seq in (before, after):
        made = branch_of_moment(store, Past(world.sandbox, seq), f"{world.sandbox.name}-{seq}")
        configs.append(made.meta().config)
        store.delete(made.name)
    assert configs == [None, {"profiles": [{"schedulerName": "another"}]}]
    store.delete(world.sandbox.name)

"""The lease of a living leader is ended from outside, and another real worker continues."""

import pytest

from schedviz.api.write import create
from schedviz.loop.leadership import break_watch, end_lease, living_workers
from schedviz.store import Sandbox
from simulator.trace import LeaderElected, PodStarted, WatchRelisted
from tests.loop.conftest import Arena, bound, node, pod, until_bound
from tests.loop.test_recording import assert_replay_equals
from tests.loop.test_workers import assert_each_pod_was_bound_once
from tests.waiting import eventually

BATCH = 60


@pytest.mark.long
def test_another_worker_rebuilds_the_queue_after_the_leaders_lease_was_ended(arena: Arena) -> None:
    sandbox = arena.make("deposed", [node("n1"), node("n2"), pod("big", cpu="64")])

    def waits() -> bool:
        big = sandbox.queue_places().get("default/big")
        return big is not None and big.lane == "unschedulable"

    eventually(waits, "the pod has been tried")
    holders = []
    for turn in range(3):
        create(sandbox, [pod(f"p-{turn}-{i}", cpu="10m") for i in range(BATCH)])
        arena.wake(sandbox.name)
        eventually(until_bound(sandbox, turn * BATCH + 5), "some are bound")
        over = end_lease(arena.store, sandbox)
        arena.wake(sandbox.name)
        assert over
        holders.append(over.holder)
        elected = eventually(
            lambda epoch=over.epoch: next(
                (
                    event
                    for _, event in sandbox.trace(0, 100_000)
                    if isinstance(event, LeaderElected) and event.epoch > epoch
                ),
                None,
            ),
            "another is elected",
        )
        assert elected.holder != over.holder
        assert elected.holder in living_workers(arena.store)
        eventually(until_bound(sandbox, (turn + 1) * BATCH), "all are bound")
        eventually(lambda: sandbox.queue_places().keys() == {"default/big"}, "the queue is as it was")
        eventually(waits, "the new leader has tried it too")
    assert len(set(holders)) == 2
    assert "big" not in bound(sandbox)
    assert_each_pod_was_bound_once(sandbox, 3 * BATCH)
    assert all(worker.popen.poll() is None for worker in arena.workers)


def test_after_an_interrupted_watch_the_leader_lists_all_objects_and_continues(arena: Arena) -> None:
    sandbox = arena.make("relisted", [node("n1"), pod("first")])
    eventually(until_bound(sandbox, 1), "the first is bound")
    lease = sandbox.lease()
    struck = break_watch(sandbox)
    arena.wake(sandbox.name)
    eventually(lambda: listed(sandbox), "everything is listed again")
    assert lease
    assert struck
    assert struck.epoch == lease.epoch
    create(sandbox, [pod("second")])
    arena.wake(sandbox.name)
    eventually(until_bound(sandbox, 2), "the second is bound")
    [relisted] = listed(sandbox)
    assert relisted.objects >= 2
    assert relisted.gone == 0
    elected = [event for _, event in sandbox.trace(0, 100_000) if isinstance(event, LeaderElected)]
    assert len(elected) == 1, "no other worker has taken over"
    eventually(lambda: len(started(sandbox)) == 2, "both run: nothing more is to come")
    assert_replay_equals(arena.store, sandbox)


def started(sandbox: Sandbox) -> list[PodStarted]:
    return [event for _, event in sandbox.trace(0, 100_000) if isinstance(event, PodStarted)]


def listed(sandbox: Sandbox) -> list[WatchRelisted]:
    return [event for _, event in sandbox.trace(0, 100_000) if isinstance(event, WatchRelisted)]

"""The work queue of a controller."""

from simulator.api import SECOND
from simulator.apiserver.server import ApiServer
from simulator.client.world import World
from simulator.controllers.work_queue import ObjectKey, WorkQueue
from simulator.kernel.containment import FIRST_DELAY
from simulator.kernel.environment import Turn
from simulator.memory import MemoryStorage
from simulator.versions.features import DEFAULT_FEATURES

WEB = ObjectKey("pods", "default/web")


class Synced:
    """A queue whose syncs are noted with their times; the first ``failures`` of them raise."""

    def __init__(self, failures: int = 0) -> None:
        self.world = World(MemoryStorage(), ApiServer, DEFAULT_FEATURES)
        self.queue = WorkQueue(self.world, "Test", Turn.CONTROLLER, self._sync)
        self.syncs: list[tuple[str, int]] = []
        self._failures = failures

    def _sync(self, item: ObjectKey) -> None:
        self.syncs.append((item.key, self.world.now))
        if len(self.syncs) <= self._failures:
            raise ValueError("not yet")

    def run(self) -> list[tuple[str, int]]:
        while self.world.agenda.due() is not None:
            self.world.step()
        return self.syncs


def test_an_object_is_in_the_queue_once_with_its_earliest_time() -> None:
    synced = Synced()
    for time in (3 * SECOND, SECOND, 2 * SECOND):
        synced.queue.add(WEB, time)
    assert synced.run() == [("default/web", SECOND)]


def test_a_removed_object_is_not_synced() -> None:
    synced = Synced()
    synced.queue.add(WEB, SECOND)
    synced.queue.remove(WEB)
    assert synced.run() == []


def test_an_object_may_be_added_again_by_its_own_sync() -> None:
    synced = Synced()
    synced.queue.add(WEB)
    synced.run()
    synced.queue.add(WEB, SECOND)
    assert synced.run() == [("default/web", 0), ("default/web", SECOND)]


def test_a_sync_that_raises_is_repeated_with_back_off_and_reported_once() -> None:
    synced = Synced(failures=2)
    synced.queue.add(WEB)
    times = [time for _, time in synced.run()]
    assert times == [0, FIRST_DELAY, FIRST_DELAY + 2 * FIRST_DELAY]
    assert [type(event).__name__ for event in synced.world.trace] == ["ControllerFailed"]


def test_sync_now_adds_the_object_only_if_its_sync_raises() -> None:
    synced = Synced(failures=1)
    synced.queue.sync_now(WEB)
    synced.queue.sync_now(ObjectKey("pods", "default/other"))
    assert synced.run() == [("default/web", 0), ("default/other", 0), ("default/web", FIRST_DELAY)]

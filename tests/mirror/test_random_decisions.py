"""Random decisions of a sandbox that is mirrored by its API: all have good verdicts, and the mirror has its
objects, though connections are cut, versions expire and another worker leads the source."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import msgspec
import pytest

from schedviz.mirror.session import Cluster
from schedviz.real_cluster import follow
from schedviz.real_cluster.read_resources import FOLLOWED
from schedviz.store import Sandbox, Store
from schedviz.up.embedded_redis import free_port
from schedviz.up.programs import SERVER
from simulator.api import SECOND, Manifest
from simulator.apiserver.resource import Resource
from simulator.dumps.followed_objects import FollowedObjects
from simulator.objects.events import EVENTS
from simulator.trace import BindingJudged, Event, FailureJudged, OutsideBound, PreemptionJudged
from simulator.verdict_words import CUT_OFF, NO_POD_GROUP, NOT_TRIED, STATES_LEFT
from simulator.verdicts import judge, open_verdicts, repeated_failures
from simulator.versions.features import DEFAULT_FEATURES
from tests.loop.world import START, World
from tests.mirror.conftest import Mirror, identity
from tests.mirror.proxy import Proxy, before
from tests.processes import Process, answers
from tests.verdicts.source import GANG_FEATURES, RandomChanges
from tests.waiting import eventually

Verdicts = BindingJudged | FailureJudged | PreemptionJudged
LATENESS = [
    (open_verdicts, "PATIENCE"),
    (judge, "PATIENCE"),
    (judge, "EVENT_LATE"),
    (repeated_failures, "EVENT_LATE"),
]
"""How late the watch of one resource may be compared with others. Here it has all the time that a busy
machine needs."""
THEMES = ("affinity", "preemption", "queue", "volumes", "devices", "gangs")
STEPS = 24
"""How often ten changes are made."""
DECISIONS_A_STEP = 5
"""How many there are at least in the mean: bindings, messages and evictions."""
UNKNOWN_AT_MOST = 1 / 8
UNKNOWN_BY = (CUT_OFF, "running PreBind plugin", NO_POD_GROUP, NOT_TRIED, STATES_LEFT)


class OwnServer:
    """A web server that the test ends and starts again."""

    def __init__(self, folder: Path) -> None:
        self._port = free_port()
        self._log = folder / "log"
        self.address = f"http://127.0.0.1:{self._port}"
        self.start()

    def start(self) -> None:
        self.process = Process(["-m", SERVER, f"--port={self._port}"], self._log)
        eventually(lambda: self.process.alive() and answers(f"{self.address}/healthz"), "the server answers")


@pytest.fixture(scope="module")
def own_server(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OwnServer]:
    server = OwnServer(tmp_path_factory.mktemp("own-server"))
    yield server
    server.process.stop()


class RandomWorld(RandomChanges):
    """A sandbox with random changes."""

    def __init__(self, store: Store, theme: str, number: int) -> None:
        super().__init__(theme, number)
        self.features = GANG_FEATURES if theme == "gangs" else DEFAULT_FEATURES
        self.world = World(
            store,
            seed=number,
            pace=self.pace,
            config=self.config,
            kubernetes=self.features.version.patch,
            feature_gates=self.features.gates,
        )
        self.sandbox = self
        self.create(self.begun)
        self.run(0)

    def names(self, resource: str) -> list[str]:
        return sorted(self.world.sandbox.list_all()[0].get(resource, {}))

    def create(self, documents: list[Manifest]) -> None:
        self.world.create(*documents)

    def patch(self, resource: Resource, key: str, changes: Manifest) -> None:
        self.world.patch(resource.id, key, changes)

    def delete(self, resource: Resource, key: str) -> None:
        self.world.delete(resource.id, key)

    def run(self, seconds: float) -> None:
        self.world.let_time_pass(seconds)
        self.world.slice()


def as_mirrored(source: RandomWorld) -> dict[str, dict[str, Any]]:
    """What a mirror of a sandbox has: no pods that have ended, and nothing that is redacted."""
    reader = FollowedObjects(START, bytes(32), source.features)
    objects, _ = source.world.sandbox.list_all()
    found: dict[str, dict[str, Any]] = {}
    for resource in FOLLOWED:
        for key, manifest in objects.get(resource.id, {}).items():
            read = reader.read(resource, msgspec.json.encode(manifest))
            if read is not None and (read.get("status") or {}).get("phase") not in ("Succeeded", "Failed"):
                found.setdefault(resource.id, {})[key] = identity(read)
    found.pop(EVENTS, None)
    return found


def stored_identities(sandbox: Sandbox) -> dict[str, dict[str, Any]]:
    """What the mirror has."""
    objects, _ = sandbox.list_all()
    followed = {resource.id for resource in FOLLOWED} - {EVENTS}
    return {
        resource: {key: identity(manifest) for key, manifest in collection.items()}
        for resource, collection in objects.items()
        if resource in followed and collection
    }


class Following:
    """The mirror of a source, which is followed over a server and a connection that fail."""

    def __init__(
        self, source: RandomWorld, server: OwnServer, proxy: Proxy, start: Callable[[], Mirror]
    ) -> None:
        self._source, self._server, self._proxy, self._start = source, server, proxy, start
        self.mirror = start()
        eventually(self.mirror.follows, "the mirror follows")

    def go_on(self, operations: int) -> None:
        """Let so many changes happen, and the mirror catch up. Verdicts wait for what comes late until
        then."""
        self._source.go_on(operations)
        eventually(self._is_same, "the mirror has the same objects")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(open_verdicts, "PATIENCE", 0)
            waiting = self.mirror.session._judge._judge._open
            eventually(lambda: waiting.oldest() is None, "no verdict waits")

    def _is_same(self) -> bool:
        self.mirror.follows()
        return stored_identities(self.mirror.sandbox) == as_mirrored(self._source)

    # What fails

    def cut(self) -> None:
        """The connections end while the cluster changes."""
        self._source.go_on(3)
        self._proxy.cut()

    def expire(self) -> None:
        """The versions of the watches are not kept any more. What happens until all is listed again is lost,
        so no more than that of one fault."""
        followers = [each for each in self.mirror.session.follower.followers if each.version]
        for each in followers:
            each.version = "1"
        self.cut()
        eventually(lambda: all(each.version not in ("", "1") for each in followers), "all is listed again")

    def restart(self) -> None:
        """The mirroring process ends, and another one begins after some changes."""
        self.mirror.stop()
        self._source.go_on(3)
        self.mirror = self._start()
        eventually(self.mirror.follows, "the mirror follows")

    def restart_server(self) -> None:
        """The API server is killed, and started again after some changes."""
        self._server.process.kill()
        self._proxy.cut()
        self._source.go_on(3)
        self._server.start()

    def hand_over(self) -> None:
        """Another worker leads the source."""
        self._source.world.take_over()


def check(trace: list[Event]) -> None:
    """All decisions that a mirror followed have verdicts, and these are good ones, but for a small share:
    bindings that happened while nobody mirrored, decisions that only a list shows, as their watch events were
    lost, or that were made before such a list, and those that failed after a node was found. A pod that a
    list shows first with its node has a verdict and no binding."""
    bound = Counter(each.pod for each in trace if isinstance(each, OutsideBound))
    assert bound <= Counter(each.pod for each in trace if isinstance(each, BindingJudged))
    found = [each for each in trace if isinstance(each, Verdicts)]
    unknown = [each for each in found if each.verdict == "unknown"]
    for each in unknown:
        assert any(why in repr(each) for why in UNKNOWN_BY), each
    others = [each for each in found if each.verdict not in ("agrees", "tie", "unknown")]
    assert not others, others[:3]
    assert len(found) >= STEPS * DECISIONS_A_STEP
    assert len(unknown) <= len(found) * UNKNOWN_AT_MOST


@pytest.mark.long
@pytest.mark.parametrize("theme", THEMES)
def test_all_decisions_have_good_verdicts_and_the_objects_are_the_same(
    store: Store,
    own_server: OwnServer,
    theme: str,
    *,
    sandbox_name: str,
    cluster_at: Callable[[str], Cluster],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Some 2,100 decisions in all themes together."""
    monkeypatch.setattr(follow, "BACK_OFF", (0.01, 0.05))
    for module, name in LATENESS:
        monkeypatch.setattr(module, name, 3600 * SECOND)
    source = RandomWorld(store, theme, 0)
    with before(f"{own_server.address}/s/{source.world.sandbox.name}") as proxy:
        cluster = cluster_at(proxy.address)._replace(configuration=source.config, features=source.features)
        following = Following(source, own_server, proxy, lambda: Mirror(store, sandbox_name, cluster))
        faults = cycle([following.cut, following.hand_over, following.expire, following.restart])
        try:
            for step in range(STEPS):
                following.go_on(10)
                (following.restart_server if step == STEPS // 2 else next(faults))()
            source.run(30)
            following.go_on(1)
        finally:
            following.mirror.stop()
    check([event for _, event in following.mirror.sandbox.trace_tail(20_000)])

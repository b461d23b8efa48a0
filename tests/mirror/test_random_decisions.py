"""Random decisions of a sandbox that is mirrored by its API: all have good verdicts, and the mirror has its
objects, though connections are cut, versions expire and another worker leads the source."""

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from schedviz.mirror.session import Cluster
from schedviz.real_cluster import follow
from schedviz.real_cluster.read_resources import FOLLOWED
from schedviz.store import Sandbox, Store
from simulator.api import Manifest
from simulator.apiserver.resource import Resource
from simulator.dumps.followed_objects import FollowedObjects
from simulator.objects.events import EVENTS
from simulator.trace import AnyEvent, BindingJudged, FailureJudged, OutsideBound, PreemptionJudged
from simulator.verdict_words import CUT_OFF
from simulator.versions.features import DEFAULT_FEATURES
from tests.loop.world import START, World
from tests.mirror.conftest import Mirror, identity
from tests.mirror.proxy import before
from tests.verdicts.source import GANG_FEATURES, RandomChanges
from tests.waiting import eventually


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


def trace(sandbox: Sandbox) -> list[AnyEvent]:
    return [event for _, event in sandbox.trace_tail(5000)]


def all_judged(sandbox: Sandbox) -> bool:
    """A pod that a list shows first with its node has a verdict and no binding."""
    events = trace(sandbox)
    bound = {each.pod for each in events if isinstance(each, OutsideBound)}
    return bound <= {each.pod for each in events if isinstance(each, BindingJudged)}


def check(mirror: Mirror) -> int:
    """All verdicts are good ones. How many there are."""
    found = [
        each
        for each in trace(mirror.sandbox)
        if isinstance(each, BindingJudged | FailureJudged | PreemptionJudged)
    ]
    for each in found:
        if each.verdict == "unknown":
            assert CUT_OFF in repr(each) or "running PreBind plugin" in repr(each), each
        else:
            assert each.verdict in ("agrees", "tie"), each
    return len(found)


@pytest.mark.long
@pytest.mark.parametrize("theme", ["affinity", "preemption", "volumes", "devices", "queue", "gangs"])
def test_all_decisions_have_good_verdicts_and_the_objects_are_the_same(
    store: Store,
    server: str,
    theme: str,
    *,
    sandbox_name: str,
    cluster_at: Callable[[str], Cluster],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follow, "BACK_OFF", (0.01, 0.05))
    source = RandomWorld(store, theme, 0)
    world = source.world
    with before(f"{server}/s/{world.sandbox.name}") as proxy:
        cluster = cluster_at(proxy.address)._replace(configuration=source.config, features=source.features)
        mirror = Mirror(store, sandbox_name, cluster)
        try:
            eventually(mirror.follows, "the mirror follows")
            for step in range(6):
                source.go_on(10)
                if step == 1:
                    world.take_over()
                elif step == 3:
                    for each in mirror.session.follower.followers:
                        each.version = "1"
                if step % 2:
                    proxy.cut()
            source.run(30)
            eventually(lambda: stored_identities(mirror.sandbox) == as_mirrored(source), "the same objects")
            eventually(lambda: all_judged(mirror.sandbox), "all bindings are judged")
            assert mirror.failure is None
        finally:
            mirror.stop()
    assert check(mirror) > 10

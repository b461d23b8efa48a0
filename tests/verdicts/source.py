"""Random clusters in memory with the model as their scheduler, whose watch events a judge is given."""

from collections.abc import Callable
from contextlib import suppress
from random import Random
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from simulator.api import SECOND, Manifest, WatchEvent
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NODES, PODS, find_built_in
from simulator.apiserver.served_features import serving
from simulator.apiserver.status import StatusError
from simulator.dumps.followed_objects import FollowedObjects
from simulator.memory_sandbox import START, MemorySandbox, SandboxOptions
from simulator.objects.metadata import key_of
from simulator.trace import BindingJudged, Event, FailureJudged, PreemptionJudged
from simulator.verdicts.judge import Judge
from simulator.verdicts.judged_scheduler import JudgedScheduler
from simulator.versions.feature_gates import GANG_GATES, POD_GROUP_GATES
from simulator.versions.features import DEFAULT_FEATURES, Features
from simulator.versions.kubernetes_version import V1_36
from tests.histories import devices, manifests, pods
from tests.histories.themes import THEMES, Theme

Verdicts = BindingJudged | FailureJudged | PreemptionJudged
CLAIMS, VOLUMES = "persistentvolumeclaims", "persistentvolumes"
PODS_AT_MOST = 40
GANGS = Theme(
    {"priority": 0.4, "lifetime": 0.4, "selector": 0.05, "spread": 0.1},
    {"pods": 4, "pod_group": 8, "node": 1, "node_changes": 1, "pod_goes": 4, "time": 8},
)
GANG_FEATURES = Features(V1_36, dict.fromkeys(GANG_GATES, True))
ALL_GROUP_FEATURES = Features(V1_36, dict.fromkeys(POD_GROUP_GATES, True))


class Source:
    """A sandbox that is watched. ``order``: what becomes of the watch events of one moment."""

    def __init__(
        self,
        options: SandboxOptions,
        scheduler: JudgedScheduler | None = None,
        order: Callable[[list[WatchEvent]], list[WatchEvent]] = list,
    ) -> None:
        self.sandbox = MemorySandbox(options)
        self.judge = Judge(scheduler or JudgedScheduler(options.features, options.config, percentage=100))
        self.trace: list[Event] = []
        for resource, objects in self.sandbox.list_all().items():
            for manifest in objects.values():
                version = int(manifest["metadata"]["resourceVersion"])
                listed = WatchEvent("ADDED", resource, key_of(manifest), manifest, version)
                for event in order([listed]):
                    self.judge.observe(event, self.sandbox.now())
        self.judge.listed()
        take = self.sandbox._api.take_events

        def watched() -> list[WatchEvent]:
            events = take()
            for event in order(events):
                self.trace += self.judge.observe(event, self.sandbox.now())
            self.trace += self.judge.settle(self.sandbox.now())
            return events

        self.sandbox._api.take_events = watched  # type: ignore[method-assign]

    def run(self, seconds: float) -> None:
        """Let simulated time run."""
        end = self.sandbox.now() + round(seconds * SECOND)
        sandbox = self.sandbox
        while (due := sandbox._simulation.next_due()) is not None and due <= end:
            sandbox._now = max(sandbox._now, due)
            sandbox._simulation.step(sandbox._now)
            sandbox._observe()
        sandbox.move_to(end)
        self.trace += self.judge.settle(sandbox.now())

    @property
    def verdicts(self) -> list[Verdicts]:
        return [each for each in self.trace if isinstance(each, Verdicts)]


def as_a_mirror_reads(
    features: Features = DEFAULT_FEATURES,
) -> Callable[[list[WatchEvent]], list[WatchEvent]]:
    """Objects as a mirror stores them: redacted, and without what is not followed."""
    reader = FollowedObjects(START, bytes(32), features)

    def read(events: list[WatchEvent]) -> list[WatchEvent]:
        found = []
        for event in events:
            plural, _, group = event.resource.partition(".")
            with serving(features):
                resource = find_built_in(group, plural)
                manifest = resource and reader.read(resource, msgspec.json.encode(event.object))
            if manifest:
                found.append(replace(event, object=manifest))
        return found

    return read


class Changed(Protocol):
    """A sandbox that random changes are made to."""

    def names(self, resource: str) -> list[str]: ...
    def create(self, documents: list[Manifest]) -> object: ...
    def patch(self, resource: Resource, key: str, changes: Manifest) -> object: ...
    def delete(self, resource: Resource, key: str) -> object: ...


class RandomChanges:
    """Random pods and changes, as those of a theme of the random histories."""

    def __init__(self, theme_name: str, number: int) -> None:
        theme = GANGS if theme_name == "gangs" else THEMES[theme_name]
        # Faults are made on purpose, which the model knows nothing of.
        self.theme = theme._replace(demands={**theme.demands, "fault": 0})
        self.random = Random(f"{theme_name}/{number}")
        self._names = 0
        random = self.random
        nodes = [manifests.node(random, self._name("node")) for _ in range(self.theme.nodes + 2)]
        self.begun = [*manifests.basics(), *nodes]
        if "volume" in self.theme.weights:
            self.begun += [manifests.csi_node(random, node["metadata"]["name"]) for node in nodes]
            self.begun += [manifests.volume(random, self._name("volume")) for _ in range(3)]
            self.begun += [manifests.claim(random, f"claim-{number}") for number in range(4)]
        if "device_claim" in self.theme.weights:
            names = [node["metadata"]["name"] for node in nodes]
            self.begun += [
                *devices.basics(),
                *(devices.resource_slice(random, name, name) for name in names),
            ]
        config = self.theme.configs[number % len(self.theme.configs)]
        self.config = None if config is None else {"apiVersion": API, "kind": KIND, **config}
        paces = (SECOND // 4,) if theme_name == "gangs" else (0, SECOND // 100, SECOND // 10)
        # A group that fails is tried again without pause.
        self.pace = random.choice(paces)

    sandbox: Changed

    def run(self, seconds: float) -> None:
        """Let simulated time run."""
        raise NotImplementedError

    def go_on(self, operations: int) -> None:
        known = [name for name in self.theme.weights if hasattr(self, f"_{name}")]
        weights = [self.theme.weights[name] for name in known]
        for _ in range(operations):
            [operation] = self.random.choices(known, weights)
            with suppress(StatusError):
                getattr(self, f"_{operation}")()
            if self.random.random() < 0.6:
                self.run(self.random.choice((0, 0, 0.1, 0.5)))

    def _pods(self) -> None:
        if len(self.sandbox.names("pods")) < PODS_AT_MOST:
            count = self.random.randint(1, 5)
            made = [pods.pod(self.random, self._name("pod"), self.theme.demands) for _ in range(count)]
            self.sandbox.create(made)

    def _pod_group(self) -> None:
        """A gang, or a group without one, that may need more pods than it has. A pod may come before it."""
        if len(self.sandbox.names("pods")) >= PODS_AT_MOST:
            return
        name, size = self._name("gang"), self.random.randint(1, 5)
        count = self.random.choice((None, size, max(1, size - 1), size + 1))
        policy: Manifest = {"basic": {}} if count is None else {"gang": {"minCount": count}}
        made = manifests.manifest("scheduling.k8s.io/v1alpha2", "PodGroup", name, "default")
        members = [pods.pod(self.random, f"{name}-{i}", self.theme.demands) for i in range(size)]
        for each in members:
            each["metadata"]["namespace"] = "default"
            each["spec"]["schedulingGroup"] = {"podGroupName": name}
        early = self.random.choice((0, 0, 0, 1))
        made["spec"] = {"schedulingPolicy": policy}
        # What follows is dropped where its gate is off.
        if self.random.random() < 0.4:
            made["spec"]["schedulingConstraints"] = {"topology": [{"key": manifests.ZONE}]}
        if self.random.random() < 0.4:
            made["spec"]["disruptionMode"] = "PodGroup"
        self.sandbox.create([*members[:early], made, *members[early:]])

    def _node(self) -> None:
        if len(self.sandbox.names("nodes")) < self.theme.nodes + 6:
            self.sandbox.create([manifests.node(self.random, self._name("node"))])

    def _node_changes(self) -> None:
        spec: Manifest = self.random.choice(
            ({"taints": [manifests.taint(self.random)]}, {"taints": None}, {"unschedulable": None})
        )
        self.sandbox.patch(NODES, self._one_of("nodes"), {"spec": spec})

    def _pod_changes(self) -> None:
        labels = {"labels": {"app": self.random.choice(manifests.APPS)}}
        self.sandbox.patch(PODS, self._one_of("pods"), {"metadata": labels})

    def _pod_goes(self) -> None:
        self.sandbox.delete(PODS, self._one_of("pods"))

    def _node_goes(self) -> None:
        self.sandbox.delete(NODES, self._one_of("nodes"))

    def _budget(self) -> None:
        self.sandbox.create([manifests.budget(self.random, self.random.choice(manifests.APPS))])

    def _claim(self) -> None:
        self.sandbox.create([manifests.claim(self.random, f"claim-{self.random.randrange(6)}")])

    def _device_claim(self) -> None:
        self.sandbox.create([devices.claim(self.random, self.random.choice(devices.SHARED))])

    def _volume(self) -> None:
        self.sandbox.create([manifests.volume(self.random, self._name("volume"))])

    def _time(self) -> None:
        self.run(self.random.choice((0.1, 0.4, 1, 1, 3, 8, 20)))

    def _name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}-{self._names}"

    def _one_of(self, resource: str) -> str:
        keys = self.sandbox.names(resource)
        return self.random.choice(keys) if keys else "default/none"


class RandomSource(RandomChanges, Source):
    """One with random pods and changes."""

    sandbox: MemorySandbox

    def __init__(
        self, theme_name: str, number: int, features: Features = DEFAULT_FEATURES, **options: Any
    ) -> None:
        RandomChanges.__init__(self, theme_name, number)
        made = SandboxOptions(
            name="source",
            manifests=self.begun,
            seed=number,
            features=features,
            pace=self.pace,
            config=self.config,
        )
        Source.__init__(self, made, **options)

    run = Source.run


API, KIND = "kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration"

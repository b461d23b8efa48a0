"""Random histories: operations of users and leaders on a cluster, drawn from a seed."""

from random import Random
from typing import Any

from msgspec import UNSET

from simulator.api import SECOND, Manifest
from simulator.queueing.queue_version import QueueVersion
from simulator.simulation import Options
from simulator.versions.features import DEFAULT_FEATURES
from tests.histories import devices, manifests, pods, workloads
from tests.histories.cluster import Cluster
from tests.histories.extender import ScriptedExtender
from tests.histories.themes import PACES, RATIO, THEMES, Theme

OLDEST = 4
"""The number of those that name no version, as what was recorded before there was a choice."""
OPERATIONS = 50
"""The number of operations of a history."""
LAST_SECONDS = 340
"""Long enough for the flush of pods that wait for five minutes."""
MAX_PODS, MAX_FURTHER_NODES, MAX_CLAIMS = 45, 6, 12
WORKLOADS = ("deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps", "jobs.batch")
CLAIMS, VOLUMES, TIMETABLES = "persistentvolumeclaims", "persistentvolumes", "timetables.schedviz"
CSI_NODES, CLASSES = "csinodes.storage.k8s.io", "storageclasses.storage.k8s.io"
CAPACITIES, ATTACHMENTS = "csistoragecapacities.storage.k8s.io", "volumeattachments.storage.k8s.io"
DEVICE_CLAIMS, SLICES = "resourceclaims.resource.k8s.io", "resourceslices.resource.k8s.io"
FAIL_AT, PERMIT = "schedviz/fail-at", "schedviz/permit"


def random_history(theme_name: str, number: int) -> list[bytes]:
    """The lines of one; the same for the same theme and number."""
    theme = THEMES[theme_name]
    history = History(theme, number, Random(f"{theme_name}/{number}"))
    for _ in range(OPERATIONS):
        history.go_on()
    history.cluster.operation(f"run {LAST_SECONDS} s")
    history.cluster.run(LAST_SECONDS)
    return history.cluster.end()


class History:
    """Each method that is an operation is named as in the theme's weights."""

    def __init__(self, theme: Theme, number: int, random: Random) -> None:
        self._theme = theme
        self._random = random
        self._names = 0
        self._operations = [*theme.weights]
        self._weights = [*theme.weights.values()]
        options = Options(
            seed=number,
            pace=random.choice(PACES),
            config=theme.configs[number % len(theme.configs)],
            queue=theme.queue,
            controllers=theme.controllers,
            kubernetes=UNSET if number == OLDEST else DEFAULT_FEATURES.version.patch,
        )
        self.cluster = Cluster(options, transport=ScriptedExtender() if theme.extenders else None)
        self.cluster.operation("create what the cluster begins with")
        nodes = [
            manifests.node(random, self._name("node")) for _ in range(theme.nodes + random.randint(-1, 2))
        ]
        self.cluster.create(*manifests.basics(), *nodes)
        if "volume" in theme.weights:
            self.cluster.create(*(manifests.csi_node(random, node["metadata"]["name"]) for node in nodes))
            self.cluster.create(*(manifests.volume(random, self._name("volume")) for _ in range(3)))
            claims = [manifests.claim(random, f"claim-{number}") for number in range(4)]
            self.cluster.create(*claims)
        if "device_claim" in theme.weights:
            slices = [
                devices.resource_slice(random, node["metadata"]["name"], node["metadata"]["name"])
                for node in nodes
            ]
            self.cluster.create(*devices.basics(), *slices)
        self.cluster.observe()

    def go_on(self) -> None:
        """One more operation."""
        [operation] = self._random.choices(self._operations, self._weights)
        self.cluster.operation(operation)
        getattr(self, operation)()
        if operation != "unseen_write":
            self.cluster.observe()
            if self._random.random() < 0.6:
                self.cluster.run(self._random.choice((0, 0, 0.1, 0.5)))

    # Creations

    def pods(self) -> None:
        if len(self.cluster.objects("pods")) < MAX_PODS:
            names = [self._name("pod") for _ in range(self._random.randint(1, 5))]
            self.cluster.create(*(pods.pod(self._random, name, self._theme.demands) for name in names))

    def node(self) -> None:
        if len(self.cluster.objects("nodes")) < self._theme.nodes + MAX_FURTHER_NODES:
            self.cluster.create(manifests.node(self._random, self._name("node")))

    def claim(self) -> None:
        if len(self.cluster.objects(CLAIMS)) < MAX_CLAIMS:
            self.cluster.create(manifests.claim(self._random, f"claim-{self._random.randrange(6)}"))

    def device_claim(self) -> None:
        """Create a claim, or delete an existing one."""
        name = self._random.choice(devices.SHARED)
        if f"default/{name}" in self.cluster.objects(DEVICE_CLAIMS):
            self.cluster.delete(DEVICE_CLAIMS, f"default/{name}")
        else:
            self.cluster.create(devices.claim(self._random, name))

    def volume(self) -> None:
        if len(self.cluster.objects(VOLUMES)) < MAX_CLAIMS:
            self.cluster.create(manifests.volume(self._random, self._name("volume")))

    def budget(self) -> None:
        self.cluster.create(manifests.budget(self._random, self._random.choice(manifests.APPS)))

    def workload(self) -> None:
        if len(self.cluster.objects("pods")) < MAX_PODS:
            self.cluster.create(workloads.workload(self._random, self._name("app"), self._theme.demands))

    def timetable(self) -> None:
        self.cluster.create(workloads.timetable(self._random, self._name("table"), self._theme.demands))

    # Changes

    def node_changes(self) -> None:
        key = self._one_of("nodes")
        change = self._random.choice((self._tainted, self._cordoned, self._relabelled, self._resized))
        if key:
            self.cluster.change("nodes", key, change)

    def node_fails(self) -> None:
        key = self._one_of("nodes")
        annotation = self._random.choice(
            ({"schedviz/failed": "true"}, {"schedviz/failed": "false"}, {"schedviz/pressure": "memory"}, {})
        )
        if key:
            self.cluster.change("nodes", key, lambda node: _with_metadata(node, annotations=annotation))

    def pod_changes(self) -> None:
        key = self._one_of("pods")
        change = self._random.choice((self._ungated, self._relabelled, self._tolerating))
        if key:
            self.cluster.change("pods", key, change)

    def permit(self) -> None:
        self._annotate_pod(
            PERMIT, f"{self._random.choice(('approve', 'reject'))} {self._random.randint(1, 3)}"
        )

    def fault(self) -> None:
        self._annotate_pod(FAIL_AT, self._random.choice(manifests.FAULT_POINTS))

    def workload_changes(self) -> None:
        found = [(resource, key) for resource in WORKLOADS for key in self.cluster.objects(resource)]
        if not found:
            return
        resource, key = self._random.choice(found)
        if self._random.random() < 0.3:
            self.cluster.delete(
                resource, key, propagation=self._random.choice((None, "Orphan", "Foreground"))
            )
        elif self._random.random() < 0.5 and not resource.startswith("jobs"):
            self.cluster.change(resource, key, workloads.with_another_image)
        elif "replicas" in self.cluster.objects(resource)[key]["spec"]:
            replicas = self._random.randint(0, 5)
            self.cluster.change(resource, key, lambda old: _with_spec(old, replicas=replicas))

    def storage_changes(self) -> None:
        """Change what the queueing hints of the volume plugins read."""
        random = self._random
        node = self._one_of("nodes")
        if node and random.random() < 0.3:
            self._replace(CSI_NODES, node, manifests.csi_node(random, node))
        elif node and random.random() < 0.3:
            self._replace(ATTACHMENTS, "attached", manifests.attachment(random, "attached", node))
        elif random.random() < 0.5:
            self._replace(CAPACITIES, "default/capacity", manifests.capacity(random, "capacity"))
        else:
            name = random.choice(manifests.STORAGE_CLASSES)
            [again] = [made for made in manifests.storage_classes() if made["metadata"]["name"] == name]
            self._replace(CLASSES, name, again)

    def slice_changes(self) -> None:
        random = self._random
        node = self._one_of("nodes") if random.random() < 0.8 else ""
        name = node or random.choice(("fabric", "spare"))
        self._replace(SLICES, name, devices.resource_slice(random, name, node))

    # Deletions

    def node_goes(self) -> None:
        self._delete_one("nodes")

    def pod_goes(self) -> None:
        self._delete_one("pods")

    def storage_goes(self) -> None:
        self._delete_one(self._random.choice((CLAIMS, VOLUMES)))

    # Time

    def time(self) -> None:
        self.cluster.run(self._random.choice((0.1, 0.4, 1, 1, 3, 8, 20, 60)))

    def late(self) -> None:
        self.cluster.run_late(self._random.choice((0.5, 2, 15, 70)))

    def steps(self) -> None:
        """Some steps, while time stands still; writes come between them."""
        for _ in range(self._random.randint(1, 6)):
            if not self.cluster.step():
                self.cluster.now += SECOND // 2
            elif self._random.random() < 0.2:
                self.pods()

    def points(self) -> None:
        """Extension points, one by one; what is written between them waits until the cycle is over."""
        for _ in range(self._random.randint(2, 14)):
            if not self.cluster.step(by_point=True):
                self.cluster.now += SECOND // 4
            elif self._random.random() < 0.1:
                self._random.choice((self.pods, self.pod_changes, self.node_changes, self.pod_goes))()
                if self._random.random() < 0.7:
                    self.cluster.observe()
        if self._random.random() < 0.8:
            while self.cluster.in_cycle:
                self.cluster.step(by_point=True)

    # Leaders

    def unseen_write(self) -> None:
        """Write while the leader works. It notices this when its own write is refused."""
        for _ in range(self._random.randint(1, 3)):
            self._random.choice((self.pod_changes, self.pod_goes, self.node_changes, self.node_goes))()
            self.cluster.step()

    def take_over(self) -> None:
        self.cluster.elect()

    def relist(self) -> None:
        self.pods()
        self.cluster.relist()

    def configure(self) -> None:
        options = self.cluster.options
        config = RATIO if options.config is None else None
        self.cluster.configure(
            Options(
                seed=options.seed + 1,
                pace=self._random.choice(PACES),
                config=config,
                queue=self._random.choice((QueueVersion.KUBERNETES, options.queue)),
                controllers=options.controllers,
                kubernetes=options.kubernetes,
            )
        )

    def full(self) -> None:
        """The API server refuses creations for some time."""
        self.cluster.full = True
        self.cluster.run(self._random.choice((0.5, 3)))
        self.cluster.full = False

    # Parts

    def _name(self, prefix: str) -> str:
        self._names += 1
        return f"{prefix}-{self._names}"

    def _one_of(self, resource: str) -> str:
        """The key of an object; "" = there is none."""
        keys = [*self.cluster.objects(resource)]
        return self._random.choice(keys) if keys else ""

    def _delete_one(self, resource: str) -> None:
        key = self._one_of(resource)
        if key:
            self.cluster.delete(resource, key)

    def _replace(self, resource: str, key: str, manifest: Manifest) -> None:
        """Create the object. If it exists already, delete or replace it."""
        old = self.cluster.objects(resource).get(key)
        if old is None:
            self.cluster.create(manifest)
        elif self._random.random() < 0.4:
            self.cluster.delete(resource, key)
        else:
            kept = {
                field: value for field, value in old.items() if field in ("apiVersion", "kind", "metadata")
            }
            self.cluster.change(resource, key, lambda _: {**manifest, **kept})

    def _annotate_pod(self, name: str, value: str) -> None:
        key = self._one_of("pods")
        if key:
            self.cluster.change("pods", key, lambda pod: _with_metadata(pod, annotations={name: value}))

    def _tainted(self, node: Manifest) -> Manifest:
        taints = [manifests.taint(self._random)] if self._random.random() < 0.6 else []
        return _with_spec(node, taints=taints)

    def _cordoned(self, node: Manifest) -> Manifest:
        return _with_spec(node, unschedulable=self._random.random() < 0.4)

    def _relabelled(self, manifest: Manifest) -> Manifest:
        if manifest["kind"] == "Node":
            return _with_metadata(manifest, labels={"disk": self._random.choice(("ssd", "hdd"))})
        return _with_metadata(manifest, labels={"app": self._random.choice(manifests.APPS)})

    def _resized(self, node: Manifest) -> Manifest:
        allocatable = {**node["status"]["allocatable"], "cpu": str(self._random.choice((1, 4, 8)))}
        return {**node, "status": {**node["status"], "allocatable": allocatable}}

    def _ungated(self, pod: Manifest) -> Manifest:
        return {**pod, "spec": {field: v for field, v in pod["spec"].items() if field != "schedulingGates"}}

    def _tolerating(self, pod: Manifest) -> Manifest:
        return _with_spec(pod, tolerations=[{"operator": "Exists"}])


def _with_spec(manifest: Manifest, **fields: Any) -> Manifest:
    return {**manifest, "spec": {**manifest.get("spec", {}), **fields}}


def _with_metadata(manifest: Manifest, **fields: dict[str, str]) -> Manifest:
    metadata = manifest["metadata"]
    merged = {name: {**metadata.get(name, {}), **added} for name, added in fields.items()}
    return {**manifest, "metadata": {**metadata, **merged}}

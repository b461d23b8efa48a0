"""Objects of a real cluster, or of another sandbox, as they are taken over: made to fit, freed of what nobody
here needs (:mod:`redaction`), and told of in a report.

They keep their uids, so that what belongs together stays together; who is owned by something that did not
come along is nobody's then, or the garbage collector would delete it.
"""

import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

import msgspec

from simulator.api import Change, Manifest, Micros
from simulator.apiserver import priority, resources
from simulator.apiserver.admission import bootstrap
from simulator.apiserver.defaults import complete, qos_class, set_defaults
from simulator.apiserver.fitting import Unfit, fit
from simulator.apiserver.overlay import NewCluster, Overlay
from simulator.apiserver.redaction import redact
from simulator.apiserver.resources import NAMESPACES, NODES, PODS, PRIORITY_CLASSES, Resource
from simulator.apiserver.status import StatusError
from simulator.apiserver.timestamps import micros, timestamp
from simulator.apiserver.validation import validate

TAKEN: Final = (
    *("namespaces", "priorityclasses.scheduling.k8s.io", "nodes", "csinodes.storage.k8s.io"),
    *("storageclasses.storage.k8s.io", "csidrivers.storage.k8s.io", "csistoragecapacities.storage.k8s.io"),
    *("persistentvolumes", "persistentvolumeclaims", "volumeattachments.storage.k8s.io", "services"),
    *("deployments.apps", "replicasets.apps", "statefulsets.apps", "daemonsets.apps", "cronjobs.batch"),
    *("jobs.batch", "controllerrevisions.apps", "replicationcontrollers", "poddisruptionbudgets.policy"),
    *("timetables.schedviz", "pods"),
)
"""The resources that the scheduler or a controller of the simulation reads, in the order in which they are
written: owners before what they own."""
PRIVATE: Final = frozenset({"secrets", "configmaps"})
UNSIMULATED: Final = frozenset(
    {
        *("resourceclaims.resource.k8s.io", "resourceclaimtemplates.resource.k8s.io"),
        *("deviceclasses.resource.k8s.io", "resourceslices.resource.k8s.io"),
        *("horizontalpodautoscalers.autoscaling", "resourcequotas", "limitranges"),
    }
)
"""Which a real cluster's pods or scheduler depend on, and nothing here does."""
MAX_NAMED: Final = 50
"""Entries of each list of a report; nobody reads more."""
MAX_NAME: Final = 100
"""Characters of what a stranger's text is called in a report."""
MAX_PATH: Final = 150
"""Characters of a field's path in a report; the longest of a pod's own has some 120."""
DEFAULT_SCHEDULER: Final = "default-scheduler"
_UIDS: Final = uuid.UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")

Fate = Literal["taken", "private", "unread", "unsimulated", "custom", "version", "untyped"]
"""What became of a kind: taken; left out since it may hold secrets, since nothing here reads it, since it is
not simulated, since it is a custom resource, since only another version is known; or there was no kind."""


class Kind(msgspec.Struct):
    """How many objects of a kind came, and how many of them were taken."""

    api_version: str
    kind: str
    fate: Fate
    came: int = 0
    taken: int = 0


class Report(msgspec.Struct):
    """What became of it all. The lists are cut off at MAX_NAMED."""

    kinds: list[Kind] = []
    dropped: dict[str, int] = {}
    """Path of a field -> objects in which it was left out."""
    refused: list[str] = []
    """Objects that cannot be used, with the reason."""
    refusals: int = 0
    repeated: int = 0
    """Objects that came twice; the first counts."""
    orphaned: int = 0
    """Objects whose owner did not come along."""
    namespaces: int = 0
    """That objects were in, and that did not come along; they are made."""
    stray: int = 0
    """Pods bound to nodes that did not come along."""
    claiming: int = 0
    """Pods that ask for devices (resourceClaims)."""
    schedulers: dict[str, int] = {}
    """schedulerName -> pending pods that wait for it: no profile here has it."""

    @property
    def taken(self) -> int:
        return sum(kind.taken for kind in self.kinds)

    @property
    def came(self) -> int:
        return sum(kind.came for kind in self.kinds)


class Import:
    """Takes manifests one by one; what is kept of them is packed, as a dump may be large."""

    def __init__(self, now: Micros, salt: bytes) -> None:
        """``salt``: random and never stored (:func:`redaction.redact`); what has no creationTimestamp was
        created at ``now``."""
        self._now = now
        self._salt = salt
        self._kept: dict[str, dict[str, bytes]] = {resource: {} for resource in TAKEN}
        self._kinds: dict[tuple[str, str], Kind] = {}
        self._dropped: Counter[str] = Counter()
        self._uids: set[str] = set()
        self._namespaces: set[str] = set()
        self.report = Report()

    def take(self, manifest: Manifest) -> None:
        """Whatever it is: it is kept, or told of in the report."""
        kind, resource = self._kind(manifest)
        kind.came += 1
        if kind.fate != "taken" or resource is None:
            return
        left: set[str] = set()
        try:
            found = self._cleaned(resource, manifest, left.add)
        except Unfit as unfit:
            self._refuse(kind, manifest, f"{unfit} is missing or wrong")
            return
        metadata = found["metadata"]
        key = resource.key(metadata.get("namespace", ""), metadata["name"])
        collection = self._kept[resource.id]
        if key in collection:
            self.report.repeated += 1
            return
        causes = validate(resource, found)
        if causes:
            self._refuse(kind, manifest, str(causes[0]))
            return
        self._dropped.update(path[:MAX_PATH] for path in left)
        collection[key] = msgspec.json.encode(found)
        self._uids.add(metadata["uid"])
        if resource.namespaced:
            self._namespaces.add(metadata["namespace"])
        kind.taken += 1

    @property
    def anything(self) -> bool:
        """Whether any object was taken."""
        return bool(self._uids)

    def changes(self) -> Iterator[Change]:
        """Everything there is to be, owners first; then the report is whole."""
        yield from self._bootstrap()
        classes = Overlay(NewCluster(self._of(PRIORITY_CLASSES)))
        nodes = self._kept[NODES.id]
        for resource in TAKEN:
            for key, packed in self._kept[resource].items():
                manifest = self._owned(msgspec.json.decode(packed))
                if resource == PODS.id and not self._settled(manifest, classes, nodes):
                    continue
                yield Change(resource, key, manifest, expected=0)
        self._conclude()

    # One object

    def _kind(self, manifest: Manifest) -> tuple[Kind, Resource | None]:
        api_version, name = manifest.get("apiVersion"), manifest.get("kind")
        resource, fate = None, "untyped"
        if isinstance(api_version, str) and isinstance(name, str) and api_version and name:
            resource = resources.of_kind(api_version, name)
            fate = _fate(api_version, name, resource)
        else:
            api_version = name = ""
        place = api_version[:MAX_NAME], name[:MAX_NAME]
        if place not in self._kinds:
            # Kinds beyond all reason are counted together.
            if len(self._kinds) >= 10 * MAX_NAMED:
                place, fate = ("", ""), "untyped"
            self._kinds.setdefault(place, Kind(*place, fate))  # type: ignore[arg-type]  # one of the literals
        return self._kinds[place], resource

    def _cleaned(self, resource: Resource, given: Manifest, note: Any) -> Manifest:
        """Raises Unfit."""
        metadata = given.get("metadata")
        if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
            raise Unfit("metadata.name")
        found = fit(resource, redact(given, self._salt, note), note)
        metadata = found["metadata"]
        if resource.namespaced:
            metadata.setdefault("namespace", "default")
        else:
            metadata.pop("namespace", None)
        for field in ("creationTimestamp", "deletionTimestamp"):
            if field in metadata:
                _check_time(metadata[field], f"metadata.{field}")
        metadata.setdefault("creationTimestamp", timestamp(self._now))
        key = resource.key(metadata.get("namespace", ""), metadata["name"])
        metadata.setdefault("uid", str(uuid.uuid5(_UIDS, f"{resource.id}/{key}")))
        set_defaults(resource, found)
        if resource == NODES:
            complete(resource, found, timestamp(self._now))
        elif resource == PODS:
            status = found.setdefault("status", {})
            status.setdefault("phase", "Pending")
            status["qosClass"] = qos_class(found)
        return found

    def _refuse(self, kind: Kind, manifest: Manifest, why: str) -> None:
        self.report.refusals += 1
        if len(self.report.refused) < MAX_NAMED:
            metadata = manifest.get("metadata")
            name = metadata.get("name") if isinstance(metadata, dict) else ""
            self.report.refused.append(f"{kind.kind} {str(name)[:MAX_NAME]}: {why[: 3 * MAX_NAME]}")

    # All together

    def _bootstrap(self) -> Iterator[Change]:
        """What every cluster has, and the namespaces that objects are in, where these did not come along."""
        for change in bootstrap(self._now):
            if change.key not in self._kept[change.resource]:
                yield change
        there = {*self._kept[NAMESPACES.id], *(c.key for c in bootstrap(self._now))}
        for name in sorted(self._namespaces - there):
            self.report.namespaces += 1
            made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            yield Change(NAMESPACES.id, name, self._cleaned(NAMESPACES, made, lambda _: None), expected=0)

    def _of(self, resource: Resource) -> list[Change]:
        collection = self._kept[resource.id]
        return [Change(resource.id, key, msgspec.json.decode(data), 0) for key, data in collection.items()]

    def _owned(self, manifest: Manifest) -> Manifest:
        metadata = manifest["metadata"]
        given = metadata.get("ownerReferences")
        if given is None:
            return manifest
        kept = [reference for reference in given if reference["uid"] in self._uids]
        if len(kept) == len(given):
            return manifest
        self.report.orphaned += 1
        rest = {field: value for field, value in metadata.items() if field != "ownerReferences"}
        return {**manifest, "metadata": {**rest, "ownerReferences": kept} if kept else rest}

    def _settled(self, pod: Manifest, classes: Overlay, nodes: Iterable[str]) -> bool:
        """Gives a pod that nobody has admitted yet its priority; whether that could be done."""
        spec = pod["spec"]
        if "priority" not in spec:
            try:
                priority.resolve(pod, classes)
            except StatusError as error:
                kind = self._kinds["v1", "Pod"]
                kind.taken -= 1
                self._refuse(kind, pod, error.message)
                return False
        self.report.claiming += bool(spec.get("resourceClaims"))
        self.report.stray += bool(spec.get("nodeName")) and spec["nodeName"] not in nodes
        scheduler = spec["schedulerName"]
        if not spec.get("nodeName") and scheduler != DEFAULT_SCHEDULER:
            counted = self.report.schedulers
            name = scheduler if scheduler in counted or len(counted) < MAX_NAMED else "…"
            counted[name] = counted.get(name, 0) + 1
        return True

    def _conclude(self) -> None:
        self.report.kinds = sorted(
            self._kinds.values(), key=lambda kind: (kind.fate != "taken", -kind.came, kind.kind)
        )
        self.report.dropped = dict(self._dropped.most_common(MAX_NAMED))


def _fate(api_version: str, kind: str, resource: Resource | None) -> Fate:
    if resource is None:
        known = any(each.kind == kind for each in resources.BUILT_IN)
        return "version" if known and "." not in _custom_domain(api_version) else "custom"
    if resource.id in TAKEN:
        return "taken"
    if resource.id in PRIVATE:
        return "private"
    if resource.id in UNSIMULATED:
        return "unsimulated"
    return "unread" if resource.group in resources.BUILT_IN_GROUPS else "custom"


def _custom_domain(api_version: str) -> str:
    """The group, if it is none of Kubernetes' own."""
    group, slash, _ = api_version.rpartition("/")
    return group if slash and not group.endswith(".k8s.io") else ""


def _check_time(stamp: str, field: str) -> None:
    """A time that the schema lets through may still be none: the 30th of February. Raises Unfit."""
    try:
        micros(stamp)
    except (ValueError, OverflowError, OSError):
        raise Unfit(field) from None

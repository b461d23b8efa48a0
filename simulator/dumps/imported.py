"""Import of the objects of a real cluster or of another sandbox, with a report.

Objects are redacted (:mod:`simulator.dumps.redaction`) and fitted to the types of a version. They keep their
UIDs, so that owner references stay valid. References to owners that are not imported are removed, as
otherwise the garbage collector would delete the dependents.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from simulator.api import Change, Manifest, Micros
from simulator.apiserver import resources
from simulator.apiserver.kinds.pod_groups import POD_GROUPS, WORKLOADS
from simulator.apiserver.new_cluster import bootstrap
from simulator.apiserver.overlay import CreatedObjects, Overlay
from simulator.apiserver.resource import Resource
from simulator.apiserver.resources import NAMESPACES, NODES, PODS
from simulator.apiserver.restore import READ_OF_PODS, complete_restored_pod, restored
from simulator.apiserver.served_features import in_version
from simulator.apiserver.status import Cause, StatusError
from simulator.controllers.resource_claim import claim_names
from simulator.dumps.dump import Dump
from simulator.dumps.dump_files import DumpError
from simulator.dumps.fitting import ReportField, Unfit, fit_to_type
from simulator.dumps.imported_kinds import IMPORTED_RESOURCES, KindOutcome, kind_outcome
from simulator.dumps.known_pods import KnownPods, own_metadata, with_own_metadata
from simulator.dumps.kubelet_versions import READ_FEATURES, gates_of, kubelet_version
from simulator.dumps.missing_revisions import CONTROLLER_REVISIONS, OWNERS, fitted_data, missing_revisions
from simulator.dumps.recognition import GET_COMMAND
from simulator.dumps.redaction import redact
from simulator.objects.addresses import NODE_NETWORK, AddressPool, internal_addresses
from simulator.objects.node_status import with_internal_address
from simulator.versions.features import Features

MAX_NAMED: Final = 50
"""Maximum number of entries in each list of a report."""
MAX_NAME: Final = 100
"""Maximum number of characters of a name in a report."""
MAX_PATH: Final = 150
"""Maximum number of characters of a field path in a report. The longest path in a pod has about 120."""
MAX_FOUND: Final = 5
"""Maximum number of kinds in the message about a dump of which nothing is imported."""
DEFAULT_SCHEDULER: Final = "default-scheduler"
CLAIMS_OF_DEVICES: Final = "resourceclaims.resource.k8s.io"


class KindReport(msgspec.Struct):
    """The number of objects of a kind in the dump (``came``), and of those that were imported (``taken``)."""

    api_version: str
    kind: str
    outcome: KindOutcome = msgspec.field(name="fate")
    """The outcome for the objects of the kind. In stored reports the field is named ``fate``."""
    came: int = 0
    taken: int = 0


class ImportReport(msgspec.Struct):
    """The result of an import. Lists contain at most MAX_NAMED entries."""

    kinds: list[KindReport] = []
    dropped: dict[str, int] = {}
    """The paths of fields that were left out, each with the number of objects."""
    refused: list[str] = []
    """The invalid objects, with the reason."""
    refusals: int = 0
    """Number of invalid objects."""
    repeated: int = 0
    """Number of objects that the dump contains twice. The first one is imported."""
    orphaned: int = 0
    """Number of objects with an owner that is not imported."""
    namespaces: int = 0
    """Number of namespaces that were missing in the dump and are created."""
    stray: int = 0
    """Number of pods that are bound to nodes which are not imported."""
    claiming: int = 0
    """Number of pods with a ResourceClaim that is not imported."""
    schedulers: dict[str, int] = {}
    """The schedulerNames other than the default, each with the number of pending pods."""
    kubelets: dict[str, int] = {}
    """The minor versions of the kubelets (``v1.35``), each with the number of nodes; none for a recording."""
    gates: list[str] = []
    """The feature gates that are on in the cluster, as its objects show."""

    @property
    def taken(self) -> int:
        return sum(kind.taken for kind in self.kinds)

    @property
    def came(self) -> int:
        return sum(kind.came for kind in self.kinds)


class Import:
    """Imports manifests one by one. The objects are kept as JSON, because a dump may be large."""

    def __init__(self, now: Micros, salt: bytes, features: Features = READ_FEATURES) -> None:
        """``now`` is the creationTimestamp of objects without one. ``salt`` must be random and must not be
        stored (:func:`simulator.dumps.redaction.redact`). ``features``: the version by whose types the
        objects are read, with its gates."""
        self.features = features
        self._now = now
        self._salt = salt
        self._kept: dict[str, dict[str, bytes]] = {resource: {} for resource in IMPORTED_RESOURCES}
        self._kinds: dict[tuple[str, str], KindReport] = {}
        self._dropped: Counter[str] = Counter()
        self._uids: set[str] = set()
        self._namespaces: set[str] = set()
        self._known_pods = KnownPods()
        self.report = ImportReport()

    def take(self, manifest: Manifest) -> None:
        """Import a manifest, or record in the report why it is left out. Raises nothing."""
        kind, resource = self._kind(manifest)
        kind.came += 1
        if kind.outcome != "taken" or resource is None:
            return
        left: set[str] = set()
        try:
            found, causes = self.restore(resource, manifest, left.add)
        except Unfit as unfit:
            self._refuse(kind, manifest, str(unfit))
            return
        metadata = found["metadata"]
        key = resource.key(metadata.get("namespace", ""), metadata["name"])
        collection = self._kept[resource.id]
        if key in collection:
            self.report.repeated += 1
            return
        if causes:
            self._refuse(kind, manifest, str(causes[0]))
            return
        self._dropped.update(path[:MAX_PATH] for path in left)
        collection[key] = msgspec.json.encode(found)
        self._uids.add(metadata["uid"])
        if resource.namespaced:
            self._namespaces.add(metadata["namespace"])
        kind.taken += 1
        if resource == NODES and (version := kubelet_version(manifest)):
            counted = self.report.kubelets
            if version in counted or len(counted) < MAX_NAMED:
                counted[version] = counted.get(version, 0) + 1
        if resource in (POD_GROUPS, WORKLOADS):
            self.report.gates = sorted({*self.report.gates, *gates_of(manifest)})

    def forget(self, resource: Resource) -> None:
        """Forget the objects of a resource, which are listed anew."""
        self._kept[resource.id].clear()

    def refuse(self, resource: Resource, manifest: Manifest, why: str) -> None:
        """Record in the report that an object is left out."""
        self._refuse(KindReport(resource.api_version, resource.kind, "taken"), manifest, why)

    @property
    def kinds(self) -> Sequence[KindReport]:
        """The kinds of the objects so far."""
        return [*self._kinds.values()]

    @property
    def has_objects(self) -> bool:
        """Whether any object was taken."""
        return bool(self._uids)

    def changes(self, *, keep_owners: bool = False) -> Iterator[Change]:
        """Yield the changes that create the cluster, owners before dependents. Completes the report at the
        end. keep_owners: also those that are not imported, for a cluster in which no garbage collector
        runs."""
        yield from self._bootstrap()
        read = [each for resource in READ_OF_PODS for each in self._creations(resource)]
        overlay = Overlay(CreatedObjects(read))
        self._add_missing_revisions()
        addresses = AddressPool(NODE_NETWORK)
        for change in self._creations(NODES.id):
            addresses.use(internal_addresses(change.object or {}))
        for resource in IMPORTED_RESOURCES:
            for key, packed in self._kept[resource].items():
                manifest = msgspec.json.decode(packed)
                if not keep_owners:
                    complete = manifest
                    manifest = without_missing_owners(complete, self._uids)
                    self.report.orphaned += manifest is not complete
                if resource == PODS.id and not self._admit(manifest, overlay):
                    continue
                if resource == NODES.id:
                    manifest = with_internal_address(manifest, addresses)
                    addresses.use(internal_addresses(manifest))
                yield Change(resource, key, manifest, expected=0)
        self._complete_report()

    # Single objects

    @in_version
    def _kind(self, manifest: Manifest) -> tuple[KindReport, Resource | None]:
        api_version, name = manifest.get("apiVersion"), manifest.get("kind")
        resource: Resource | None = None
        outcome: KindOutcome = "untyped"
        if isinstance(api_version, str) and isinstance(name, str) and api_version and name:
            resource = resources.find_by_kind(api_version, name)
            outcome = kind_outcome(api_version, name, resource)
        else:
            api_version = name = ""
        place = api_version[:MAX_NAME], name[:MAX_NAME]
        if place not in self._kinds:
            # Count further kinds together if there are very many.
            if len(self._kinds) >= 10 * MAX_NAMED:
                place, outcome = ("", ""), "untyped"
            self._kinds.setdefault(place, KindReport(*place, outcome))
        return self._kinds[place], resource

    @in_version
    def restore(self, resource: Resource, given: Manifest, note: ReportField) -> tuple[Manifest, list[Cause]]:
        """Return the object as it is imported, redacted, and its faults. Raises Unfit."""
        metadata = given.get("metadata")
        if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
            raise Unfit("metadata.name is missing or wrong")
        redacted = redact(given, self._salt, note)
        if resource == PODS:
            return self._restore_pod(redacted, given, note)
        fitted = fit_to_type(resource, redacted, note, given)
        found, causes = restored(resource, fitted, self._now)
        if resource == CONTROLLER_REVISIONS:
            found["data"] = fitted_data(found["data"])
        if resource == POD_GROUPS and "disruptionMode" not in (given.get("spec") or {}):
            found["spec"].pop("disruptionMode", None)  # WorkloadAwarePreemption is off in its cluster
        return found, causes

    def _restore_pod(
        self, redacted: Manifest, given: Manifest, note: ReportField
    ) -> tuple[Manifest, list[Cause]]:
        known = self._known_pods.find(redacted)
        parts = {**redacted}
        if known.spec is not None:
            del parts["spec"]
        if known.metadata is not None:
            parts["metadata"] = own_metadata(redacted)
        left: list[str] = []
        fitted = fit_to_type(PODS, parts, left.append, given)
        if known.spec is not None:
            fitted["spec"] = known.spec
        own = fitted["metadata"]
        if known.metadata is not None:
            fitted["metadata"] = with_own_metadata(known.metadata, own)
        found, causes = restored(PODS, fitted, self._now, own, known_spec=known.spec is not None)
        if not left and not causes and None in known:
            self._known_pods.keep(redacted, found)
        for path in left:
            note(path)
        return found, causes

    def _refuse(self, kind: KindReport, manifest: Manifest, why: str) -> None:
        self.report.refusals += 1
        if len(self.report.refused) < MAX_NAMED:
            metadata = manifest.get("metadata")
            given = metadata if isinstance(metadata, dict) else {}
            names = [str(given[field])[:MAX_NAME] for field in ("namespace", "name") if given.get(field)]
            self.report.refused.append(f"{kind.kind} {'/'.join(names)}: {why[: 3 * MAX_NAME]}")

    # The whole cluster

    def _bootstrap(self) -> Iterator[Change]:
        """Yield the creations of objects that every cluster has and of the objects' namespaces, if the dump
        does not contain them."""
        for change in bootstrap(self._now):
            if change.key not in self._kept[change.resource]:
                yield change
        there = {*self._kept[NAMESPACES.id], *(c.key for c in bootstrap(self._now))}
        for name in sorted(self._namespaces - there):
            self.report.namespaces += 1
            made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            found, _ = self.restore(NAMESPACES, made, lambda _: None)
            yield Change(NAMESPACES.id, name, found, expected=0)

    def _add_missing_revisions(self) -> None:
        """Keep the revisions without which the controllers would replace all pods."""
        owners = [change.object or {} for resource in OWNERS for change in self._creations(resource)]
        if not owners:
            return
        revisions = [change.object or {} for change in self._creations(CONTROLLER_REVISIONS.id)]
        pods = [change.object or {} for change in self._creations(PODS.id)]
        for made in missing_revisions(owners, revisions, pods):
            found, _ = self.restore(CONTROLLER_REVISIONS, made, lambda _: None)
            key = CONTROLLER_REVISIONS.key(found["metadata"]["namespace"], found["metadata"]["name"])
            self._kept[CONTROLLER_REVISIONS.id].setdefault(key, msgspec.json.encode(found))

    def _creations(self, resource: str) -> list[Change]:
        collection = self._kept[resource]
        return [Change(resource, key, msgspec.json.decode(data), 0) for key, data in collection.items()]

    @in_version
    def _admit(self, pod: Manifest, overlay: Overlay) -> bool:
        """Complete a pod that no API server has admitted, and count the pod in the report. Returns False if
        admission refuses it, as its PriorityClass does not exist: the pod is left out."""
        spec = pod["spec"]
        try:
            complete_restored_pod(pod, overlay)
        except StatusError as error:
            kind = self._kinds["v1", "Pod"]
            kind.taken -= 1
            self._refuse(kind, pod, error.message)
            return False
        claims, nodes = self._kept[CLAIMS_OF_DEVICES], self._kept[NODES.id]
        namespace = pod["metadata"]["namespace"]
        self.report.claiming += any(f"{namespace}/{name}" not in claims for name in claim_names(pod))
        self.report.stray += bool(spec.get("nodeName")) and spec["nodeName"] not in nodes
        scheduler = spec["schedulerName"]
        if not spec.get("nodeName") and scheduler != DEFAULT_SCHEDULER:
            counted = self.report.schedulers
            name = scheduler if scheduler in counted or len(counted) < MAX_NAMED else "…"
            counted[name] = counted.get(name, 0) + 1
        return True

    def _complete_report(self) -> None:
        self.report.kinds = sorted(
            self._kinds.values(), key=lambda kind: (kind.outcome != "taken", -kind.came, kind.kind)
        )
        dropped = sorted(self._dropped.items(), key=lambda field: (-field[1], field[0]))
        self.report.dropped = dict(dropped[:MAX_NAMED])


def without_missing_owners(manifest: Manifest, uids: Container[str]) -> Manifest:
    """Return the object without references to owners whose UIDs are not among these."""
    metadata = manifest["metadata"]
    given = metadata.get("ownerReferences")
    if given is None:
        return manifest
    kept = [reference for reference in given if reference["uid"] in uids]
    if len(kept) == len(given):
        return manifest
    rest = {field: value for field, value in metadata.items() if field != "ownerReferences"}
    return {**manifest, "metadata": {**rest, "ownerReferences": kept} if kept else rest}


def import_dump(dump: Dump, now: Micros, salt: bytes, features: Features = READ_FEATURES) -> Import:
    """Import all objects of a dump. Raises ManifestError, also for a dump without an object that is imported,
    with the kinds that it has. The arguments are those of :class:`Import`."""
    taken = Import(now, salt, features)
    for manifest in dump.manifests():
        taken.take(manifest)
    if dump.is_recording:
        taken.report.kubelets.clear()
    if not taken.has_objects:
        raise DumpError(describe_unusable(taken.kinds, taken.report.refused))
    return taken


def without_unserved(changes: Iterable[Change], features: Features) -> Iterator[Change]:
    """Yield the changes without those of resources that a version with its gates does not serve."""
    unserved = {each.id for each in resources.GATED if not features.enabled(each.gate)}
    return (change for change in changes if change.resource not in unserved)


def describe_unusable(kinds: Sequence[KindReport], refused: Sequence[str]) -> str:
    """Return what is in a dump of which nothing is imported, and the command that makes one."""
    counted = sorted(kinds, key=lambda kind: -kind.came)
    names = [f"{kind.came} {kind.kind or 'without apiVersion and kind'}" for kind in counted[:MAX_FOUND]]
    more = len(counted) - MAX_FOUND
    found = f"; found {', '.join(names)}{f' and {more} more kinds' if more > 0 else ''}" if names else ""
    why = f" ({refused[0]})" if refused else ""
    problem = "the dump contains no object that the simulator uses, such as a Node or a Pod"
    return f"{problem}{found}{why}; use {GET_COMMAND}"

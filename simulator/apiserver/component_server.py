"""What components use of the API server."""

from collections.abc import Callable, Sequence

from simulator.api import Admission, Change, Manifest, Micros
from simulator.apiserver.component_writes import ComponentWrites, Propagation, finalized_namespace
from simulator.apiserver.deletion import admit_delete
from simulator.apiserver.lookup import find_custom
from simulator.apiserver.overlay import Reader
from simulator.apiserver.place import RequestPlace
from simulator.apiserver.pod_subresources import admit_binding
from simulator.apiserver.resource import CRDS, Resource
from simulator.apiserver.resources import BUILT_IN_GROUPS, find_built_in, find_by_kind, find_unserved
from simulator.apiserver.served_features import in_version
from simulator.apiserver.update import admit_whole_update
from simulator.versions.features import Features


class ComponentServer(ComponentWrites):
    """Decides the writes of components on what a reader shows now, and finds resources and objects in it."""

    def __init__(self, reader: Reader, clock: Callable[[], Micros], features: Features) -> None:
        self.reader = reader
        self.now = clock
        self.features = features

    @in_version
    def delete_by_component(self, manifest: Manifest, propagation: Propagation | None = None) -> list[Change]:
        kind = find_by_kind(manifest["apiVersion"], manifest["kind"])
        if kind is None:  # its feature gate was on when it was stored
            kind = find_unserved(manifest["apiVersion"], manifest["kind"])
        assert kind is not None, "an object of an unknown kind is not stored"
        change = admit_delete(kind, manifest, self.now(), propagation=propagation)
        return [] if change is None else [change]

    @in_version
    def bind_by_component(self, pod: Manifest, node: str) -> list[Change]:
        binding = {"target": {"kind": "Node", "name": node}}
        return [admit_binding(pod, binding, self.reader, self.now())]

    @in_version
    def update_whole(self, resource: Resource, old: Manifest, new: Manifest) -> Sequence[Change]:
        return admit_whole_update(resource, old, new, self.reader).changes

    @in_version
    def find_resource(self, resource_id: str) -> Resource | None:
        known = self.find_built_in(resource_id)
        if known or resource_id.partition(".")[2] in BUILT_IN_GROUPS:
            return known
        definitions = self.reader.find(CRDS, resource_id).items
        return find_custom(definitions, lambda: self.reader.list(resource_id).items)

    @in_version
    def find_built_in(self, resource_id: str) -> Resource | None:
        plural, _, group = resource_id.partition(".")
        return find_built_in(group, plural)

    @in_version
    def find_kind(self, api_version: str, kind: str) -> Resource | None:
        return find_by_kind(api_version, kind)

    def find(self, place: RequestPlace) -> Manifest | None:
        """Return the stored object at a place; None if there is none."""
        return next(iter(self.reader.find(place.resource.id, place.key).items), None)

    def finalize_namespace(self, place: RequestPlace) -> Admission:
        """Take away the finalizers of a namespace's spec, as its controller does when the namespace is
        empty. There is no change if it is gone, or has none."""
        old = self.find(place)
        if old is None or (new := finalized_namespace(old)) == old:
            return Admission([], {})
        return Admission(self.update_by_component(place.resource.id, old, new), {})

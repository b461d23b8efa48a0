"""What the VolumeBinding plugin's PreBind does beyond verdicts: BindPodVolumes in
pkg/scheduler/framework/plugins/volumebinding/binder.go, v1.34.

It writes the claims' names into their volumes, and the node into the claims to be provisioned. The persistent
volume controller and the provisioners do the rest; the binding cycle looks every second whether they have."""

from simulator.api import SECOND, ApiError, Change, Manifest, Micros
from simulator.apiserver.status import Conflict, NotFound
from simulator.framework.interface import CycleState, PluginError
from simulator.framework.runtime import Framework
from simulator.objects import node_selector
from simulator.objects.pod import Pod
from simulator.objects.volumes import (
    PVCS,
    PVS,
    SELECTED_NODE,
    annotations,
    fully_bound,
    not_found,
    volume_node_affinity,
)
from simulator.plugins.volume_binding.volume_binding import RESERVED, Assumed, PodVolumes, VolumeBinding
from simulator.world.world import World

LOOK_EVERY: Micros = SECOND
"""As upstream, which looks for the first time after one such time, too."""


class VolumesToBind:
    """The volumes and claims of one assumed pod that are still to be bound."""

    def __init__(self, world: World, pod: Pod, volumes: PodVolumes, timeout: Micros) -> None:
        self._world = world
        self._pod = pod
        self._volumes = volumes
        self._timeout = timeout
        self._deadline: Micros | None = None

    @property
    def claims(self) -> list[str]:
        bound = [_key(claim) for claim, _ in self._volumes.bindings]
        return bound + [claim.key for claim in self._volumes.provisions]

    def write(self) -> None:
        """bindAPIUpdate; the time to wait begins. Each write is one of its own: what was written before one
        that is refused stays. Raises PluginError."""
        for assumed in self._volumes.assumed:
            if assumed.after is not assumed.before:
                self._update(assumed)
        self._deadline = self._world.now + self._timeout

    def _update(self, assumed: Assumed) -> None:
        version = int(assumed.before["metadata"]["resourceVersion"])
        name = assumed.before["metadata"]["name"]
        try:
            self._world.commit([Change(assumed.resource, assumed.key, assumed.after, version)])
        except ApiError as refusal:
            status = {"NotFound": NotFound, "Conflict": Conflict}.get(refusal.reason)
            raise PluginError(str(status(assumed.resource, name) if status else refusal)) from None

    def next_look(self) -> Micros:
        assert self._deadline is not None, "it was written"
        return min(self._world.now + LOOK_EVERY, self._deadline)

    def look(self) -> bool:
        """Whether all is bound. Raises PluginError where that cannot come to be any more, or takes too
        long."""
        try:
            if self._world.now == self._deadline:
                raise PluginError("context deadline exceeded")
            return self._check_bindings()
        except PluginError as fault:
            raise PluginError(f"binding volumes: {fault}") from None

    def _check_bindings(self) -> bool:
        """checkBindings. Volumes of in-tree drivers are taken as they are, not translated."""
        informer, pod = self._world.informer, self._pod
        node = informer.get("nodes", pod.node_name)
        if node is None:
            raise PluginError(f'failed to get node "{pod.node_name}": {not_found("node", pod.node_name)}')
        if informer.get("pods", pod.key) is None:
            raise PluginError(f"pod does not exist any more: {not_found('pod', pod.name)}")
        for claim, assumed in self._volumes.bindings:
            if not self._check_binding(node, _key(claim), assumed.key):
                return False
        return all(self._check_provision(node, claim.key) for claim in self._volumes.provisions)

    def _check_binding(self, node: Manifest, claim_key: str, volume_key: str) -> bool:
        try:
            volume, claim = self._get(PVS, volume_key), self._get(PVCS, claim_key)
        except PluginError as fault:
            raise PluginError(f"failed to check binding: {fault}") from None
        _check_node_affinity(volume, node)
        if not (volume["spec"].get("claimRef") or {}).get("uid"):
            raise PluginError(f'ClaimRef got reset for pv "{volume_key}"')
        return fully_bound(claim)

    def _check_provision(self, node: Manifest, key: str) -> bool:
        try:
            claim = self._get(PVCS, key)
        except PluginError as fault:
            raise PluginError(f"failed to check provisioning pvc: {fault}") from None
        name = claim["metadata"]["name"]
        if annotations(claim).get(SELECTED_NODE) != self._pod.node_name:
            reset = "provisioning failed" if annotations(claim) else "selectedNode annotation reset"
            raise PluginError(f'{reset} for PVC "{name}"')
        volume = self._world.informer.get(PVS, claim["spec"].get("volumeName") or "")
        if volume is not None:
            _check_node_affinity(volume, node)
        elif claim["spec"].get("volumeName"):
            return False
        return fully_bound(claim)

    def _get(self, resource: str, key: str) -> Manifest:
        found = self._world.informer.get(resource, key)
        if found is None:
            kind = "PersistentVolume" if resource == PVS else "PersistentVolumeClaim"
            raise PluginError(f'could not find v1.{kind} "{key}"')
        return found


def volumes_to_bind(world: World, framework: Framework, state: CycleState, pod: Pod) -> VolumesToBind | None:
    """None: all claims are bound, or the plugin does not take part in PreBind."""
    volumes: PodVolumes | None = state.find(RESERVED)
    plugin = next((p for p in framework.pre_bind_plugins if p.name == VolumeBinding.name), None)
    if plugin is None or volumes is None or not volumes.assumed:
        return None
    return VolumesToBind(world, pod, volumes, plugin.args.bind_timeout_seconds * SECOND)


def _check_node_affinity(volume: Manifest, node: Manifest) -> None:
    selector, metadata = volume_node_affinity(volume), node["metadata"]
    name, labels = metadata["name"], metadata.get("labels") or {}
    if selector is not None and not node_selector.matches(selector, name, labels):
        pv = volume["metadata"]["name"]
        raise PluginError(
            f'pv "{pv}" node affinity doesn\'t match node "{name}": no matching NodeSelectorTerms'
        )


def _key(claim: Manifest) -> str:
    metadata = claim["metadata"]
    return f"{metadata.get('namespace') or 'default'}/{metadata['name']}"

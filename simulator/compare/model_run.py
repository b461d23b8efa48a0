"""The model beside a recorded outside scheduler."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from simulator.api import ApiError, Change, Manifest, Micros, WatchEvent, bare
from simulator.apiserver.resources import PODS
from simulator.apiserver.server import ApiServer
from simulator.compare.comparison_run import Side
from simulator.compare.observer import Observer
from simulator.compare.placements import Placements
from simulator.compare.recorded_history import RecordedHistory
from simulator.compare.workload import pod_specs
from simulator.config.configuration import DEFAULT_SCHEDULER_NAME, MAX_PROFILES
from simulator.decision import Decision
from simulator.framework.extender import Transport
from simulator.memory import MemoryStorage
from simulator.objects.metadata import is_terminating
from simulator.simulation import Options, Simulation

DECISIONS_AT_MOST: Final = 100
"""Maximum number of decisions that are kept for pods that the model has not bound as the recording."""


def scheduler_names(history: RecordedHistory) -> list[str]:
    """Return the schedulerNames of the pods of a recording, and of those that its controllers create."""
    manifests = [change.object for change in history.workload.objects]
    manifests += [write.event.object for write in history.writes if write.event.type != "DELETED"]
    names = {
        spec.get("schedulerName") or DEFAULT_SCHEDULER_NAME
        for manifest in manifests
        if manifest is not None
        for spec in pod_specs(manifest)
    }
    return sorted(names)


def with_profiles(config: Manifest | None, names: Sequence[str]) -> Manifest:
    """Return the configuration with a copy of its first profile for each name that none of its profiles has.
    Names beyond MAX_PROFILES are left out: their pods are not scheduled."""
    profiles = (config or {}).get("profiles") or [{}]
    known = {profile.get("schedulerName") or DEFAULT_SCHEDULER_NAME for profile in profiles}
    more = [{**profiles[0], "schedulerName": name} for name in names if name not in known]
    return {**(config or {}), "profiles": [*profiles, *more][:MAX_PROFILES]}


class ModelRun:
    """Side B of a comparison with an outside scheduler: a simulation that is given the clients' writes."""

    def __init__(
        self,
        history: RecordedHistory,
        side: Side,
        reference: dict[str, int],
        expected: Mapping[str, tuple[str, Micros]],
        transport: Transport | None,
    ) -> None:
        """``expected``: the placements of the recording."""
        workload = history.workload
        self._expected = expected
        self._api = MemoryStorage()
        self._api.commit(workload.objects)
        options = Options(
            seed=side.seed,
            pace=workload.pace,
            config=with_profiles(side.config, scheduler_names(history)),
            first_cycle=workload.first_cycle,
            queue=side.queue,
            kubernetes=side.features.version.patch,
            feature_gates=side.features.gates,
        )
        self._simulation = Simulation(self._api, ApiServer, options, transport=transport)
        self.observer = Observer(workload.start, reference)
        self.placements = Placements()
        self.decisions: dict[str, Decision] = {}
        """The last decision for each pod that the model does not bind where the recording has it; the first
        DECISIONS_AT_MOST."""
        self._now = workload.start
        # The recording's API server has admitted the writes.
        self._server = ApiServer(self._api, lambda: self._now, side.features)
        self.take_in()

    def advance(self, end: Micros) -> Iterator[None]:
        """Do what is due up to ``end``, and yield after each step."""
        while True:
            due = self._simulation.next_due()
            if due is None or due > end:
                break
            self._now = max(self._now, due)
            self._simulation.step(self._now)
            self.take_in()
            yield
        self._now = max(self._now, end)

    def write(self, old: Manifest | None, event: WatchEvent) -> None:
        """Make a client's write. What cannot be made on this side, such as a change of a pod that the model
        has evicted, is left out."""
        changes = self._pod_changes(old, event) if event.resource == PODS.id else self._changes(event)
        try:
            self._api.commit(changes)
        except ApiError:
            return

    def take_in(self) -> None:
        events = self._api.take_events()
        self._simulation.observe(events)
        self.observer.observe(self._now, events, self._simulation.take_trace())
        self._simulation.take_queue_places()
        for event in events:
            self.placements.observe(event, self._now)
        for decision in self._simulation.take_decisions():
            manifest = self._api.get(PODS.id, decision.pod)
            if manifest is None:
                continue
            pod = self.placements.identity(decision.pod, manifest)
            if decision.selected and decision.selected == self._expected.get(pod, ("",))[0]:
                self.decisions.pop(pod, None)
            elif pod in self.decisions or len(self.decisions) < DECISIONS_AT_MOST:
                self.decisions[pod] = decision

    def _changes(self, event: WatchEvent) -> list[Change]:
        known = self._api.get(event.resource, event.key)
        if event.type == "DELETED":
            gone = self._server.remove_at_any_version(event.resource, event.key)
            return [gone] if known is not None else []
        manifest = bare(event.object)
        if known is None:
            return [self._server.create_by_component(event.resource, manifest)]
        if event.resource != "nodes" and "status" in known:
            manifest = {**manifest, "status": known["status"]}  # the model's controllers write it
        return [self._server.patch_by_component(event.resource, manifest)]

    def _pod_changes(self, old: Manifest | None, event: WatchEvent) -> list[Change]:
        known = self._api.get(PODS.id, event.key)
        manifest = event.object
        if event.type == "ADDED":
            return [self._server.create_by_component(PODS.id, bare(manifest))] if known is None else []
        if known is None:
            return []
        if event.type == "DELETED" or (is_terminating(manifest) and (old is None or not is_terminating(old))):
            return [] if is_terminating(known) else self._server.delete_by_component(known)
        changed = {
            field: value
            for field, value in manifest["spec"].items()
            if field not in ("nodeName", "schedulerName")
        }
        kept = {
            field: known["spec"][field] for field in ("nodeName", "schedulerName") if field in known["spec"]
        }
        marks = {
            field: manifest["metadata"][field]
            for field in ("labels", "annotations")
            if field in manifest["metadata"]
        }
        new = {**known, "spec": changed | kept, "metadata": {**known["metadata"], **marks}}
        return [self._server.patch_by_component(PODS.id, bare(new))] if new != known else []

"""Deployments: one ReplicaSet a revision, and the way from one to the next (sync.go, rolling.go, recreate.go
and progress.go in pkg/controller/deployment, v1.34)."""

import copy

from simulator.api import SECOND, Manifest, Micros
from simulator.apiserver.timestamps import micros, timestamp
from simulator.controllers.controller import Controller, is_finished
from simulator.controllers.deployment_sizes import (
    count,
    is_scaled,
    limits,
    replicas,
    shared_out,
    size_annotations,
)
from simulator.controllers.ownership import controller_of
from simulator.controllers.pods import template_hash
from simulator.objects.volumes import with_annotations
from simulator.trace import ReplicaSetScaled

HASH_LABEL = "pod-template-hash"
REVISION = "deployment.kubernetes.io/revision"
REPLICA_SETS = "replicasets.apps"
NO_DEADLINE = (1 << 31) - 1
"""progressDeadlineSeconds that stands for "none"."""


class DeploymentController(Controller):
    resource = "deployments.apps"
    kind = "Deployment"
    dependents = (REPLICA_SETS,)

    def changed(self, resource: str, key: str, old: Manifest | None, new: Manifest | None) -> None:
        super().changed(resource, key, old, new)
        if resource == "pods" and new is None and old is not None:
            self._pod_gone(old)

    def _pod_gone(self, pod: Manifest) -> None:
        """Recreate waits for the last of the old pods."""
        reference = controller_of(pod)
        namespace = pod["metadata"]["namespace"]
        if reference is not None and reference["kind"] == "ReplicaSet":
            replica_set = self._world.informer.get(REPLICA_SETS, f"{namespace}/{reference['name']}")
            if replica_set is not None:
                self._owner_of(replica_set)

    def sync(self, key: str, manifest: Manifest) -> None:
        sets = None if "deletionTimestamp" in manifest["metadata"] else self.claim(manifest, REPLICA_SETS)
        if sets is None:
            return
        newest = next((s for s in sets if _same_template(s, manifest)), None)
        older = [s for s in sets if s is not newest]
        if manifest["spec"].get("paused") or is_scaled(manifest, sets):
            for replica_set, size in shared_out(manifest, newest, sets):
                self._scale(manifest, replica_set, size)
        elif manifest["spec"]["strategy"]["type"] == "Recreate":
            self._recreate(manifest, newest, older)
        else:
            self._roll(manifest, newest, older)
        self._report(key, manifest, newest, sets)

    # The two strategies

    def _roll(self, manifest: Manifest, newest: Manifest | None, older: list[Manifest]) -> None:
        """More of the new while the surge allows it, else fewer of the old while enough are available."""
        wanted, surge, unavailable = limits(manifest)
        total = sum(replicas(s) for s in older) + (replicas(newest) if newest else 0)
        if newest is None:
            self._new_replica_set(manifest, older, max(0, min(wanted, wanted + surge - total)))
            return
        if self._revised(manifest, newest, older):
            return
        room = wanted + surge - total
        have = replicas(newest)
        if have > wanted:
            self._scale(manifest, newest, wanted)
        elif have < wanted and room > 0:
            self._scale(manifest, newest, have + min(room, wanted - have))
        elif any(replicas(s) for s in older):
            self._scale_down_old(manifest, newest, older, wanted - unavailable, total)
        else:
            self._clean_up(manifest, older)

    def _scale_down_old(
        self, manifest: Manifest, newest: Manifest, older: list[Manifest], least: int, total: int
    ) -> None:
        """Unhealthy pods go first: they are missed by nobody. The oldest ReplicaSet gives first."""
        not_yet = replicas(newest) - count(newest, "availableReplicas")
        budget = total - least - not_yet
        if budget <= 0:
            return
        if any(0 < replicas(s) < count(s, "availableReplicas") for s in older):
            return  # one was made smaller a moment ago, and its status does not tell of it yet
        left = {id(s): replicas(s) for s in older}
        by_age = sorted(older, key=_revision)
        for replica_set in by_age:
            sick = max(0, left[id(replica_set)] - count(replica_set, "availableReplicas"))
            given = max(0, min(sick, budget))
            left[id(replica_set)] -= given
            budget -= given
        available = sum(count(s, "availableReplicas") for s in (newest, *older))
        spare = available - least
        for replica_set in by_age:
            given = max(0, min(left[id(replica_set)], spare))
            left[id(replica_set)] -= given
            spare -= given
        for replica_set in by_age:
            self._scale(manifest, replica_set, left[id(replica_set)])

    def _recreate(self, manifest: Manifest, newest: Manifest | None, older: list[Manifest]) -> None:
        """Everything old goes before anything new comes."""
        if any(replicas(s) for s in older):
            for replica_set in older:
                self._scale(manifest, replica_set, 0)
        elif any(not is_finished(pod) for s in older for pod in self.owned(s)):
            return
        elif newest is None:
            self._new_replica_set(manifest, older, manifest["spec"]["replicas"])
        elif not self._revised(manifest, newest, older):
            self._scale(manifest, newest, manifest["spec"]["replicas"])
            self._clean_up(manifest, older)

    # ReplicaSets

    def _new_replica_set(self, manifest: Manifest, older: list[Manifest], size: int) -> None:
        spec, metadata = manifest["spec"], manifest["metadata"]
        digest = template_hash(spec["template"], count(manifest, "collisionCount"))
        template = copy.deepcopy(spec["template"])
        template.setdefault("metadata", {}).setdefault("labels", {})[HASH_LABEL] = digest
        selector = copy.deepcopy(spec["selector"])
        selector.setdefault("matchLabels", {})[HASH_LABEL] = digest
        made = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "metadata": {
                "name": f"{metadata['name']}-{digest}",
                "labels": dict(template["metadata"]["labels"]),
                "annotations": {REVISION: str(_next_revision(older)), **size_annotations(manifest)},
            },
            "spec": {
                "replicas": size,
                "selector": selector,
                "template": template,
                "minReadySeconds": spec.get("minReadySeconds", 0),
            },
        }
        self.create(manifest, [made])

    def _revised(self, manifest: Manifest, newest: Manifest, older: list[Manifest]) -> bool:
        """A template that was there before (a rollback) becomes the latest revision; whether it had to."""
        if not older or _revision(newest) > max(map(_revision, older)):
            return False
        revision = str(_next_revision(older))

        def revised(current: Manifest) -> Manifest:
            metadata = current["metadata"]
            annotations = {**(metadata.get("annotations") or {}), REVISION: revision}
            return {**current, "metadata": {**metadata, "annotations": annotations}}

        self.patch(REPLICA_SETS, newest, revised)
        return True

    def _scale(self, manifest: Manifest, replica_set: Manifest, size: int) -> None:
        """The size and, for the next time that the Deployment is scaled, what it was given for."""
        before, noted = replicas(replica_set), size_annotations(manifest)

        def scaled(current: Manifest) -> Manifest:
            new = with_annotations(current, noted)
            return new if size == before else {**new, "spec": {**new["spec"], "replicas": size}}

        if size == before:
            if before:
                self.patch(REPLICA_SETS, replica_set, scaled)
            return
        key = f"{replica_set['metadata']['namespace']}/{replica_set['metadata']['name']}"
        event = ReplicaSetScaled(
            t=self._world.now,
            controller=self.name(manifest),
            replica_set=key,
            before=before,
            after=size,
        )
        self._world.update(REPLICA_SETS, key, replica_set["metadata"]["uid"], scaled, event=lambda: event)

    def _clean_up(self, manifest: Manifest, older: list[Manifest]) -> None:
        """Only so many old revisions are kept to go back to."""
        idle = [s for s in older if not replicas(s) and not count(s, "replicas")]
        surplus = len(idle) - manifest["spec"]["revisionHistoryLimit"]
        if surplus > 0:
            self.delete(manifest, sorted(idle, key=_revision)[:surplus], "more than the history's limit")

    # Its status

    def _report(self, key: str, manifest: Manifest, newest: Manifest | None, sets: list[Manifest]) -> None:
        wanted, _, unavailable = limits(manifest)
        available = sum(count(s, "availableReplicas") for s in sets)
        total = sum(count(s, "replicas") for s in sets)
        updated = count(newest, "replicas") if newest else 0
        figures = {
            "replicas": total,
            "updatedReplicas": updated,
            "readyReplicas": sum(count(s, "readyReplicas") for s in sets),
            "availableReplicas": available,
            "unavailableReplicas": max(0, wanted - available),
        }
        complete = updated == wanted == total == available
        conditions = [
            self._available(manifest, available >= wanted - unavailable),
            self._progress(key, manifest, figures, complete),
        ]
        self.set_status(manifest, **figures, conditions=conditions)

    def _available(self, manifest: Manifest, enough: bool) -> Manifest:
        if enough:
            return self._condition(manifest, "Available", "True", "MinimumReplicasAvailable")
        return self._condition(manifest, "Available", "False", "MinimumReplicasUnavailable")

    def _progress(self, key: str, manifest: Manifest, figures: dict[str, int], complete: bool) -> Manifest:
        """Whether the rollout gets on; it has its deadline from the last time that it did."""
        old = next((c for c in _conditions(manifest) if c["type"] == "Progressing"), None)
        status = manifest.get("status") or {}
        moved = old is None or any(status.get(name, 0) != count for name, count in figures.items())
        if complete:
            return self._condition(manifest, "Progressing", "True", "NewReplicaSetAvailable")
        if moved or (old or {}).get("reason") == "NewReplicaSetAvailable":
            made = self._condition(manifest, "Progressing", "True", "ReplicaSetUpdated")
            made["lastUpdateTime"] = timestamp(self._world.now)
        else:
            assert old is not None, "it moved, else"
            made = old
        seconds = manifest["spec"]["progressDeadlineSeconds"]
        deadline: Micros = micros(made["lastUpdateTime"]) + seconds * SECOND
        if seconds == NO_DEADLINE or manifest["spec"].get("paused"):
            return made
        if deadline <= self._world.now:
            return self._condition(manifest, "Progressing", "False", "ProgressDeadlineExceeded")
        self.enqueue(key, deadline)
        return made

    def _condition(self, manifest: Manifest, kind: str, status: str, reason: str) -> Manifest:
        old = next((c for c in _conditions(manifest) if c["type"] == kind), None)
        if old is not None and (old["status"], old["reason"]) == (status, reason):
            return dict(old)
        now = timestamp(self._world.now)
        since = old["lastTransitionTime"] if old is not None and old["status"] == status else now
        return {
            "type": kind,
            "status": status,
            "reason": reason,
            "lastUpdateTime": now,
            "lastTransitionTime": since,
        }


def _same_template(replica_set: Manifest, manifest: Manifest) -> bool:
    """EqualIgnoreHash."""
    template = copy.deepcopy(replica_set["spec"]["template"])
    template["metadata"].get("labels", {}).pop(HASH_LABEL, None)
    wanted = copy.deepcopy(manifest["spec"]["template"])
    wanted["metadata"].get("labels", {}).pop(HASH_LABEL, None)
    return bool(template == wanted)


def _revision(replica_set: Manifest) -> int:
    text = (replica_set["metadata"].get("annotations") or {}).get(REVISION, "0")
    return int(text) if text.isascii() and text.isdigit() else 0


def _next_revision(older: list[Manifest]) -> int:
    return max(map(_revision, older), default=0) + 1


def _conditions(manifest: Manifest) -> list[Manifest]:
    found: list[Manifest] = (manifest.get("status") or {}).get("conditions") or []
    return found

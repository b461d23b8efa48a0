"""ControllerRevisions: the templates that a StatefulSet or DaemonSet has had
(pkg/controller/history/controller_history.go).

The controllers note the revision differently: a StatefulSet's revision has its hash in the label HASH_LABEL,
and the set's pods have the revision's name in REVISION_LABEL; revisions and pods of a DaemonSet both have the
hash in REVISION_LABEL (newRevision and setPodRevision in statefulset/stateful_set_utils.go, snapshot in
daemon/update.go)."""

import copy
from collections.abc import Collection, Set

from simulator.api import Manifest
from simulator.controllers.pods import revision_label, template_hash
from simulator.controllers.workload_controller import WorkloadController
from simulator.objects.metadata import name_of

REVISIONS = "controllerrevisions.apps"
HASH_LABEL = "controller.kubernetes.io/hash"


def sync_update_revision(controller: WorkloadController, owner: Manifest, label: str) -> Manifest | None:
    """Create the revision of the owner's template, or make it the latest, if needed, and return it. A new one
    has its hash in ``label``. None: this sync has to end here, and the writes make another one. Raises
    StatusError or ApiError."""
    template = owner["spec"]["template"]
    revisions = controller.claim(owner, REVISIONS)
    if revisions is None:
        return None
    latest = max((revision["revision"] for revision in revisions), default=0)
    found = next((revision for revision in revisions if template_of(revision) == template), None)
    if found is None:
        digest = template_hash(template)
        created = {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": f"{name_of(owner)}-{digest}",
                "labels": {**template["metadata"].get("labels", {}), label: digest},
            },
            "data": {"spec": {"template": copy.deepcopy(template)}},
            "revision": latest + 1,
        }
        controller.create(owner, [created])
    elif found["revision"] < latest:
        controller.patch(REVISIONS, found, lambda current: {**current, "revision": latest + 1})
        return None
    return found


def delete_old_revisions(
    controller: WorkloadController, owner: Manifest, used: Collection[Manifest], labels: Set[str]
) -> None:
    """Keep no more than revisionHistoryLimit revisions beside the ``used`` ones and those of the pods with
    these ``labels`` (:func:`revision_label`)."""
    names = {name_of(revision) for revision in used}
    unused = [
        revision
        for revision in controller.owned(owner, REVISIONS)
        if name_of(revision) not in names and labels.isdisjoint(labels_of_pods(revision))
    ]
    surplus = len(unused) - owner["spec"]["revisionHistoryLimit"]
    if surplus > 0:
        oldest = sorted(unused, key=lambda revision: int(revision["revision"]))[:surplus]
        controller.delete(owner, oldest, "more than the history's limit")


def template_of(revision: Manifest) -> Manifest | None:
    """Return the template in a revision's data; None if the data is something else."""
    match revision.get("data"):
        case {"spec": {"template": dict() as template}}:
            return template
    return None


def labels_of_pods(revision: Manifest) -> set[str]:
    """Return the labels that pods of the revision may have: its name or hash. Sets of earlier versions of the
    simulator noted the hash, too."""
    return {name_of(revision), *({revision_label(revision)} - {""})}

"""ControllerRevisions: the templates that a StatefulSet or DaemonSet has had
(pkg/controller/history/controller_history.go, v1.34)."""

import copy
from collections.abc import Container

from simulator.api import Manifest
from simulator.controllers.pods import template_hash
from simulator.controllers.workload_controller import WorkloadController
from simulator.objects.metadata import labels_of, name_of

REVISIONS = "controllerrevisions.apps"
HASH_LABEL = "controller-revision-hash"


def sync_update_revision(controller: WorkloadController, owner: Manifest) -> Manifest | None:
    """Create the revision of the owner's template, or make it the latest, if needed, and return it. None:
    this sync has to end here, and the writes make another one. Raises StatusError or ApiError."""
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
                "labels": {**template["metadata"].get("labels", {}), HASH_LABEL: digest},
            },
            "data": {"spec": {"template": copy.deepcopy(template)}},
            "revision": latest + 1,
        }
        controller.create(owner, [created])
    elif found["revision"] < latest:
        controller.patch(REVISIONS, found, lambda current: {**current, "revision": latest + 1})
        return None
    return found


def delete_old_revisions(controller: WorkloadController, owner: Manifest, used: Container[str]) -> None:
    """Keep no more than revisionHistoryLimit revisions beside those whose hashes are ``used``."""
    unused = [rev for rev in controller.owned(owner, REVISIONS) if revision_hash(rev) not in used]
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


def revision_hash(manifest: Manifest) -> str:
    """Return the hash label of a revision, or of a pod created from one; "" without it."""
    return labels_of(manifest).get(HASH_LABEL, "")

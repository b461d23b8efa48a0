"""The templates that a StatefulSet or DaemonSet has had, kept as ControllerRevisions
(pkg/controller/history/controller_history.go, v1.34)."""

import copy
from collections.abc import Container

from simulator.api import Manifest
from simulator.controllers.controller import Controller
from simulator.controllers.pods import template_hash

REVISIONS = "controllerrevisions.apps"
HASH_LABEL = "controller-revision-hash"


def update_revision(controller: Controller, owner: Manifest) -> Manifest | None:
    """The revision of the owner's template as it is. None: it was not there, was not the latest any more, or
    some had no owner, which is mended and causes another look. Raises StatusError or ApiError."""
    template = owner["spec"]["template"]
    known = controller.claim(owner, REVISIONS)
    if known is None:
        return None
    latest = max((revision["revision"] for revision in known), default=0)
    found = next((revision for revision in known if template_of(revision) == template), None)
    if found is None:
        digest = template_hash(template)
        made = {
            "apiVersion": "apps/v1",
            "kind": "ControllerRevision",
            "metadata": {
                "name": f"{owner['metadata']['name']}-{digest}",
                "labels": {**template["metadata"].get("labels", {}), HASH_LABEL: digest},
            },
            "data": {"spec": {"template": copy.deepcopy(template)}},
            "revision": latest + 1,
        }
        controller.create(owner, [made])
    elif found["revision"] < latest:
        controller.patch(REVISIONS, found, lambda current: {**current, "revision": latest + 1})
        return None
    return found


def clean_up(controller: Controller, owner: Manifest, in_use: Container[str]) -> None:
    """Forget the oldest revisions beyond the limit, but for those with a hash that is in use."""
    idle = [r for r in controller.owned(owner, REVISIONS) if revision_hash(r) not in in_use]
    surplus = len(idle) - owner["spec"]["revisionHistoryLimit"]
    if surplus > 0:
        oldest = sorted(idle, key=lambda revision: int(revision["revision"]))[:surplus]
        controller.delete(owner, oldest, "more than the history's limit")


def template_of(revision: Manifest) -> Manifest:
    template: Manifest = revision["data"]["spec"]["template"]
    return template


def revision_hash(manifest: Manifest) -> str:
    """Of a revision, or of a pod made by it."""
    found: str = (manifest["metadata"].get("labels") or {}).get(HASH_LABEL, "")
    return found

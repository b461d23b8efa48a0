"""The ControllerRevisions of an import, by which the controllers know the pods of each template.

A dump may lack them: ``kubectl get all`` leaves them out. The controllers of a real cluster would make them
again, with the same hashes; the hashes of the simulated ones are others, so they are taken from the objects
that note them."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from simulator.api import Manifest
from simulator.apiserver import resources
from simulator.apiserver.resource import Resource
from simulator.apiserver.restore import restored
from simulator.controllers.controller_revisions import HASH_LABEL, template_of
from simulator.controllers.pods import REVISION_LABEL, revision_label
from simulator.dumps.fitting import Unfit, fit_to_type
from simulator.objects.metadata import labels_of, name_of, namespace_of, uid_of
from simulator.objects.owner_references import controller_of, controller_reference
from simulator.objects.status import status_of

OWNERS: Final = ("statefulsets.apps", "daemonsets.apps")
"""The resources of the objects that have revisions."""


def _resource(kind: str) -> Resource:
    found = resources.find_by_kind("apps/v1", kind)
    assert found is not None
    return found


CONTROLLER_REVISIONS: Final = _resource("ControllerRevision")
_DAEMON_SETS: Final = _resource("DaemonSet")


def fitted_data(data: Manifest) -> Manifest:
    """Return the data of a revision with its template fitted and completed as that of its owner is, so that
    they stay equal. Data without a template stays as it is."""
    template = template_of({"data": data})
    if template is None:
        return data
    owner: Manifest = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "owner"},
        "spec": {"selector": {}, "template": template},
    }
    try:
        fitted = fit_to_type(_DAEMON_SETS, owner, lambda _: None)
    except Unfit:
        return data
    found, _ = restored(_DAEMON_SETS, fitted, 0)
    return {"spec": {"template": found["spec"]["template"]}}


def missing_revisions(
    owners: Iterable[Manifest], revisions: Sequence[Manifest], pods: Sequence[Manifest]
) -> Iterator[Manifest]:
    """Yield a revision of the current template for each StatefulSet and DaemonSet without any, if its hash is
    known: from the set's status, or from the label of the newest of the DaemonSet's pods."""
    known = {(controller_of(revision) or {}).get("uid") for revision in revisions}
    for owner in owners:
        if uid_of(owner) in known:
            continue
        name, prefix = "", f"{name_of(owner)}-"
        if owner["kind"] == "StatefulSet":
            label, name = HASH_LABEL, status_of(owner).get("updateRevision") or ""
        elif digest := _newest_label(owner, pods):
            label, name = REVISION_LABEL, prefix + digest
        if name.startswith(prefix):
            yield _revision(owner, name, {label: name.removeprefix(prefix)})


def _newest_label(owner: Manifest, pods: Iterable[Manifest]) -> str:
    own = [pod for pod in pods if (controller_of(pod) or {}).get("uid") == uid_of(owner)]
    newest = max(own, key=lambda pod: str(pod["metadata"].get("creationTimestamp")), default=None)
    return "" if newest is None else revision_label(newest)


def _revision(owner: Manifest, name: str, label: dict[str, str]) -> Manifest:
    template = owner["spec"]["template"]
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": name,
            "namespace": namespace_of(owner),
            "labels": {**labels_of(template), **label},
            "ownerReferences": [controller_reference(owner)],
        },
        "data": {"spec": {"template": template}},
        "revision": 1,
    }

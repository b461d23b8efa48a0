"""Finds the other pending pods that could take the room which a suggestion makes."""

from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple

import msgspec
import numpy as np

from simulator.api import Manifest
from simulator.apiserver.resources import PODS
from simulator.objects.metadata import labels_of, name_of, namespace_of, object_key
from simulator.objects.pod import Pod
from simulator.objects.pod_group import group_key_of
from simulator.what_if.answer import Suggestion
from simulator.what_if.gang import find_gang
from simulator.what_if.situation import Situation

ROOM_KINDS: Final = frozenset(
    {"uncordon", "taint", "label", "delete-pod", "delete-claim", "free-device", "device", "node", "nodes"}
)
"""Suggestions that change something other than the pod, so that a node can take it. Other pods may take that
room first."""
SPECS_AT_MOST: Final = 50
"""Maximum number of different pod specs that are tried for each suggestion. Pods of one controller have the
same spec."""


def with_rivals(
    situation: Situation, suggestions: Sequence[Suggestion], pods: Sequence[Manifest]
) -> list[Suggestion]:
    """Return the suggestions with the keys of the other pending pods that fit the same node after the change.

    ``pods``: the pods that may be rivals; those with a node, those that are being deleted, and the
    situation's own with all of its gang are left out here.
    """
    gang = find_gang(situation)
    if gang is not None:
        pods = [each for each in pods if group_key_of(each) != gang.key]
    alike = _group_by_spec(situation.pod, pods)
    # To parse the pods takes longer than all else here.
    groups = [
        _Group(Pod.parse(group[0]), [_key(each) for each in group])
        for group in islice(alike.values(), SPECS_AT_MOST)
    ]
    partial = len(alike) > SPECS_AT_MOST
    return [
        msgspec.structs.replace(each, rivals=_rivals(situation, each, groups), rivals_partial=partial)
        if ROOM_KINDS.intersection(part.kind for part in each.parts) and each.outcome.kind == "bound"
        else each
        for each in suggestions
    ]


def _key(manifest: Manifest) -> str:
    return object_key(namespace_of(manifest) or "default", name_of(manifest))


class _Group(NamedTuple):
    """Pending pods of which the filter plugins read the same."""

    pod: Pod
    keys: list[str]


def _group_by_spec(own: Pod, pods: Sequence[Manifest]) -> dict[bytes, list[Manifest]]:
    """Group the pending pods by the part of them that the filter plugins read."""
    groups: dict[bytes, list[Manifest]] = {}
    for manifest in pods:
        metadata, spec = manifest["metadata"], manifest["spec"]
        if spec.get("nodeName") or "deletionTimestamp" in metadata or _key(manifest) == own.key:
            continue
        groups.setdefault(read_of_pod(manifest), []).append(manifest)
    return groups


def read_of_pod(manifest: Manifest) -> bytes:
    """Return the part of a pending pod that the scheduler's plugins read: equal for pods on which they decide
    alike."""
    nominated = (manifest.get("status") or {}).get("nominatedNodeName")
    return msgspec.json.encode(
        (manifest["metadata"].get("namespace"), labels_of(manifest), manifest["spec"], nominated)
    )


def _rivals(situation: Situation, suggestion: Suggestion, groups: Sequence[_Group]) -> list[str]:
    deleted = {edit.key for edit in suggestion.edits if edit.resource == PODS.id and edit.manifest is None}
    with situation.with_changes(edit.change for edit in (*suggestion.edits, *suggestion.follows)):
        row = situation.cluster.rows.get(suggestion.outcome.node)
        if row is None:  # the gang can do without the pod that was asked about
            return []
        return [
            key
            for group in groups
            if _passes(situation, group.pod, row)
            for key in group.keys
            if key not in deleted
        ]


def _passes(situation: Situation, pod: Pod, row: int) -> bool:
    """Whether all filter plugins accept the node for another pod than the situation's own."""
    with situation.with_pod(pod):
        return bool(np.any(situation.passing()[row]))

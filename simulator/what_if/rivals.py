"""Finds the other pending pods that could take the room which a suggestion makes."""

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np

from simulator.api import Manifest
from simulator.apiserver.resources import PODS
from simulator.objects.metadata import labels_of
from simulator.objects.pod import Pod
from simulator.what_if.answer import Suggestion
from simulator.what_if.situation import Situation

ROOM_KINDS: Final = frozenset({"uncordon", "taint", "label", "delete-pod", "node"})
"""Suggestions that change something other than the pod, so that a node can take it. Other pods may take that
room first."""
SPECS_AT_MOST: Final = 50
"""Different pod specs that are tried for each suggestion. Pods of one controller have the same spec."""


def with_rivals(
    situation: Situation, suggestions: Sequence[Suggestion], pods: Sequence[Manifest]
) -> list[Suggestion]:
    """The suggestions with the keys of the other pending pods that fit the same node after the change.

    ``pods``: the pods that may be rivals; those with a node, those that are being deleted and the
    situation's own are left out here.
    """
    groups = _groups_by_spec(situation.pod, pods)
    return [
        msgspec.structs.replace(each, rivals=_rivals(situation, each, groups))
        if each.kind in ROOM_KINDS and each.outcome.kind == "bound"
        else each
        for each in suggestions
    ]


def _groups_by_spec(own: Pod, pods: Sequence[Manifest]) -> list[list[Pod]]:
    """The pending pods, grouped by what the filter plugins read of them."""
    groups: dict[bytes, list[Pod]] = {}
    for manifest in pods:
        if manifest["spec"].get("nodeName") or "deletionTimestamp" in manifest["metadata"]:
            continue
        pod = Pod.parse(manifest)
        if pod.key == own.key:
            continue
        read = (pod.namespace, labels_of(manifest), manifest["spec"], pod.nominated_node_name)
        groups.setdefault(msgspec.json.encode(read), []).append(pod)
    return [*groups.values()][:SPECS_AT_MOST]


def _rivals(situation: Situation, suggestion: Suggestion, groups: Sequence[Sequence[Pod]]) -> list[str]:
    deleted = {edit.key for edit in suggestion.edits if edit.resource == PODS.id and edit.manifest is None}
    with situation.with_changes(edit.change for edit in suggestion.edits):
        row = situation.cluster.rows[suggestion.outcome.node]
        return [
            pod.key
            for group in groups
            if _passes(situation, group[0], row)
            for pod in group
            if pod.key not in deleted
        ]


def _passes(situation: Situation, pod: Pod, row: int) -> bool:
    """Whether all filter plugins accept the node for another pod than the situation's own."""
    own, nominated = situation.pod, situation.nominated
    situation.pod = pod
    situation.nominated = {
        node: [other for other in others if other.key != pod.key] for node, others in nominated.items()
    }
    try:
        return bool(np.any(situation.passing()[row]))
    finally:
        situation.pod, situation.nominated = own, nominated

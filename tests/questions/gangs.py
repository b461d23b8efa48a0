"""Gangs of pods, for the exhaustive tests."""

from typing import Final

from simulator.api import Manifest
from simulator.versions.features import read_features

GANGS: Final = read_features("v1.36", {"GenericWorkload": True, "GangScheduling": True})
IN_GANG: Final[Manifest] = {"schedulingGroup": {"podGroupName": "train"}}
"""What a pod of the group has in its spec."""


def pod_group(least: int) -> Manifest:
    return {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": "train"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": least}}},
    }

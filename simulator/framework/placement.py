"""Placements of pod groups, and the extension points PlacementGenerate and PlacementScore
(staging/src/k8s.io/kube-scheduler/framework/interface.go and pkg/scheduler/framework/runtime/framework.go).
"""

from collections.abc import Sequence
from typing import NamedTuple

from simulator.cluster.columns import Rows
from simulator.objects.pod import Pod


class Placement(NamedTuple):
    """Nodes among which a group is tried as a whole (fwk.Placement)."""

    name: str
    """The value of the label that they share; "" for all nodes."""
    rows: Rows
    """Their rows in the cluster, in the scheduler's order."""
    whole: bool = False
    """Whether these are all nodes of the cluster."""


class PlacementAssignments(NamedTuple):
    """A placement in which the group can be scheduled, with the pods that get a node there
    (fwk.PodGroupAssignments)."""

    placement: Placement
    pods: Sequence[Pod]

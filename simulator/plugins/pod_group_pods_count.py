"""PodGroupPodsCount (pkg/scheduler/framework/plugins/podgrouppodscount, v1.36)."""

from collections.abc import Sequence

from simulator.cluster.cluster import Cluster
from simulator.framework.interface import MAX_NODE_SCORE, PlacementScorePlugin
from simulator.framework.placement import PlacementAssignments
from simulator.objects.pod_group import PodGroup


class PodGroupPodsCount(PlacementScorePlugin):
    """Prefers placements that hold more pods of the group."""

    name = "PodGroupPodsCount"

    def score_placements(
        self, cluster: Cluster, group: PodGroup, assignments: Sequence[PlacementAssignments]
    ) -> Sequence[int]:
        scheduled = len(cluster.pod_groups.get(group.key).scheduled)
        counts = [scheduled + len(each.pods) for each in assignments]
        most = max(counts)
        return [count * MAX_NODE_SCORE // most if most else 0 for count in counts]

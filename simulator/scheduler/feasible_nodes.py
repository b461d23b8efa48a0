"""How many feasible nodes end a search (numFeasibleNodesToFind in pkg/scheduler/schedule_one.go, v1.34)."""

MIN_FEASIBLE_NODES_TO_FIND = 100
"""In clusters that are smaller all nodes are filtered."""
MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND = 5
"""The least share of the nodes, however large the cluster is."""


def num_feasible_nodes_to_find(nodes: int, percentage: int) -> int:
    """``percentage`` is percentageOfNodesToScore; 0 = a share that shrinks as the cluster grows."""
    if nodes < MIN_FEASIBLE_NODES_TO_FIND:
        return nodes
    if percentage == 0:
        percentage = max(50 - nodes // 125, MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND)
    return max(nodes * percentage // 100, MIN_FEASIBLE_NODES_TO_FIND)

"""ResourceAmounts: amounts of resources by node or by pod, stored sparsely and read as columns.

What is stored grows with the amounts that there are, as the maps of upstream's NodeInfo do, and not with the
number of nodes times the number of resource names: a node of half a megabyte can name 25,000 resources.
"""

from collections import OrderedDict
from collections.abc import Mapping

import numpy as np

from simulator.cluster.columns import MAX_CACHED_COLUMNS, Ints, grow_column, wrapped


class ResourceAmounts:
    """An amount for each resource and row: cpu in millicores, all others in units; 0 for those not added.

    Columns exist only for the MAX_CACHED_COLUMNS resources that were read most recently."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._amounts: dict[str, dict[int, int]] = {}
        self._columns: OrderedDict[str, Ints] = OrderedDict()

    def __contains__(self, resource: str) -> bool:
        """Whether any row has an amount of the resource."""
        return resource in self._amounts

    def add(self, row: int, amounts: Mapping[str, int], sign: int = 1) -> None:
        """Add amounts to those of a row, or subtract them (``sign`` -1). On int64 overflow a sum wraps
        around, as in Go."""
        for resource, amount in amounts.items():
            if not amount:
                continue
            of_resource = self._amounts.get(resource)
            if of_resource is None:
                of_resource = self._amounts[resource] = {}
            total = of_resource[row] = wrapped(of_resource.get(row, 0) + sign * amount)
            if not total:
                del of_resource[row]
                if not of_resource:
                    del self._amounts[resource]
            column = self._columns.get(resource)
            if column is not None:
                column[row] = total

    def column(self, resource: str) -> Ints:
        """Return the amounts of a resource, int64[capacity]. Callers must not write to it."""
        column = self._columns.get(resource)
        if column is not None:
            self._columns.move_to_end(resource)
            return column
        column = self._columns[resource] = np.zeros(self._capacity, dtype=np.int64)
        of_resource = self._amounts.get(resource)
        if of_resource:
            column[list(of_resource)] = list(of_resource.values())
        if len(self._columns) > MAX_CACHED_COLUMNS:
            self._columns.popitem(last=False)
        return column

    def grow(self, capacity: int) -> None:
        self._capacity = capacity
        for resource, column in self._columns.items():
            self._columns[resource] = grow_column(column, capacity)

"""The errors of a pod with resource claims."""


class ClaimError(Exception):
    """A claim of the pod cannot be used yet: the pod is not tried. The message is upstream's."""


class AllocationError(Exception):
    """The allocation failed with an error, which ends the scheduling cycle. The message is upstream's."""

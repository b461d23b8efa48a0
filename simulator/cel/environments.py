"""The names of the environments in which expressions are compiled. What they know is in
:mod:`simulator.cel.library`, which is loaded when the first expression is compiled."""

from enum import Enum, auto


class Environment(Enum):
    """What an expression may use beside its variables."""

    STORED_EXPRESSIONS = auto()
    """All that v1.34 knows: for what is stored (environment.StoredExpressions)."""
    NEW_EXPRESSIONS = auto()
    """What v1.33 knows, too: for what is written to the API server (environment.NewExpressions)."""
    STORED_SELECTORS = auto()
    """The same with ``cel.bind``, for the selectors of devices."""
    NEW_SELECTORS = auto()
    CONDITIONS = auto()
    """CEL without extensions and without ``matches``, for the conditions of lessons."""

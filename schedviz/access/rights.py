"""The rights on a sandbox. Each includes those before it."""

from enum import IntEnum


class Right(IntEnum):
    NONE = 0
    VIEW = 1
    """See the sandbox, ask questions about it, and copy it."""
    EDIT = 2
    """Change what is in it, and its clock; start it over."""
    OWN = 3
    """Delete it, and share it."""

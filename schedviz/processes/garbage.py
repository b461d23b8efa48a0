"""How often a process looks for garbage."""

import gc
from typing import Final

GARBAGE_OBJECTS: Final = 20_000
"""How many objects are made until garbage is looked for: some 5 MB of them, if all are garbage."""


def look_for_garbage_less_often() -> None:
    """Set the threshold of Python's garbage collection. With Python's own one of 700, it takes half of the
    CPU time in which a large body or thousands of objects are read: it looks at all objects of the process
    again and again."""
    gc.set_threshold(GARBAGE_OBJECTS, *gc.get_threshold()[1:])

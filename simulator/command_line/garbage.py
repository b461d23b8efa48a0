"""When a command looks for garbage."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Iterator[None]:
    """Collect no garbage meanwhile, and never look at what is there then: of a million objects that all stay,
    a collection finds none and takes seconds."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()

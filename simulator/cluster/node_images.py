"""Which nodes hold which images (imageStates in pkg/scheduler/backend/cache/cache.go, v1.34)."""

from collections.abc import Sequence

from simulator.objects.node import Image


class ImageState:
    """An image that some nodes hold. ``size`` is the first one reported for this name since any node held it
    (bytes)."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows: set[int] = set()


class NodeImages:
    """Images by name, as nodes report them."""

    def __init__(self) -> None:
        self.states: dict[str, ImageState] = {}

    def set(self, row: int, old: Sequence[Image], new: Sequence[Image]) -> None:
        """The images of a row are now others."""
        if old == new:
            return
        for name in _names(old):
            state = self.states.get(name)
            if state is not None:
                state.rows.discard(row)
                if not state.rows:
                    del self.states[name]
        for image in new:
            for name in image.names:
                self.states.setdefault(name, ImageState(image.size)).rows.add(row)


def _names(images: Sequence[Image]) -> set[str]:
    return {name for image in images for name in image.names}

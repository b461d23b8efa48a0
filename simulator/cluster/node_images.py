"""NodeImages: the container images on nodes (imageStates in pkg/scheduler/backend/cache/cache.go, v1.34)."""

from collections.abc import Sequence

from simulator.objects.node import Image


class ImageState:
    """An image that is on at least one node. ``size`` is in bytes: the size that the first of these nodes
    reported."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.rows: set[int] = set()


class NodeImages:
    """The images on the nodes. ``states``: the images by name, as the nodes report them."""

    def __init__(self) -> None:
        self.states: dict[str, ImageState] = {}

    def set(self, row: int, old: Sequence[Image], new: Sequence[Image]) -> None:
        """Replace the images ``old`` of a node by ``new``."""
        if old == new:
            return
        for name in _image_names(old):
            state = self.states.get(name)
            if state is not None:
                state.rows.discard(row)
                if not state.rows:
                    del self.states[name]
        for image in new:
            for name in image.names:
                self.states.setdefault(name, ImageState(image.size)).rows.add(row)


def _image_names(images: Sequence[Image]) -> set[str]:
    return {name for image in images for name in image.names}

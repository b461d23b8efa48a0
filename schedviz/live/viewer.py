"""A connected page, as hubs use it, and the codes with which they close its connection."""

from collections.abc import Callable, Coroutine
from typing import Any, Final, Generic

from schedviz.access.standing import Standing
from schedviz.live.slot import Slot
from schedviz.live.watched import Chosen

TRY_AGAIN_LATER: Final = 1013
"""The close code after which the page connects again, a little later."""
FORBIDDEN: Final = 4403
"""The close code for a viewer whose right to see the sandbox was withdrawn. htmx does not connect again after
it; the page is loaded again."""
GONE: Final = 4404
"""The close code for a deleted sandbox. htmx does not connect again after it."""


class Viewer(Generic[Chosen]):
    """A connected page: its language, its look, its slot, and the function that closes it."""

    def __init__(
        self,
        language: str,
        close: Callable[[int], Coroutine[Any, Any, None]],
        look: Chosen,
        standing: Standing | None = None,
        held: str = "",
        *,
        says_shown: bool = False,
    ) -> None:
        """standing: None = the viewer may see the page in any case. held: the digests of the parts that the
        page has, until it gets its first frame. says_shown: see :class:`schedviz.live.slot.Slot`."""
        self.language = language
        self.standing = standing
        self.look = look
        self.held = held
        self.slot = Slot(says_shown=says_shown)
        self.close = close

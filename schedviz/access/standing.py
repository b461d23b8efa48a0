"""Checks whether a visitor who watches a sandbox still has the right after its access record changed."""

from schedviz.access.asker import LIVE, Asker, asker_by
from schedviz.access.record import read_record


class Standing:
    """The right of an accepted websocket or watch."""

    def __init__(self, sandbox: str, asker: Asker | None) -> None:
        """asker: None = of a sandbox that there is not."""
        self._sandbox = sandbox
        self._visitor = asker.visitor if asker else None
        self._checked: str | None = None
        """The last record that gave the right."""

    def holds(self, access: str) -> bool:
        """Whether the right still stands by this record."""
        if self._visitor is None or access == self._checked:
            return True
        if asker_by(self._sandbox, self._visitor, read_record(access)).right < LIVE:
            return False
        self._checked = access
        return True

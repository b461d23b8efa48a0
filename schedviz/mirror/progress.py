"""Notes how a mirror that a page has connected goes, for this page."""

import time
from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from schedviz.real_cluster.follow import Message
from schedviz.store.connected_mirrors import ConnectedMirrors, MirrorProgress

NOTE_SECONDS: Final = 0.25
"""The least time between two notes of what was read."""


class ProgressNotes:
    def __init__(self, mirrors: ConnectedMirrors, name: str) -> None:
        self._mirrors = mirrors
        self._name = name
        self._noted = 0.0
        self._now = mirrors.progress(name)
        self.totals: Mapping[str, int] = {}
        """The resources of which it is known how many objects there are, about."""

    def take(self, message: Message) -> None:
        """Note that a part of the first lists was read."""
        plural = message.resource.plural
        if message.kind == "BEGUN":
            total = self.totals.get(plural, 0)
            self._now = replace(self._now, phase="reading", resource=plural, read=0, total=total)
        self._now = replace(self._now, read=self._now.read + len(message.objects))
        if time.monotonic() >= self._noted + NOTE_SECONDS:
            self._note(self._now)

    def follow(self) -> None:
        self._note(MirrorProgress("following", has_followed=True))

    def end(self, message: str) -> None:
        self._note(MirrorProgress("ended", message=message, has_followed=self._now.has_followed))

    def _note(self, progress: MirrorProgress) -> None:
        self._now, self._noted = progress, time.monotonic()
        self._mirrors.note(self._name, progress)

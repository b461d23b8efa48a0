"""The log of the live page: the newest events of the trace as lines."""

from itertools import takewhile
from typing import Final

from schedviz.web.log.group_members import GroupMembers
from schedviz.web.log.sentences import EventSentences, LogLine
from schedviz.web.picture.picture import Picture

LINES_AT_MOST: Final = 40


class Log:
    """The newest lines, updated from the trace of one picture. Each event is read once."""

    def __init__(self, base: str) -> None:
        self._words = EventSentences(base)
        self._seq = -1
        """The number of the newest event that was read."""
        self._members = GroupMembers()
        self._lines: list[LogLine] = []

    def lines(self, picture: Picture) -> list[LogLine]:
        """Return the lines of the log, newest first. The same list object is returned until a line is
        added."""
        found: list[LogLine] = []
        unread = [*takewhile(lambda each: each[0] > self._seq, reversed(picture.trace))]
        for seq, event in reversed(self._members.leave_out(reversed(unread))):
            if len(found) == LINES_AT_MOST:
                break
            line = self._words.line(seq, event)
            if line is not None:
                found.append(line)
        self._seq = picture.trace[-1][0] if picture.trace else self._seq
        if found:
            self._lines = [*found, *self._lines][:LINES_AT_MOST]
        return self._lines

"""The log of the live page: the newest events of the trace as lines."""

from itertools import takewhile
from typing import Final

from schedviz.web.log.group_members import GroupMembers, Numbered
from schedviz.web.log.sentences import EventSentences, LogLine
from schedviz.web.outside.verdicts import is_judged, pair_verdicts
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
        self._acts: list[Numbered] = []
        """The acts among the lines on which a verdict may come, the oldest first."""

    def lines(self, picture: Picture) -> list[LogLine]:
        """Return the lines of the log, newest first. The same list object is returned until a line is
        added or changed: an act has the verdict on it in its own line."""
        unread = [*takewhile(lambda each: each[0] > self._seq, reversed(picture.trace))]
        if not unread:
            return self._lines
        self._seq = unread[0][0]
        events = self._members.leave_out(reversed(unread))
        verdicts = pair_verdicts([*self._acts, *events])
        found: list[LogLine] = []
        for seq, event in reversed(events):
            if len(found) == LINES_AT_MOST:
                break
            line = self._words.line(seq, event, verdicts.get(seq))
            if line is not None:
                found.append(line)
        judged = {
            seq: self._words.line(seq, act, verdicts[seq]) for seq, act in self._acts if seq in verdicts
        }
        if found or judged:
            before = (judged.get(line.seq) or line for line in self._lines)
            self._lines = [*found, *before][:LINES_AT_MOST]
            shown = {line.seq for line in self._lines}
            self._acts = [each for each in (*self._acts, *events) if each[0] in shown and is_judged(each[1])]
        return self._lines

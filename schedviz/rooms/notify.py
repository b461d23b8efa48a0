"""Notifies pages that a room has changed. A message may be lost: the teacher's view also reads the room
every few seconds, as a learner's page does."""

from schedviz.loop.doorbell import group, ring


def notify_teacher(code: str) -> None:
    """Notify the teacher's view and the projector of a change: of the room, or of a learner's progress."""
    ring(_teacher(code))


def notify_learners(code: str) -> None:
    """Notify the pages of the learners of a change: of the last hint, or whether the room is paused."""
    ring(_learners(code))


def teacher_group(code: str) -> str:
    """Return the channel-layer group of the teacher's pages."""
    return group(_teacher(code))


def learners_group(code: str) -> str:
    return group(_learners(code))


def _teacher(code: str) -> str:
    # No sandbox can have one of these names: see schedviz.rooms.room.is_reserved.
    return f"room-{code.lower()}"


def _learners(code: str) -> str:
    return f"room-{code.lower()}-all"

"""Tells pages that a room has changed. A message may be lost: the teacher's view also reads the room
regularly, and a learner's page shows the room's state when it is loaded."""

from schedviz.loop.doorbell import group, ring


def ring_teacher(code: str) -> None:
    """The teacher's view and the projector draw what changed."""
    ring(_teacher(code))


def ring_learners(code: str) -> None:
    """The pages of the learners show the last hint and whether the room is paused."""
    ring(_learners(code))


def teacher_group(code: str) -> str:
    """The channel-layer group of the teacher's pages."""
    return group(_teacher(code))


def learners_group(code: str) -> str:
    return group(_learners(code))


def _teacher(code: str) -> str:
    # No sandbox can have one of these names: see schedviz.rooms.room.is_reserved.
    return f"room-{code.lower()}"


def _learners(code: str) -> str:
    return f"room-{code.lower()}-all"

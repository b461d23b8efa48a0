"""Creates the sandboxes of lessons, paused at their beginning."""

import hashlib
import re
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from msgspec.structs import replace

from schedviz.access.record import continued
from schedviz.api.from_scenario import create, groups_of, names_to_delete
from schedviz.lessons.catalogue import scenario_of
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.uploads import Uploads, is_upload
from schedviz.store import Meta, NoSandbox, Sandbox, Store

SANDBOXES_AT_MOST: Final = 300
"""Maximum number of sandboxes of learners outside rooms. Beyond it the oldest one of the
address that has most is deleted."""
KEPT_SECONDS: Final = 3 * 3600
"""Age of sandboxes from which on they are deleted when another one is created."""
_OWN: Final = re.compile(r"lesson-[a-z0-9-]+-[0-9a-f]{12}")


def start_lesson(
    store: Store, lesson: Lesson, names: Iterable[str], seed: int | None = None, access: str = ""
) -> Sandbox:
    """Create a paused sandbox with the cluster of a lesson and the first free name of ``names``. seed: None =
    the lesson's. access: its access record. Raises StatusError."""
    if is_upload(lesson.name):
        Uploads(store.redis).note_used(lesson.name, store.wall())
    text, cluster = lesson.text("en"), lesson.cluster
    made = replace(
        cluster, title=text.title, summary=text.summary, seed=cluster.seed if seed is None else seed
    )
    return create(store, made, scenario_of(lesson), names, paused=True, access=access)


def restart_lesson(
    store: Store, lesson: Lesson, name: str, seed: int | None = None, access: str = ""
) -> Sandbox:
    """Create the sandbox of that name at the lesson's beginning; an existing one is deleted. Raises
    StatusError."""
    with store.replacing(name) as kept:
        return start_lesson(store, lesson, [name], seed, continued(kept, access))


def start_own_lesson(store: Store, lesson: Lesson, learner: str, access: str = "") -> Sandbox:
    """Create the sandbox of a learner outside rooms, and delete old ones of others. Raises StatusError."""
    name = own_sandbox(lesson, learner)
    delete_old(store, keep=name)
    return restart_lesson(store, lesson, name, access=access)


def own_sandbox(lesson: Lesson, learner: str) -> str:
    """Return the name of a learner's sandbox outside rooms. It does not show the learner's id."""
    return f"lesson-{lesson.name}-{hashlib.sha256(learner.encode()).hexdigest()[:12]}"


def is_own_sandbox(meta: Meta) -> bool:
    """Whether a sandbox is that of a learner outside rooms. They are not on the home page."""
    return (
        meta.origin is None and _OWN.fullmatch(meta.name) is not None and meta.scenario.startswith("lessons/")
    )


def delete_old(store: Store, keep: str) -> None:
    """Delete the learners' sandboxes outside rooms that are too old, or too many beside the one to keep."""
    found = [meta for meta in store.sandboxes() if is_own_sandbox(meta) and meta.name != keep]
    for name in names_to_delete(
        found,
        store.wall(),
        kept_seconds=KEPT_SECONDS,
        at_most=SANDBOXES_AT_MOST - 1,
        groups=groups_of(store.access_records()) if len(found) >= SANDBOXES_AT_MOST else {},
        held=store.held_among(found),
    ):
        with suppress(NoSandbox):  # another learner's request deleted it
            store.delete(name)

"""The box above the board that leads the visitor through their own act: the goal of a guide, the course of
the visitor's pod, and the end."""

from hashlib import sha1

import msgspec

from schedviz.store import Meta
from schedviz.store.past import Readable
from schedviz.web.act import Act
from schedviz.web.guide.course import CourseView, present_course
from schedviz.web.guides import Guide, guide_in, next_guide, translated_guide


class GuideBox(msgspec.Struct, frozen=True):
    guide: Guide | None
    """The guide of the sandbox; None for a pod that the visitor created in another sandbox."""
    following: Guide | None
    course: CourseView | None
    """The course of the visitor's pod; None: the visitor has begun the guide and has not created the pod."""

    @property
    def shown(self) -> str:
        """A text that changes when the box does."""
        return sha1(msgspec.json.encode((self.course, self.guide)), usedforsecurity=False).hexdigest()[:12]


def present_box(source: Readable, meta: Meta, act: Act | None) -> GuideBox | None:
    """Return the box for the visitor's act; None = there is nothing to say."""
    if act is None:
        return None
    guide = guide_in(meta)
    if not act.pod and guide is None:
        return None
    following = next_guide(guide) if guide else None
    return GuideBox(
        guide=translated_guide(guide) if guide else None,
        following=translated_guide(following) if following else None,
        course=present_course(source, act) if act.pod else None,
    )

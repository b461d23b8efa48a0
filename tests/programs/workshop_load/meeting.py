"""The part of the plan in which the class is together: all answer the first question, and wait."""

import asyncio

from schedviz.lessons.lesson import Lesson


class Meeting:
    """``question``: the place of the lesson's first question; -1 = there is none, and nobody waits."""

    def __init__(self, lesson: Lesson, learners: int) -> None:
        self.question = next((place for place, step in enumerate(lesson.steps) if step.question), -1)
        self.key = f"{lesson.name}/{lesson.steps[self.question].id}" if self.question >= 0 else ""
        self.plan = (
            f"15 lesson {lesson.name} 1\n5 discussion\n5 break\n65 lesson {lesson.name} {self.question + 1}\n"
        )
        self.goes_on = asyncio.Event()
        """Set when the section after the break has begun."""
        self._missing = learners
        self._all_submitted = asyncio.Event()
        if learners <= 0:
            self._all_submitted.set()

    async def wait_for_section(self) -> None:
        """Wait, after the answer was submitted, until the class goes on."""
        self.note_here()
        await self.goes_on.wait()

    def note_here(self) -> None:
        """Note that a learner has submitted the answer, or will not."""
        self._missing -= 1
        if self._missing <= 0:
            self._all_submitted.set()

    async def all_submitted(self) -> None:
        await self._all_submitted.wait()

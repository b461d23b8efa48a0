"""The short form of the workshop, on the real server and worker: nothing is lost, and there are no faults."""

import pytest
from msgspec import structs

from schedviz.lessons.catalogue import lessons
from schedviz.store import Store
from tests.programs.load.site import opened
from tests.programs.workshop_load.learner import Learner
from tests.programs.workshop_load.options import Options
from tests.programs.workshop_load.panel import Panel
from tests.programs.workshop_load.teacher import Row, Teacher, rows_of
from tests.programs.workshop_load.visitor import Visitor
from tests.programs.workshop_load.workshop import Workshop

SHORT = Options(learners=5, lesson="one-node-one-pod", think=0.3, speed=10.0, solutions=0.2, seed=7)

PANEL = (
    '<div id="lesson-panel"  data-step="{step}"><input type="hidden" name="shown" value="{shown}">'
    '<li class="goal{done}" data-goal="bound"></li></div>'
)
ROW = (
    '<tr id="m-3" class="stuck"><th>Ada</th><td class="where"><b>2/5</b> <span>Create</span></td>'
    '<td class="n">1/3</td><td class="n">-</td><td class="guess"><b>✓</b> <span>Nowhere</span></td>'
    '<td><span class="tag">✓ finished</span></td></tr>'
)


@pytest.mark.long
async def test_five_learners_finish_a_lesson_and_nothing_is_lost(stack: str, store: Store) -> None:
    workshop = Workshop(int(stack.rpartition(":")[2]), store, lessons()[SHORT.lesson], SHORT)
    await workshop.run()
    assert workshop.faults == []
    assert [each.finished for each in workshop.learners] == [True] * SHORT.learners
    shown = {each.name: each.n for each in workshop.figures}
    assert shown["act to the teacher's view"] > 0
    for act in ("resume all", "pause all", "hint to all", "set step for all"):
        assert shown[f"teacher: {act}"] == SHORT.learners, act
    for act in ("discussion", "reveal on all pages", "break", "next section"):
        assert shown[f"teacher: {act}"] == SHORT.learners - 1, f"{act}: one joins after it"
    assert shown["teacher: reveal on the projector"] == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("lesson", "act"), [("node-affinity", "edit"), ("profiles-and-weights", "new configuration")]
)
async def test_learners_edit_objects_and_the_configuration(
    stack: str, store: Store, lesson: str, act: str
) -> None:
    options = structs.replace(SHORT, learners=1, lesson=lesson, solutions=0.0)
    workshop = Workshop(int(stack.rpartition(":")[2]), store, lessons()[lesson], options)
    await workshop.run()
    assert workshop.faults == []
    assert f"  {act} to frame" in {each.name for each in workshop.figures}


async def test_a_goal_is_timed_from_the_frame_after_the_last_panel_without_it(store: Store) -> None:
    async with opened(1, store, kind=Visitor) as site:
        panel = Panel(site, "a", PANEL.format(step="bind", shown="a1", done="").encode())
        panel.note_frame(panel._looked + 5.0)
        panel.note_frame(panel._looked + 6.0)
        panel._take(PANEL.format(step="bind", shown="a2", done=" done").encode(), panel._since)
        assert panel.reached["bind", "bound"][0] == panel._looked + 5.0
        assert await panel.shows("goals", 1.0)
        await panel.close()


def test_a_line_of_the_teachers_view_is_read() -> None:
    assert rows_of(ROW.encode()) == {3: Row(2, 1, "<b>✓</b> <span>Nowhere</span>", True)}


async def test_progress_that_is_not_stored_is_a_fault(store: Store) -> None:
    workshop = Workshop(1, store, lessons()[SHORT.lesson], SHORT)
    async with opened(1, store, kind=Visitor) as site:
        workshop.learners = [Learner(1, site, Teacher(site), workshop.lesson, SHORT)]
    found = workshop.lost("NOROOM", {})
    assert [each.partition(": ")[2].partition(":")[0] for each in found] == [
        "the page does not show the end of the lesson",
        "the progress is not complete",
        "in the results",
    ]

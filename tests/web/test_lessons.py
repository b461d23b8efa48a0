"""The pages of the lessons: the list, the panel with its acts, and the handout."""

import re
from collections.abc import Iterator

import pytest
from django.test import Client
from django.utils.translation import override
from msgspec.structs import replace

from schedviz.api import removal, write
from schedviz.lessons.catalogue import lessons
from schedviz.lessons.evaluate import begin
from schedviz.lessons.learners import Learners
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.start import is_own_sandbox
from schedviz.store import Store
from schedviz.web.lessons.list import numbers, present_lessons

NAME = "pending"
"""The lesson of tests/lessons/folders: it is a level, and in English only."""
HTMX = {"HX-Request": "true"}
POD = {"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "c", "image": "app:1"}]}}


@pytest.fixture
def client(store: Store) -> Iterator[Client]:
    yield Client(headers={"host": "localhost"})
    for meta in store.sandboxes():
        if is_own_sandbox(meta):
            store.delete(meta.name)


def lesson() -> Lesson:
    return lessons()[NAME]


def start(client: Client, **fields: str) -> str:
    """Start the lesson; return the path of its sandbox."""
    response = client.post(f"/lessons/{NAME}/", fields)
    assert response.status_code == 302
    return response.headers["Location"]


def panel(client: Client, path: str, **fields: str | list[str]) -> str:
    """Post an act, and return the panel."""
    response = client.post(f"{path}lesson/", fields, headers=HTMX)
    assert response.status_code == 200
    return response.content.decode()


def step_of(html: str) -> str:
    [step] = re.findall(r'data-step="(\w+)"', html)
    return step


def test_the_home_page_and_the_ideas_link_to_the_list(client: Client) -> None:
    for page in ("/", "/ideas/", "/ideas/queue/"):
        assert 'href="/lessons/"' in client.get(page).content.decode()


def test_the_list_shows_the_learners_progress(client: Client, store: Store) -> None:
    assert (
        client.post("/lessons/none/").status_code == client.get("/lessons/none/handout/").status_code == 404
    )
    before = row(client)
    assert "not begun" in before
    assert "Start" in before
    path = start(client)
    panel(client, path, step="look", do="next")
    begun = row(client)
    assert "step 2 of 4" in begun
    assert "Continue" in begun
    assert "Continue: step 2 of 4" in client.get("/lessons/").content.decode()
    assert start(client) == path, "it continues at the same step"
    assert "step 2 of 4" in client.get(path).content.decode()
    assert path not in client.get("/").content.decode()
    # The progress of another learner does not change.
    other = Client(headers={"host": "localhost"})
    assert "not begun" in row(other)
    assert start(other) != path
    # The sandbox was deleted: the lesson starts again.
    store.delete(path.split("/")[2])
    assert "not begun" in row(client)
    assert "step 1 of 4" in client.get(start(client)).content.decode()


def row(client: Client) -> str:
    page = client.get("/lessons/").content.decode()
    return page.partition(f'id="lesson-{NAME}"')[2].partition("</li>")[0]


def test_the_list_proposes_the_next_lesson() -> None:
    known = [replace(lesson(), name=name, par=None) for name in ("a", "b")] + [lesson()]
    assert numbers(known) == {"a": 1, "b": 2, NAME: 1}

    def proposed(*progress: tuple[str, float, float]) -> str:
        made = {
            name: replace(begin(lesson(), f"s-{name}", 1, progressed), finished=finished)
            for name, progressed, finished in progress
        }
        found = present_lessons(known, made, {"s-a", "s-b"})
        return found.proposed.name if found.proposed else ""

    assert proposed() == "a"
    assert proposed(("a", 5, 5)) == "b"
    assert proposed(("a", 7, 0), ("b", 9, 0)) == "b", "the lesson that was started last"
    assert proposed(("a", 5, 5), ("b", 9, 9)) == NAME
    assert proposed(("a", 5, 5), (NAME, 9, 0)) == "b", "its sandbox was deleted"
    assert proposed(("a", 5, 5), ("b", 9, 9), (NAME, 9, 9)) == ""


def test_the_page_shows_what_the_step_needs_and_no_more(client: Client) -> None:
    path = start(client)
    page = client.get(path).content.decode()
    [classes] = re.findall(r'<body\s+class="([^"]+)"', page)
    assert classes.split() == ["live", "lesson-page", "show-nodes"]
    assert 'data-highlight="node" data-name="node-1" data-label="Look here"' in re.sub(r"\s+", " ", page)
    assert "<h1" in page
    assert "Requests decide" in page
    html = panel(client, path, step="look", do="next")
    assert 'data-parts="queue nodes"' in html
    html = panel(client, path, step="predict", do="next")
    assert 'data-parts="queue nodes create"' in html
    assert "not yet" in html
    assert 'data-goals="0/2"' in html


def test_the_panel_is_sent_when_it_has_changed(client: Client, store: Store) -> None:
    path = start(client)
    html = client.get(f"{path}lesson/").content.decode()
    [shown] = re.findall(r'name="shown" value="(\w+)"', html)
    assert client.get(f"{path}lesson/?shown={shown}").status_code == 204
    panel(client, path, step="look", do="next")
    assert client.get(f"{path}lesson/?shown={shown}").status_code == 200
    other = Client(headers={"host": "localhost"})
    assert other.get(f"{path}lesson/").status_code == 404
    assert "lesson-page" not in other.get(path).content.decode()


def test_the_first_answer_counts_and_the_right_one_is_shown(client: Client) -> None:
    path = start(client)
    html = panel(client, path, step="look", do="next")
    assert html.count('type="radio"') == 2
    assert "counts requests" not in html
    assert client.post(f"{path}lesson/", {"step": "predict", "do": "guess"}, headers=HTMX).status_code == 400
    html = panel(client, path, step="predict", do="guess", pick="fits")
    assert "your answer, wrong" in html
    assert "the right answer" in html
    assert "counts requests" in html
    html = panel(client, path, step="predict", do="guess", pick="pending")
    assert "your answer, wrong" in html
    assert 'id="lesson-next"' in html


def test_steps_go_forward_and_back_one_at_a_time(client: Client) -> None:
    path = start(client)
    assert step_of(panel(client, path, step="look", do="back")) == "look"
    assert step_of(panel(client, path, step="look", do="next")) == "predict"
    assert step_of(panel(client, path, step="look", do="next")) == "predict", "pressed twice"
    assert "Skip this step" in client.get(path).content.decode()
    assert step_of(panel(client, path, step="predict", do="next")) == "create"
    assert step_of(panel(client, path, step="create", do="back")) == "predict"
    plain = client.post(f"{path}lesson/", {"step": "predict", "do": "next"})
    assert plain.headers["Location"] == path, "without scripts"
    panel(client, path, step="create", do="next")
    html = panel(client, path, step="preempt", do="next")
    assert step_of(html) == "preempt", "the last one"
    assert "Skip" not in html


def test_starting_over_begins_with_the_first_step_in_a_new_cluster(client: Client, store: Store) -> None:
    path = start(client)
    sandbox = store.sandbox(path.split("/")[2])
    panel(client, path, step="look", do="next")
    removal.delete(sandbox, "pods", "default/batch")
    response = client.post(f"{path}lesson/", {"step": "predict", "do": "reset"}, headers=HTMX)
    assert response.headers["HX-Refresh"] == "true"
    assert sandbox.get("pods", "default/batch")
    assert "step 1 of 4" in client.get(path).content.decode()
    panel(client, path, step="look", do="next")
    assert start(client, again="1") == path
    assert "step 1 of 4" in client.get(path).content.decode()


def test_undo_reverts_the_last_edit_of_the_step(client: Client, store: Store) -> None:
    path = start(client)
    assert 'id="lesson-undo"' not in client.get(path).content.decode()
    sandbox = store.sandbox(path.split("/")[2])
    write.create(sandbox, [{**POD, "metadata": {"name": "first"}}])
    assert 'id="lesson-undo"' in client.get(path).content.decode()
    # What was done at another step stays.
    assert 'id="lesson-undo"' not in panel(client, path, step="look", do="next")
    client.post(f"{path}lesson/", {"step": "predict", "do": "undo"}, headers=HTMX)
    assert store.sandbox(sandbox.name).get("pods", "default/first")
    write.create(sandbox, [{**POD, "metadata": {"name": "other"}}])
    assert 'id="lesson-undo"' in client.get(path).content.decode()
    response = client.post(f"{path}lesson/", {"step": "predict", "do": "undo"}, headers=HTMX)
    assert response.headers["HX-Refresh"] == "true"
    assert store.sandbox(sandbox.name).get("pods", "default/other") is None
    assert store.sandbox(sandbox.name).get("pods", "default/first")
    page = client.get(path).content.decode()
    assert "step 2 of 4" in page, "the progress stays"
    assert 'id="lesson-undo"' not in page
    # The dialog, which all sandboxes have, has the same rule.
    assert "only your own changes at the present step" in client.get(f"{path}undo/").content.decode()
    assert client.post(f"{path}undo/", {"edit": "1-1"}).status_code == 422
    assert store.sandbox(sandbox.name).get("pods", "default/first")


def test_a_step_is_restarted_in_the_state_in_which_it_begins(client: Client, store: Store) -> None:
    path = start(client)
    panel(client, path, step="look", do="next")
    panel(client, path, step="predict", do="guess", pick="fits")
    panel(client, path, step="predict", do="next")
    html = panel(client, path, step="create", do="next")
    # The pod of the step that was skipped is missing. The page says so, and offers the way on.
    assert step_of(html) == "preempt"
    sandbox = store.sandbox(path.split("/")[2])
    assert sandbox.get("pods", "default/web") is None
    response = client.post(f"{path}lesson/", {"step": "preempt", "do": "again"}, headers=HTMX)
    assert response.headers["HX-Refresh"] == "true"
    assert store.sandbox(sandbox.name).get("pods", "default/web")
    page = client.get(path).content.decode()
    assert "step 4 of 4" in page
    assert 'id="lesson-undo"' not in page, "the solutions of the steps before are not the learner's"
    page = panel(client, path, step="preempt", do="back")
    assert "your answer, wrong" in panel(client, path, step="create", do="back"), "the first guess counts"


def test_a_restart_is_offered_where_the_step_cannot_be_done(client: Client, store: Store) -> None:
    path = start(client)
    panel(client, path, step="look", do="next")
    panel(client, path, step="predict", do="next")
    sandbox = store.sandbox(path.split("/")[2])
    write.create(sandbox, [{**POD, "metadata": {"name": "webb"}}])
    html = " ".join(client.get(path).content.decode().split())
    assert "There is a Pod <code>webb</code>, but none with the name <code>web</code>." in html
    assert 'id="hint-restart"' not in html
    lesson = lessons()["one-node-one-pod"]
    path = client.post(f"/lessons/{lesson.name}/").headers["Location"]
    for step in ("look", "create"):
        html = panel(client, path, step=step, do="next")
    assert "The Pod <code>web</code>, which this step needs, does not exist" in " ".join(html.split())
    assert 'id="hint-restart"' in html


def test_the_solution_is_listed_before_it_is_carried_out(client: Client) -> None:
    path = start(client)
    panel(client, path, step="look", do="next")
    html = panel(client, path, step="predict", do="next")
    listed = html.partition('id="lesson-solution"')[2]
    assert "Create the Pod <code>web</code>:" in listed
    assert "cpu: &#x27;2&#x27;" in listed
    assert "Let simulated time run until nothing more happens." in listed
    path = client.post("/lessons/nominated-nodes/").headers["Location"]
    assert "Let 2 s of simulated time pass." in client.get(path).content.decode()


def test_a_level_keeps_the_best_result(client: Client, store: Store) -> None:
    assert "pods evicted" in row(client)
    known = Learners(store.redis)
    path = start(client)
    identifier = client.cookies["learner"].value
    for made, kept in ((3, 3), (1, 1), (2, 1)):
        sandbox = store.sandbox(path.split("/")[2])
        for number in range(made):
            write.create(sandbox, [{**POD, "metadata": {"name": f"p-{number}"}}])
        last = len(lesson().steps) - 1
        passed = frozenset(f"preempt/{check.id}" for check in lesson().steps[last].checks)
        known.update(identifier, lesson(), lambda each: replace(each, step=last, passed=passed))  # noqa: B023
        page = client.get(path).content.decode()
        assert f'action="{path}lesson/share/"' in page
        assert f"changed objects: {kept} (par 2)" in re.sub(r"\s+", " ", row(client)).replace(": ", ": ")
        start(client, again="1")


def test_a_level_whose_last_step_explains_it_keeps_the_result(client: Client, store: Store) -> None:
    level = lessons()["level-fewest-nodes"]
    path = client.post(f"/lessons/{level.name}/").headers["Location"]
    passed = frozenset(f"goal/{check.id}" for check in level.steps[0].checks)
    identifier = client.cookies["learner"].value
    Learners(store.redis).update(identifier, level, lambda each: replace(each, passed=passed))
    panel(client, path, step="goal", do="next")
    kept = Learners(store.redis).progress(identifier, level.name)
    assert kept
    assert kept.finished
    assert kept.best
    assert kept.best.nodes == 0, "no pod is bound in the test"


def test_after_three_answers_with_one_misconception_its_lesson_is_offered(client: Client) -> None:
    for _ in range(3):
        path = start(client, again="1")
        assert 'id="lesson-offer"' not in client.get(path).content.decode()
        panel(client, path, step="look", do="next")
        html = panel(client, path, step="predict", do="guess", pick="fits")
    assert 'id="lesson-offer"' in html
    assert 'action="/lessons/requests-not-usage/"' in html


def test_the_handout_has_the_steps_and_apart_from_them_the_answers(client: Client) -> None:
    html = client.get(f"/lessons/{NAME}/handout/").content.decode()
    steps, _, answers = html.partition('class="answers"')
    assert "Where does <code>web</code> run?" in steps
    assert "counts requests" not in steps
    assert "counts requests" in answers
    assert "Nowhere. It stays Pending." in answers
    assert "On <code>node-1</code>" not in answers


def test_the_teachers_notes_have_the_minutes_of_each_step_and_its_right_answer(client: Client) -> None:
    html = re.sub(r"\s+", " ", client.get("/lessons/filters/notes/").content.decode())
    assert "Lesson 3 · 15 minutes" in html
    assert "2\u20136 min" in html
    assert '<i class="ticked">✓</i> <span>Nowhere.' in html
    assert '/lessons/filters/handout/"' in html
    assert client.get(f"/lessons/{NAME}/notes/").status_code == 404


def test_texts_that_are_not_translated_are_marked_as_english(client: Client) -> None:
    path = start(client)
    with override("zh-hans"):  # restore the language, as the request changes it for this thread
        page = client.get(path, headers={"accept-language": "zh-hans"}).content.decode()
    assert '<html lang="zh-hans"' in page
    assert re.search(r'<div\s+lang="en">\s*<h2 id="lesson-heading"', page)

"""The names in bold in the texts of lessons are those of controls, fields, panels and lanes, and the page has
them at the step that names them, in each language. Other words are emphasised in italics. ``make test`` looks
at a sample of the lessons."""

from collections.abc import Iterator

import pytest
from django.conf import settings
from django.test import Client

from schedviz.lessons.catalogue import COURSE, lesson_folders, lessons
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.play import play_actions
from schedviz.store import Store
from tests.amounts import sample
from tests.processes import Process

from .page_labels import bold_in, labels_of

NAMES = [folder.name for folder in lesson_folders(COURSE)]
LANGUAGES = tuple(dict(settings.LANGUAGES))
PANELS = {
    "new/pod/": "create",
    "new/node/": "create",
    "new/priorityclass/": "create",
    "objects/": "create",
    "objects/pods/": "create",
    "objects/priorityclasses.scheduling.k8s.io/system-node-critical/": "create",
    "leader/": "create",
    "edit/nodes/node-1/": "nodes",
    "nodes/node-1/": "nodes",
    "pods/default/render-1/": "nodes",
    "pods/default/render-3/": "nodes",
    "pods/default/render-3/whatif/": "nodes",
}
"""The panels and forms that are opened from the page -> the part of the page with the controls that open
them."""

Labels = set[tuple[str, str]]


@pytest.fixture(scope="module")
def common(store: Store, worker: Process) -> dict[str, Labels]:
    """The labels, by language, of a lesson's page on which something has happened, and of its panels: lanes,
    the leader, a pod that fits nowhere, the controls of a step that is not the first one."""
    lesson = lessons()["permit-and-gangs"]
    client = Client(headers={"host": "localhost"})
    path = client.post(f"/lessons/{lesson.name}/").headers["Location"]
    sandbox = store.sandbox(path.split("/")[2])
    for step in lesson.steps[:4]:
        play_actions(sandbox, step.solution)
        client.post(f"{path}lesson/", {"step": step.id, "do": "next"})
    paused = {language: read(client, "/", language) | read(client, path, language) for language in LANGUAGES}
    for language in LANGUAGES:
        for address, part in PANELS.items():
            paused[language] |= read(client, f"{path}{address}", language, part)
    client.post(f"{path}clock/", {"do": "resume"})
    found = {language: paused[language] | read(client, path, language) for language in LANGUAGES}
    store.delete(sandbox.name)
    return found


def read(client: Client, address: str, language: str, part: str = "page") -> Labels:
    """Return the labels of a page, or of a panel that is opened from a part of the page."""
    headers = {"accept-language": language} | ({"HX-Request": "true"} if part != "page" else {})
    response = client.get(address, headers=headers)
    assert response.status_code == 200, address
    return labels_of(response.content.decode(), part)


def highlighted_nodes(lesson: Lesson) -> set[str]:
    found = {each for step in lesson.steps for each in step.highlights if each.startswith("node ")}
    return {each.removeprefix("node ") for each in found}


@pytest.mark.sampled
@pytest.mark.parametrize("name", sample(NAMES))
def test_the_page_has_what_a_lesson_names(store: Store, common: dict[str, Labels], name: str) -> None:
    lesson, client = lessons()[name], Client(headers={"host": "localhost"})
    path = client.post(f"/lessons/{lesson.name}/").headers["Location"]
    missing = []
    for language in lesson.texts:
        found = common[language] | read(client, path, language)
        found |= read(client, f"{path}scheduler/", language, "create")
        for node in highlighted_nodes(lesson):
            found |= read(client, f"{path}nodes/{node}/", language, "nodes")
        missing += [
            f"{language}: {step}: {text}"
            for step, shown, text in named(lesson, language)
            if not any(label == text and part in (*shown, "page", "lesson") for part, label in found)
        ]
    store.delete(path.split("/")[2])
    assert missing == []


def named(lesson: Lesson, language: str) -> Iterator[tuple[str, list[str], str]]:
    """Yield the step, the parts that it shows, and a text in bold, of all texts of a lesson."""
    for number, step in enumerate(lesson.steps):
        words = lesson.texts[language].steps[step.id]
        texts = [words.body, words.question, words.answer]
        texts += [*words.checks.values(), *words.hints.values(), *words.choices.values()]
        for html in texts:
            for text in bold_in(html):
                yield step.id, [*lesson.shown(number)], text

"""The upload of a lesson from the page: what is stored, what is refused, and where the lesson can be used."""

import re
import urllib.request
from html import unescape

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from schedviz.lessons.catalogue import lessons
from schedviz.lessons.kept import Full
from schedviz.lessons.uploads import Uploads
from schedviz.store import Store
from schedviz.web.lessons import upload_views as lesson_uploads
from tests.lessons.uploaded import FILES, zipped

pytestmark = pytest.mark.usefixtures("store")


def browser() -> Client:
    return Client(headers={"host": "localhost"})


def upload(client: Client, *files: tuple[str, bytes]) -> tuple[int, str]:
    """The status, and the address of the lesson or the text of the page."""
    posted = [SimpleUploadedFile(name, data) for name, data in files]
    answer = client.post("/lesson-upload/", {"files": posted})
    found = answer.headers.get("Location", "")
    return answer.status_code, found or re.sub(r"\s+", " ", unescape(answer.content.decode()))


def uploaded(client: Client) -> str:
    """Upload the lesson; return its address."""
    status, path = upload(client, ("my-lesson.zip", zipped()))
    assert status == 302
    return path


def test_the_form_is_on_the_list_and_where_a_room_is_opened() -> None:
    client = browser()
    assert 'action="/lesson-upload/"' in client.get("/lessons/").content.decode()
    assert 'href="/lesson-upload/"' in client.get("/rooms/new/").content.decode()
    page = client.get("/lesson-upload/").content.decode()
    assert "30 days after its last use" in page
    assert "16 KiB" in page


@pytest.mark.parametrize("files", [[("a.zip", zipped())], [*FILES.items()]])
def test_an_uploaded_lesson_is_used_alone(files: list[tuple[str, bytes]], store: Store) -> None:
    client = browser()
    status, path = upload(client, *files)
    assert status == 302
    page = client.get(path).content.decode()
    assert "Requests decide" in page
    assert f"http://localhost{path}" in page
    sandbox = client.post(path).headers["Location"]
    live = client.get(sandbox).content.decode()
    assert "step 1 of 4" in live
    answer = client.post(f"{sandbox}lesson/", {"step": "look", "do": "next"}, headers={"HX-Request": "true"})
    assert "step 2 of 4" in answer.content.decode()
    assert "Requests decide" in client.get(f"{path}handout/").content.decode()
    # Only visitors who have started it see it in the list.
    name = path.split("/")[2]
    assert f'id="lesson-{name}"' in client.get("/lessons/").content.decode()
    assert name not in browser().get("/lessons/").content.decode()
    assert name not in client.get("/").content.decode()
    store.delete(sandbox.split("/")[2])


def test_an_uploaded_lesson_is_used_in_a_room(store: Store) -> None:
    teacher, learner = browser(), browser()
    name = uploaded(teacher).split("/")[2]
    form = teacher.get(f"/rooms/new/?what=lesson:{name}").content.decode()
    assert re.search(rf'value="lesson:{name}"\s+selected', form)
    answer = teacher.post("/rooms/new/", {"what": f"lesson:{name}", "mode": "own", "minutes": "60"})
    code = answer.headers["Location"].split("/")[2]
    assert "Requests decide" in teacher.get(f"/rooms/{code}/teach/").content.decode()
    sandbox = learner.post(f"/rooms/{code}/", {"name": "Ada"}).headers["Location"]
    assert "step 1 of 4" in learner.get(sandbox).content.decode()
    view = teacher.get(f"/rooms/{code}/teach/").content.decode()
    assert "1/4" in view
    assert f"Ada,{name},1,4" in teacher.get(f"/rooms/{code}/teach/results.csv").content.decode()
    store.delete(sandbox.split("/")[2])


def test_another_process_reads_the_lesson_from_redis(server: str) -> None:
    path = uploaded(browser())
    with urllib.request.urlopen(f"{server}{path}handout/") as answer:
        assert b"Requests decide" in answer.read()


def test_mistakes_are_shown_with_their_lines_and_nothing_is_stored(store: Store) -> None:
    before = store.redis.zcard("schedviz:{lessons}:index")
    wrong = {
        **FILES,
        "lesson.yaml": FILES["lesson.yaml"].replace(b"minutes: 4", b"minutes: 0"),
        "en.md": FILES["en.md"].replace(b"title: Requests decide\n", b""),
    }
    status, page = upload(browser(), ("a.zip", zipped(wrong)))
    assert status == 422
    assert "The lesson has 2 mistakes. Nothing was stored." in page
    assert 'lesson.yaml:4</b> <span lang="en">minutes: must be at least 1' in page
    assert 'en.md:1</b> <span lang="en">title: is missing' in page
    assert 'action="/lesson-upload/"' in page
    assert store.redis.zcard("schedviz:{lessons}:index") == before


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "choose a zip of the lesson's folder, or its files"),
        ([("a.zip", b"PK")], "a.zip:1</b> <span lang=\"en\">not a zip that can be read"),
        ([("a.zip", bytes(200_000))], "larger than 96 KiB"),
        ([("a.zip", zipped({"en.md": b"a" * 5_000_000}))], "larger than 16 KiB"),
        ([("a.zip", zipped(folder="../x/"))], "a file of a lesson is in the lesson's folder"),
        ([("a.zip", zipped({"lesson.yaml": FILES["lesson.yaml"]}))], "cluster.yaml:1"),
        ([("lesson.yaml", b"a: !!python/object:os.system {}")], "is not allowed"),
        ([("lesson.yaml", b"a: &a [1, 2]\n" + b"b: [*a, *a, *a]\n" * 2)], "lesson.yaml:"),
        ([("run.sh", b"x")], "not a file of a lesson"),
    ],
)  # fmt: skip
def test_each_upload_beyond_a_bound_is_refused(files: list[tuple[str, bytes]], message: str) -> None:
    status, page = upload(browser(), *files)
    assert status == 422
    assert message in page


def test_html_of_an_uploaded_lesson_is_shown_as_text(store: Store) -> None:
    unsafe = FILES["en.md"].replace(
        b"The node `node-1` has", b"<script>alert(1)</script> [a](javascript:x) has"
    )
    client = browser()
    status, path = upload(client, ("a.zip", zipped({**FILES, "en.md": unsafe})))
    assert status == 302
    sandbox = client.post(path).headers["Location"]
    live = client.get(sandbox).content.decode()
    assert "&lt;script&gt;alert(1)" in live
    assert "<script>alert" not in live
    assert 'href="javascript' not in live
    store.delete(sandbox.split("/")[2])


def test_the_page_says_that_the_number_of_lessons_is_at_its_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise Full

    monkeypatch.setattr(Uploads, "add", full)
    status, page = upload(browser(), ("a.zip", zipped()))
    assert status == 429
    assert "Try again tomorrow" in page


def test_the_number_of_uploads_read_at_the_same_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lesson_uploads, "WAIT_SECONDS", 0.0)
    with lesson_uploads._turns:
        status, page = upload(browser(), ("a.zip", zipped()))
    assert status == 429
    assert "Other lessons are being read" in page


def test_a_lesson_that_was_deleted_is_not_found() -> None:
    assert browser().get(f"/lessons/upload-{'a' * 24}/").status_code == 404
    assert browser().post(f"/lessons/upload-{'a' * 24}/").status_code == 404
    assert browser().get("/lessons/preemption/").headers["Location"] == "/lessons/#lesson-preemption"
    assert "preemption" in lessons()

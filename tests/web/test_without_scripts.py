"""Every form works without scripts: it has a CSRF token that the server accepts.

The pages are walked along their links, and each form on them is posted as a browser posts it.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Final, NamedTuple
from urllib.parse import urljoin, urlsplit

import pytest
from django.http import HttpResponse
from django.test import Client, override_settings
from django.urls import resolve
from msgspec.structs import replace

from schedviz.access.links import make_link
from schedviz.api import write
from schedviz.api.from_scenario import create_from_scenario
from schedviz.jobs.comparison_job import COMPARISONS, ComparisonJob, ComparisonRequest, RequestedSide
from schedviz.jobs.find_answer import find_answer
from schedviz.jobs.job_store import JobStore
from schedviz.jobs.question import QUESTIONS, Question
from schedviz.lessons.evaluate import go_to_step
from schedviz.lessons.learners import Learners, new_learner
from schedviz.lessons.solutions import Solutions
from schedviz.lessons.uploads import Uploads
from schedviz.loop import clock
from schedviz.rooms.access import member_cookie, personal_token, teacher_cookie
from schedviz.rooms.learners import room_lessons, set_step, start_in_room
from schedviz.rooms.room import What, sandbox_name
from schedviz.rooms.room_store import Rooms
from schedviz.store import Clock, Commit, Meta, Sandbox, Store
from schedviz.store.keys import USED, Keys
from schedviz.web import guides
from schedviz.web.act import begin_act
from schedviz.web.examples import start_example
from schedviz.web.lessons.visit import begin_lesson
from schedviz.web.lifetime import lifetimes
from schedviz.web.template_loader import without_indentation
from simulator import trace
from simulator.queueing.queue_version import QueueVersion
from simulator.scheduler.pod_annotations import ANNOTATION, APPROVE, REJECT
from tests.access.test_mirrored import REAL
from tests.lessons.uploaded import FILES
from tests.loop.conftest import node, pod
from tests.messages import ROOT

from . import samples
from .test_endings import VISITOR, play
from .test_solutions import DONE

PAGES_AT_MOST: Final = 400
TICKED: Final = ("checkbox", "radio")
SECONDS_TO_THE_END: Final = 60
"""The example of the idea "queue" has ended by then."""


class Form(NamedTuple):
    """A form on a page, with one of the buttons that send it."""

    page: str
    action: str
    fields: tuple[tuple[str, str], ...]
    button: str

    @property
    def kind(self) -> tuple[str, str, tuple[str, ...]]:
        """The structure of the form, equal for forms that differ only in names and values."""
        names = tuple(sorted({name for name, _ in self.fields}))
        return resolve(urlsplit(self.action).path).route, self.button, names


class Page(HTMLParser):
    """The links and the forms that are posted, as a browser without scripts has them."""

    def __init__(self, path: str, html: str) -> None:
        super().__init__()
        self.path = path
        self.links: list[str] = []
        self.tags: list[str] = []
        self._forms: dict[str, tuple[str, list[tuple[str, str]]]] = {}
        self._buttons: list[tuple[str, str, str, str]] = []
        self._open = ""
        self._select: str | None = None
        self._textarea: str | None = None
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        owner = given.get("form", self._open)
        name, value = given.get("name", ""), given.get("value", "")
        if tag == "a" and "href" in given:
            self.links.append(urljoin(self.path, given["href"]))
        elif tag == "form":
            self._open = given.get("id") or f"form {len(self._forms)}"
            if given.get("method", "").lower() == "post":
                self.tags.append(self.get_starttag_text() or "")
                self._forms[self._open] = (given.get("action", ""), [])
        elif tag == "button" and given.get("type", "submit") == "submit":
            self._buttons.append((owner, given.get("formaction", ""), name, value))
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and ("selected" in given or not self._has(self._select)):
            self._field(owner, self._select, value)
        elif tag == "textarea":
            self._textarea = name
            self._field(owner, name, "")
        elif (
            tag == "input" and name and (given.get("type") not in ("checkbox", "radio") or "checked" in given)
        ):
            self._field(owner, name, value)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = ""
        elif tag == "select":
            self._select = None
        elif tag == "textarea":
            self._textarea = None

    def handle_data(self, data: str) -> None:
        if self._textarea and self._open in self._forms:
            fields = self._forms[self._open][1]
            fields[-1] = (self._textarea, fields[-1][1] + data)

    def forms(self) -> Iterator[Form]:
        for owner, formaction, name, value in self._buttons:
            if owner in self._forms:
                action, fields = self._forms[owner]
                sent = [*fields, (name, value)] if name else fields
                where = urljoin(self.path, formaction or action)
                yield Form(self.path, where, tuple(sent), f"{name}={value}" if name == "do" else name)

    def _has(self, name: str) -> bool:
        return any(name == known for known, _ in self._forms.get(self._open, ("", []))[1])

    def _field(self, owner: str, name: str, value: str) -> None:
        if owner in self._forms:
            self._forms[owner][1].append((name, value))


@pytest.fixture
def client() -> Client:
    return Client(enforce_csrf_checks=True, raise_request_exception=False, headers={"host": "localhost"})


@pytest.fixture
def full(store: Store, sandbox_name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sandbox]:
    """A paused sandbox whose pages have every form: a pod that waits on Permit, one at the head of the queue,
    one that was evicted, and a node with a taint; and beside it a sandbox that cannot be read, one that can
    start over, and a mirror."""
    # No job runner runs the jobs of this test. In a store of their own they do not count for other tests.
    monkeypatch.setattr("schedviz.jobs.job_store.PREFIX", f"test:{sandbox_name}")
    still = Clock(samples.START, 1.0, paused=True)
    sandbox = write.create_sandbox(store, Meta(sandbox_name), [], still)
    tainted = node("n1")
    tainted["spec"] = {"taints": [{"key": "team", "value": "a", "effect": "NoSchedule"}]}
    write.create(sandbox, [tainted, pod("waits"), pod("next"), pod("later"), pod("bound", nodeName="n1")])
    preempting = samples.preempting(4, "n1", samples.candidate("n1", 5))
    evicted = trace.VictimDeleted(samples.START, 2, "default/n1-0", "n1", "default/next", 0)
    lanes = [samples.lane("next", "activeQ", 1), samples.lane("later", "activeQ")]
    lanes.append(samples.lane("waits", "waiting", wait_until=samples.START + 5))
    sandbox.commit(
        Commit(
            trace=[trace.CycleStarted(samples.START, 2, "default/next", 1, 5), evicted],
            decisions=[samples.replace(preempting, cycle=2)],
            queue_places={entry.pod: entry for entry in lanes},
        )
    )
    sandbox.take_lease("somebody", None)
    broken = store.create(Meta(f"{sandbox_name[:50]}-broken"))
    store.redis.hset(Keys.of(broken.name).state, "clock", "{nonsense")
    anew = create_from_scenario(store, "gang", f"{sandbox_name[:50]}-anew", paused=True)
    mirror = store.create(Meta(f"{sandbox_name[:50]}-mirror", stands_down=True, mirror=REAL))
    before = store.names()
    yield sandbox
    for name in store.names() - (before - {sandbox.name, broken.name, anew.name, mirror.name}):
        store.delete(name)


def open_rooms(client: Client, store: Store) -> tuple[list[str], tuple[str, str]]:
    """Pages of three rooms: of which the client is the teacher, a learner with a hint and a question, and
    nobody; and the paths of the learner's sandbox and of the one that the teacher shares."""
    rooms, lesson = Rooms(store), room_lessons()["preemption"]
    taught, token = rooms.create("taught", What("lesson", lesson.name), "own", 3600)
    client.cookies[teacher_cookie(taught.code)] = token
    taught_member, _ = rooms.join(taught, "Bo")
    start_in_room(store, taught, taught_member.number, lesson)
    shared = sandbox_name(taught.code, taught_member.number)
    make_link(store.sandbox(shared), "view", "Cy")
    joined, _ = rooms.create("joined", What("course"), "own", 3600)
    member, token = rooms.join(joined, "Ada")
    client.cookies[member_cookie(joined.code)] = personal_token(member, token)
    start_in_room(store, joined, member.number, lesson)
    set_step(store, joined, member.number, lesson, 1)
    rooms.send_hint(joined.code, member.number, "Look at node-1.")
    other, _ = rooms.create("other", What("course"), "own", 3600)
    own = f"/s/{sandbox_name(joined.code, member.number)}/"
    paths = [
        f"/rooms/{taught.code}/teach/",
        f"/rooms/{joined.code}/me/",
        f"/rooms/{other.code}/",
        "/rooms/new/",
        f"/s/{shared}/share/",
    ]
    return [own, *paths], (own, f"/s/{shared}/share/")


def finish_level(client: Client, store: Store) -> str:
    """The path of a sandbox in which the client has finished a level."""
    learner, lesson = new_learner(), room_lessons()["pending"]
    client.cookies["learner"] = learner
    name = begin_lesson(store, lesson, learner, access="")
    Learners(store.redis).update(learner, lesson, lambda each: replace(each, finished=1.0))
    return f"/s/{name}/"


def skip_to_a_hint(client: Client, store: Store) -> str:
    """The path of a sandbox in which the learner has skipped the step whose pod the next one needs."""
    learner, lesson = client.cookies["learner"].value, room_lessons()["one-node-one-pod"]
    name = begin_lesson(store, lesson, learner, access="")
    Learners(store.redis).update(learner, lesson, lambda each: go_to_step(lesson, each, 2, 1.0))
    return f"/s/{name}/"


def walk(client: Client, *starts: str, within: tuple[str, ...]) -> Iterator[Page]:
    """All pages that are reached by links; of each table one sort order."""
    known, waiting = set(starts), [*starts]
    while waiting:
        path = waiting.pop(0)
        answer = client.get(path)
        if not answer.headers.get("Content-Type", "").startswith("text/html"):
            continue
        page = Page(path, answer.content.decode())
        yield page
        for link in page.links:
            target = urlsplit(link)
            inside = not target.netloc and not target.query and target.path.startswith(within)
            if inside and target.path not in known:
                known.add(target.path)
                waiting.append(target.path)
        assert len(known) < PAGES_AT_MOST


def in_templates() -> dict[str, re.Pattern[str]]:
    """The tag of each form in the templates that is posted -> what it looks like on a page. The pages of
    accounts are there with ``ACCOUNTS`` only: tests/accounts/cases posts their forms without scripts."""
    found: dict[str, re.Pattern[str]] = {}
    templates = ROOT / "templates"
    for path in {*templates.rglob("*.html")} - {*(templates / "accounts").iterdir()}:
        source = without_indentation(path.read_text())
        for tag in re.findall(r"<form\b(?:{[{%].*?[%}]}|[^>])*>", source):
            if 'method="post"' in tag:
                parts = [re.escape(part) for part in re.split(r"{[{%].*?[%}]}", tag)]
                found[f"{path.name}: {tag}"] = re.compile(".*".join(parts), re.DOTALL)
    return found


@pytest.fixture
def ending(store: Store, full: Sandbox) -> Iterator[None]:
    """A sandbox that will be deleted within the hour."""
    lifetimes.cache_clear()
    with override_settings(SANDBOX_LIFETIME_HOURS=100):
        store.redis.zadd(USED, {full.name: store.wall() - 99.5 * 3600})
        yield
    lifetimes.cache_clear()


@pytest.mark.long
def test_every_form_can_be_posted_without_scripts(
    client: Client, store: Store, full: Sandbox, ending: None
) -> None:
    base, beside = f"/s/{full.name}/", ("broken", "anew", "mirror")
    broken, anew, mirror = (f"/s/{full.name[:50]}-{each}/" for each in beside)
    questions = JobStore(store, QUESTIONS)
    asked = []
    for key in ("default/next", "default/waits"):
        manifest = full.get("pods", key)
        assert manifest
        question = Question(kind="what-if", sandbox=full.name, pod=key, uid=manifest["metadata"]["uid"])
        asked.append(questions.submit(question))
    find_answer(store, questions, asked[0])
    side = RequestedSide("own", None, QueueVersion.KUBERNETES, 0)
    compared = ComparisonRequest("sandbox", full.name, "", side, side, 60)
    comparison = JobStore(store, COMPARISONS).submit(ComparisonJob(request=compared))
    ended = play(store, "queue", SECONDS_TO_THE_END).sandbox
    client.cookies["visitor"] = VISITOR
    guided = start_example(store, guides.guides()[guides.FIRST].example, VISITOR)
    begun = HttpResponse()
    begin_act(begun, guided.meta().created, "/")
    client.cookies.update(begun.cookies)

    starts = ["/", base, broken, mirror, f"{anew}start-over/", f"/compare/{comparison.id}/", "/ideas/queue/"]
    starts += [f"{base}at/{full.trace_head()}/branch/", f"{base}pods/default/n1-0/evicted/"]
    starts += [f"/s/{guided.name}/", f"/s/{ended.name}/", f"/s/{ended.name}/?embed=queue"]
    starts += [f"{base}pods/default/{name}/whatif/" for name in ("next", "waits")]
    uploaded = Uploads(store.redis).add(FILES, store.wall())
    Solutions(store.redis).add("shared", replace(DONE, made=store.wall()))
    starts += ["/lesson-upload/", f"/lessons/{uploaded.name}/", "/solutions/shared/"]
    level = finish_level(client, store)
    room_pages, own = open_rooms(client, store)
    hinted = skip_to_a_hint(client, store)
    starts += [level, hinted, *room_pages]
    pages = [*walk(client, *starts, within=(base, "/bring/", "/compare/", "/ideas/filter/"))]
    clock.resume(full)
    pages += walk(client, f"{base}predict/", within=("nowhere",))
    clock.pause(full)

    tags = [tag for page in pages for tag in page.tags]
    unseen = [tag for tag, like in in_templates().items() if not any(like.fullmatch(each) for each in tags)]
    assert not unseen, "on no page of this walk: " + "\n".join(unseen)

    # The home page lists other tests' sandboxes, too.
    found = [form for page in pages for form in page.forms()]
    forms = {
        each.kind: each
        for each in found
        if each.action.startswith((base, broken, anew, mirror, *own, level, hinted))
        or each.action[:3] != "/s/"
    }
    refused = []
    # Objects are deleted last, after all other forms were posted.
    last = [each for each in forms.values() if "/delete/" in each.action]
    for form in [*(each for each in forms.values() if each not in last), *last]:
        answer = client.post(
            form.action, dict(form.fields), headers={"referer": f"http://localhost{form.page}"}
        )
        if answer.status_code == 403 or answer.status_code >= 500:
            refused.append(f"{answer.status_code} {form.action} on {form.page}: {form.fields}")
    assert not refused, "\n".join(refused)


def test_a_form_of_another_site_is_refused(client: Client, full: Sandbox) -> None:
    assert client.post(f"/s/{full.name}/delete/").status_code == 403


@pytest.mark.parametrize("word", [APPROVE, REJECT])
def test_the_buttons_of_permit_approve_and_reject(client: Client, full: Sandbox, word: str) -> None:
    for path in (f"/s/{full.name}/", f"/s/{full.name}/pods/default/waits/"):
        page = Page(path, client.get(path).content.decode())
        (form, *_) = [form for form in page.forms() if ("word", word) in form.fields]
        assert form.action == f"/s/{full.name}/pods/default/waits/permit/"
        assert client.post(form.action, dict(form.fields)).headers["Location"] == f"/s/{full.name}/"
        waiting = full.get("pods", "default/waits")
        assert waiting
        assert waiting["metadata"]["annotations"].pop(ANNOTATION).startswith(word)

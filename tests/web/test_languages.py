"""The pages are whole in each language: in one with letters of its own they have no English words, except
Kubernetes' names and texts that are marked as verbatim. (Of the others tests/test_messages.py says that each
text
has a translation.)"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any, Final, get_args

import msgspec
import pytest
from django.conf import settings
from django.test import Client

from schedviz.api import write
from schedviz.lessons.catalogue import lessons
from schedviz.store import Commit, Meta, Sandbox, Store
from schedviz.web.forms import FORMS
from schedviz.web.ideas import texts as ideas
from simulator import trace
from simulator.api import Change
from simulator.queueing.queue_version import QueueVersion
from simulator.trace.verdicts import JudgedState
from simulator.verdict_words import AnyVerdict
from tests.languages import english_words, has_own_script

from . import samples

HTMX = {"HX-Request": "true"}
VERBATIM: Final = {"code", "kbd", "pre", "script", "style", "textarea", "time", "option"}
SPOKEN: Final = {"title", "aria-label", "placeholder", "aria-roledescription", "alt"}
VOID: Final = {"meta", "link", "input", "br", "wbr", "img", "hr"}


class Reader(HTMLParser):
    """Gathers the texts that a page shows or that a screen reader announces."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self.language = language
        self.open: list[bool] = []
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        in_other = given.get("lang") not in (None, self.language)
        quiet = tag in VERBATIM or in_other or given.get("translate") == "no"
        here = quiet or (bool(self.open) and self.open[-1] and "lang" not in given)
        if not here:
            self.found += [text for name, text in attrs if name in SPOKEN and text]
        if tag not in VOID:
            self.open.append(here)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID and self.open:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if not (self.open and self.open[-1]):
            self.found.append(data)


def english(html: str, language: str = "zh-hans") -> set[str]:
    reader = Reader(language)
    reader.feed(html)
    return {
        f"{word} in {' '.join(text.split())[:80]}" for text in reader.found for word in english_words(text)
    }


own_script = pytest.mark.parametrize(
    "language", [code for code, _ in settings.LANGUAGES if has_own_script(code)]
)


@pytest.fixture
def client(redis_url: str) -> Client:
    return Client(headers={"host": "localhost", "accept-language": "zh-CN,zh;q=0.9,en;q=0.5"})


@pytest.fixture
def full(store: Store, sandbox_name: str) -> Iterator[Sandbox]:
    """A sandbox in which no part of the page is empty. Its names are not English words."""
    title = "Online services and batch jobs"
    meta = Meta(sandbox_name, title=title, scenario="online-vs-offline", queue=QueueVersion.V1_10)
    sandbox = write.create_sandbox(store, meta, [])
    taints = {"taints": [{"key": "a", "value": "b", "effect": "NoExecute"}], "unschedulable": True}
    decisions = [
        samples.SCHEDULED,
        samples.NOTHING_FITS,
        samples.preempting(4, "n1", samples.candidate("n1", 5), samples.candidate("n2", 5, 5)),
    ]
    numbered = [samples.replace(each, cycle=number) for number, each in enumerate(decisions, 1)]
    events = [sample(kind) for kind in get_args(trace.AnyEvent)]
    ended = [trace.CycleStarted(samples.START, n, "default/p1", n, 5) for n in (1, 2, 3)]
    lanes = [
        samples.lane("p2", "activeQ", nominated_node="n1"),
        samples.lane("p3", "backoffQ", backoff_until=samples.START + 5),
        samples.lane("p4", "unschedulable", message=samples.NOTHING_FITS.message, plugins=["P"]),
        samples.lane("p5", "gated", gate="g1"),
        samples.lane("p6", "waiting", wait_until=samples.START + 5),
        samples.lane("p7", "inFlight"),
    ]
    objects = [
        ("nodes", "n1", samples.node("n1", zone="z", **taints)),
        ("nodes", "n2", samples.node("n2", zone="")),
        ("pods", "default/p1", samples.pod("p1", node="n1", priority=5)),
        ("pods", "default/p8", samples.pod("p8", node="n2", deleted="2027-01-15T08:00:05Z")),
        *(("pods", each.pod, samples.pod(each.pod.removeprefix("default/"))) for each in lanes),
    ]
    sandbox.commit(
        Commit(
            [Change(resource, key, made, expected=0) for resource, key, made in objects],
            trace=[*ended, *events],
            decisions=numbered,
            queue_places={entry.pod: entry for entry in lanes},
        )
    )
    yield sandbox
    store.delete(sandbox_name)


def sample(kind: type[trace.Event]) -> trace.Event:
    """An event with something in every field."""
    values: dict[str, Any] = {
        "t": samples.START,
        "change": "updated",
        "source": "backoffQ",
        "target": "activeQ",
        "phase": "Failed",
        "reason": "taint a:NoExecute" if kind is trace.PodEvicted else "suspended",
        "message": samples.NOTHING_FITS.message,
        "resource": "pods",
        "preemptor": "default/p2",
        "pod": "default/p1",
        "node": "n1",
        "verdict": "differs" if kind in get_args(AnyVerdict) else "waiting",
        "state": JudgedState(7, 2_000_000, ["default/p1"]),
    }
    for field in msgspec.structs.fields(kind):
        hint = str(field.type)
        usual = {"dict[": {}, "list[simulator": [], "list": ["default/p1"] * 4, "bool": True, "int": 2}
        values.setdefault(field.name, next((usual[each] for each in usual if each in hint), "x1"))
    return kind(**{name: values[name] for name in kind.__struct_fields__})


@own_script
def test_a_page_has_no_english_text(client: Client, full: Sandbox, language: str) -> None:
    base = f"/s/{full.name}/"
    pages = [
        "/",
        base,
        "/s/none/",
        f"{base}pods/default/p1/",
        f"{base}pods/default/p4/",
        f"{base}pods/default/p6/",
        f"{base}nodes/n1/",
        f"{base}leader/",
        f"{base}cycles/1/?plugin=NodeResourcesFit&node=n1",
        f"{base}cycles/2/",
        f"{base}cycles/3/?play=1",
        f"{base}new/yaml/",
        f"{base}nodes/",
        f"{base}command/",
        f"{base}objects/",
        f"{base}objects/pods/",
        f"{base}scheduler/",
        f"{base}edit/pods/default/p1/",
        *(f"{base}new/{kind}/" for kind in FORMS),
        f"{base}scheduler/",
        f"{base}objects/",
        f"{base}objects/pods/",
        f"{base}edit/nodes/n1/",
        "/ideas/",
        *(f"/ideas/{name}/" for name in ideas.ideas()),
    ]
    left = []
    for path in pages:
        answer = client.get(path, follow=True, headers={"accept-language": language})
        assert answer.headers["Content-Language"] == language
        assert answer.status_code == (404 if path == "/s/none/" else 200), path
        html = answer.content.decode().replace(full.name, "").replace("default/", "")
        left += [f"{path.removeprefix(base) or 'live'}: {words}" for words in sorted(english(html, language))]
    assert not left, "\n".join(left)


def test_the_chosen_language_overrides_that_of_the_browser(client: Client) -> None:
    assert "沙箱" in client.get("/").content.decode()
    answer = client.post("/language/", {"language": "en"}, headers={"referer": "http://localhost/?q=x"})
    assert answer.headers["Location"].endswith("/?q=x")
    assert answer.cookies["django_language"]["max-age"] > 30 * 24 * 3600
    page = client.get("/").content.decode()
    assert '<html lang="en"' in page
    assert "Sandboxes" in page


@pytest.mark.parametrize("language", dict(settings.LANGUAGES))
def test_lessons_without_a_translation_are_in_english_and_say_so(client: Client, language: str) -> None:
    page = client.get("/lessons/", headers={"accept-language": language}).content.decode()
    course = [lesson for lesson in lessons().values() if not lesson.par]
    missing = [lesson for lesson in course if language not in lesson.texts]
    rows = re.findall(r'<li class="lesson-row.*?</li>', page, re.DOTALL)
    marked = [row for row in rows if 'class="untranslated"' in row]
    assert len(marked) == sum(language not in lesson.texts for lesson in lessons().values())
    assert all('lang="en"' in row for row in marked)
    assert len(missing) < len(course)

"""The frames of a whole screen: after each of them a page equals a new page."""

from collections import Counter
from html.parser import HTMLParser

import pytest
from django.utils import translation

from schedviz.store import Clock
from schedviz.web.page.screen import Look, Screen
from schedviz.web.parts.parts import Parts, merge
from simulator.api import SECOND
from simulator.commands.run import START
from simulator.trace import Nominated

from .page_model import Page
from .watched import Watched

CLOCK = Clock(START, 0.0)
LOOKS = [Look(), Look("-", "web", informer=True)]


class Ids(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.update(value for name, value in attrs if name == "id" and value)


def html(parts: Parts) -> str:
    return "".join(parts.values())


@pytest.mark.parametrize(("nodes", "language"), [(3, "zh-hans"), (70, "en")], ids=["cards", "grid"])
def test_a_page_after_each_frame_equals_a_new_page(nodes: int, language: str) -> None:
    """Pods are created, wait, are bound, evicted and deleted. The second page takes every third frame,
    merged."""
    watched, screen = Watched(nodes, cpu="2"), Screen("/s/x/")
    pages: dict[Look, Page] = {}
    waiting: dict[Look, Parts] = {look: {} for look in LOOKS}
    frames = 0
    with translation.override(language):
        for number in range(14):
            watched.create(f"web-{number}", cpu=("500m", "1", "3")[number % 3], priority=number % 7 * 100)
            for _ in watched.until(watched.now + 2 * SECOND):
                dirty, watched.picture.dirty_nodes = watched.picture.dirty_nodes, set()
                drawn = screen.draw(watched.picture, CLOCK, dirty, LOOKS)
                frames += 1
                for look in LOOKS:
                    whole = screen.whole(look)
                    if not look.informer:
                        del whole["informer"]
                    now = Page(html(whole))
                    if look not in pages:
                        pages[look] = now
                        continue
                    waiting[look] = merge(waiting[look], drawn[look])
                    if look == LOOKS[0] or frames % 3 == 0:
                        pages[look].take(waiting[look].values())
                        waiting[look] = {}
                        assert str(pages[look]) == str(now)
                assert Ids(html(screen.whole(LOOKS[0]))).found.most_common(1)[0][1] == 1
    assert frames > 25
    assert nodes > 3 or any(isinstance(event, Nominated) for _, event in watched.picture.trace)

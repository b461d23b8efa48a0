"""The pages of which pictures are taken, and how each is opened.

Every page is opened by its address or by keys, so that one way serves all screens and languages."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from playwright.sync_api import Page

from tests.programs.pictures.variants import OF_DOCUMENTS, VARIANTS, Variant

REAL: Final = "real-cluster"
"""The sandbox of the imported cluster (tests/real_cluster.py)."""
QUESTION: Final = "question"
"""A paused sandbox, in which the predict mode asks a question."""
GANGS: Final = {"pod-groups": 20, "racks": 9, "group-preemption": 14}
"""Scenarios of pod groups, and the simulated seconds after which they are shown, paused."""


class Places(NamedTuple):
    """Addresses of what was prepared."""

    preemptor: str
    """The panel of the demo's pod for which others were evicted."""
    pending: str
    """The panel of a pending pod of the imported cluster."""
    past: str
    """A past moment of the demo."""
    comparison: str


class Shot(NamedTuple):
    name: str
    show: Callable[[Page, Places], None]
    variants: Sequence[Variant] = VARIANTS


def home(page: Page, places: Places) -> None:
    page.goto("/")


def live(page: Page, places: Places) -> None:
    open_sandbox(page, "/s/demo/")


def preemption(page: Page, places: Places) -> None:
    open_sandbox(page, places.preemptor)


def past(page: Page, places: Places) -> None:
    page.goto(places.past)


def predict(page: Page, places: Places) -> None:
    open_sandbox(page, f"/s/{QUESTION}/")
    page.keyboard.press("g")
    begin, question = page.locator("#predict-go"), page.locator("#predict legend")
    begin.or_(question).first.wait_for()
    if not question.is_visible():  # the first time
        begin.click()
    question.wait_for()


def compare(page: Page, places: Places) -> None:
    page.goto(places.comparison)


def real(page: Page, places: Places) -> None:
    open_sandbox(page, f"/s/{REAL}/")


def pending(page: Page, places: Places) -> None:
    open_sandbox(page, places.pending)


def form(page: Page, places: Places) -> None:
    open_sandbox(page, "/s/demo/")
    page.keyboard.press("p")
    page.locator("dialog[open] input:visible").first.wait_for()


def ideas(page: Page, places: Places) -> None:
    page.goto("/ideas/")


def gang(page: Page, places: Places) -> None:
    open_sandbox(page, "/s/pod-groups/pod-groups/default/render/")
    page.locator("#suppose-ask").click()
    page.locator(".offers").wait_for()


def placements(page: Page, places: Places) -> None:
    open_sandbox(page, "/s/racks/pod-groups/default/train/")
    page.locator("#pod-group-panel .placements").evaluate("each => each.closest('section').scrollIntoView()")


def units(page: Page, places: Places) -> None:
    open_sandbox(page, "/s/group-preemption/pod-groups/default/serve/")
    page.locator("#pod-group-panel .units").evaluate("each => each.closest('section').scrollIntoView()")


SHOTS: Final = (
    Shot("home", home),
    Shot("live", live),
    Shot("preemption", preemption),
    Shot("past", past),
    Shot("predict", predict),
    Shot("compare", compare),
    Shot("real", real),
    Shot("pending", pending),
    Shot("form", form),
    Shot("ideas", ideas),
    Shot("gang", gang, OF_DOCUMENTS),
    Shot("placements", placements, OF_DOCUMENTS),
    Shot("units", units, OF_DOCUMENTS),
)


def open_sandbox(page: Page, address: str) -> None:
    """Open a page of a sandbox, and wait until it is live."""
    page.goto(address)
    page.locator("#connection.ok").wait_for(state="attached")

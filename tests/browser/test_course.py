"""A lesson and a level, each done on the page to the end, in Chinese."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.language import choose_language

from .test_lesson import answer, begin, goal, heading

pytestmark = pytest.mark.browser


def create(page: Page, **fields: str) -> None:
    page.locator(".create a[href$='/new/pod/']").click()
    form = page.locator("dialog[open]")
    form.locator("summary", has_text="可以在哪里运行").click()
    for name, value in fields.items():
        field = form.locator(f"[name={name}]")
        if name == "priority_class":
            field.select_option(value)
        else:
            field.fill(value)
    form.get_by_role("button", name="创建", exact=True).click()
    expect(form).to_have_count(0)


def test_a_lesson_and_a_level_in_chinese(screen: Page) -> None:
    page = screen
    page.goto("/lessons/")
    choose_language(page, "zh-hans")
    expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
    begin(page, "one-node-one-pod")
    page.locator("#lesson-next").click()
    answer(page, "node")
    expect(page.locator("#lesson-answer h3")).to_contain_text("错误")
    create(page, name="web", cpu="1")
    expect(goal(page, "created")).to_have_text("已完成")
    page.locator("#lesson-next").click()
    page.locator("#t-cycle").click()
    expect(goal(page, "bound")).to_have_text("已完成")
    page.locator("#lesson-next").click()
    page.locator("#t-event").click()
    expect(page.locator(".node .pod")).to_have_class(re.compile("running"))
    expect(goal(page, "running")).to_have_text("已完成")
    page.locator("#lesson-next").click()
    expect(page.locator("#lesson-end")).to_contain_text("你做到了。")
    expect(page.locator("#lesson-following")).to_contain_text("看请求")

    begin(page, "level-fewest-victims")
    create(page, name="checkout", cpu="3", priority_class="online", node_selector="pool=large")
    page.locator("#t-cycle").click()
    expect(page.locator("#lane-unschedulable .chip")).to_contain_text("checkout")
    page.locator("#t-cycle").click()
    expect(goal(page, "bound")).to_have_text("已完成")
    page.locator("#lesson-next").click()
    expect(heading(page)).to_have_text("过滤先于规则")
    expect(page.locator("#lesson-end")).to_contain_text("达到标准")


def test_the_end_of_a_lesson_is_scrolled_into_view_and_going_back_does_not_scroll(screen: Page) -> None:
    page = screen
    page.set_viewport_size({"width": 1280, "height": 560})
    begin(page, "older-queues")
    for step in ("first", "predict", "starve", "today"):
        page.locator("#lesson-skip").click()
        expect(page.locator("#lesson-panel")).to_have_attribute("data-step", step)
    expect(page.locator("#lesson-skip")).to_have_count(0)
    before = page.locator("#lesson-back").bounding_box()
    answer(page, "same")
    expect(page.locator("#lesson-following")).to_be_in_viewport()
    assert page.locator("#lesson-back").bounding_box() == before

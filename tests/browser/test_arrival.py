"""What a browser that opens a page for the first time has to fetch. ``make pages`` measures the time, too."""

import pytest
from playwright.sync_api import Browser

from tests.programs import measure_page
from tests.programs.measure_page import KILOBYTES, REQUESTS, arrive

pytestmark = pytest.mark.browser


def test_pages_need_few_requests_and_bytes(browser: Browser, stack: str) -> None:
    live = measure_page.start(browser, stack)
    for path in ("/", live):
        page = measure_page.open_page(browser, stack)
        found, urls = arrive(page, path)
        page.context.close()
        print(f"\n{path}: {found}")
        assert found.requests <= REQUESTS, urls
        assert 10 < found.kilobytes <= KILOBYTES
        assert any(url.endswith("/made/schedviz.css") for url in urls)
    assert any(url.startswith("ws:") for url in urls)

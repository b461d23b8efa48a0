"""Chooses the language of a page, as a visitor does."""

from playwright.sync_api import Page, expect


def choose_language(page: Page, language: str) -> None:
    """Choose a language in the menu of the bar; on a phone, in the menu More."""
    if page.locator("html").get_attribute("lang") != language:
        page.locator("[popovertarget=languages], [popovertarget=t-more]").locator("visible=true").last.click()
        page.locator(f'button[name=language][value="{language}"]').locator("visible=true").click()
    expect(page.locator("html")).to_have_attribute("lang", language)


def wait_until_live(page: Page) -> None:
    """Wait until the page says, in its language, that it is live."""
    connection = page.locator("#connection")
    expect(connection).to_have_text(connection.get_attribute("data-live") or "")

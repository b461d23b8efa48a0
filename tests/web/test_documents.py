"""The documents of the project as pages: all of them are there, and their links lead somewhere."""

import re
from html.parser import HTMLParser

from django.test import Client

from tests.test_docs import DOCUMENTS


class Links(HTMLParser):
    """The addresses to which an article leads, and the places to which links can lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.leads: list[str] = []
        self.places: set[str] = set()
        self.feed(page[page.index('<article class="prose document"') : page.index("</article>")])

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "a":
            self.leads.append(given["href"] or "")
        if "id" in given:
            self.places.add(given["id"] or "")


def test_all_links_of_all_documents_lead_to_their_place(client: Client) -> None:
    names = {path.stem.lower().replace("_", "-") for path in DOCUMENTS if path.stem != "README"}
    addresses = ["/docs/", "/docs/changelog/", *(f"/docs/{name}/" for name in sorted(names))]
    pages = {address: Links(client.get(address).content.decode()) for address in addresses}
    for address, page in pages.items():
        for lead in page.leads:
            path, _, place = lead.partition("#")
            if lead.startswith("https://"):
                continue
            if path.startswith("/docs/examples/"):
                assert client.get(path).headers["Content-Type"] == "text/plain; charset=utf-8"
                continue
            assert (path or address) in pages, f"{address} leads to {lead}"
            assert not place or place in pages[path or address].places, f"{address} leads to {lead}"
    listed = {lead.partition("#")[0] for lead in pages["/docs/"].leads}
    assert listed >= {address for address in addresses if address != "/docs/"}


def test_a_document_has_its_title_its_contents_and_its_tables(client: Client) -> None:
    page = client.get("/docs/settings/").content.decode()
    assert "<title>Settings " in page
    assert '<a href="#workers-on-other-machines">Workers on other machines</a>' in page
    assert "<td><code>PORT</code></td>" in page
    assert client.get("/docs/none/").status_code == client.get("/docs/examples/none").status_code == 404


def test_in_another_language_a_page_says_that_its_document_is_in_english(client: Client) -> None:
    page = client.get("/docs/rooms/", headers={"Accept-Language": "zh-hans"}).content.decode()
    assert re.search(r'<article class="prose document" lang="en">', page)
    assert "文档是英文的。" in page

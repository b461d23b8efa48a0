"""A browser as far as the server can tell: it keeps cookies, and posts forms with their CSRF token."""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from tests.programs.load.site import Site

TOKEN: Final = re.compile(rb'name="csrfmiddlewaretoken" value="(\w+)"')

Fields = Mapping[str, str | Sequence[str]]


class Visitor(Site):
    _token = ""

    async def open_page(self, path: str) -> bytes:
        page = await self.get(path)
        self.take_token(page)
        return page

    def take_token(self, page: bytes) -> None:
        if found := TOKEN.search(page):
            self._token = found[1].decode()

    async def post_form(self, path: str, fields: Fields) -> str:
        """Send a form as a browser without scripts does. Where the response leads."""
        options = {"data": flat(fields) | {"csrfmiddlewaretoken": self._token}, "allow_redirects": False}
        answer = await self.send("POST", path, headers={"Origin": self.origin}, **options)
        if not answer.location:
            self.errors.append(f"POST {path}: not redirected")
        return answer.location

    async def get_part(self, path: str) -> bytes:
        """As htmx does."""
        return await self.get(path, {"HX-Request": "true"})

    async def post_part(self, path: str, fields: Fields) -> bytes:
        """As htmx does."""
        headers = {"HX-Request": "true", "Origin": self.origin, "X-CSRFToken": self._token}
        return (await self.send("POST", path, headers=headers, data=flat(fields))).body


def flat(fields: Fields) -> dict[str, str | Sequence[str]]:
    return {**fields}

"""Requests to the pages: every path of schedviz.web.urls, with queries, forms, uploads and cookies."""

import json
import re
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Final
from urllib.parse import quote, urlencode

from schedviz import bundled_scenarios
from schedviz.web.urls import urlpatterns
from tests.programs.fuzz import fields, objects, values
from tests.programs.fuzz.request import Request

CSRF: Final = "Fuzz" * 8
"""The CSRF cookie and field: Django compares them, and accepts any equal values."""

COOKIES: Final = (
    "theme=dark", "theme=a", "django_language=zh-hans", "django_language=a", "visitor=0123456789ab",
    "visitor=a", "prediction=a.b.c", "prediction=", "=;=;", "a", "sessionid=a", "csrftoken=short",
)  # fmt: skip

ODD_HEADERS: Final = (
    ("Origin", "http://example.com"), ("Host", "example.com"), ("Host", "a b"), ("Referer", "http://[::1"),
    ("X-Forwarded-Host", "a"), ("Expect", "100-continue"), ("Content-Encoding", "gzip"),
    ("HX-Current-URL", "%%%"),
)  # fmt: skip

MESSAGES: Final = (
    '{"group": "zone", "q": "app=web"}', '{"q": 5}', '{"group": [], "q": null}', "[]", "a", "", "{" * 3000,
    "a" * 5000,
)  # fmt: skip
"""To a websocket."""

RICH: Final = (
    "command",
    "command-options",
    "new",
    "edit",
    "paste",
    "scheduler",
    "change-node",
    "what-if",
    "compare",
)
"""Pages whose fields have a notation of their own."""

LANGUAGES: Final = ("zh-CN,zh;q=0.9", "zh-hans", "en", "de", "*", "a;q=b,,", "")

Filling = Callable[[Random, str], str]


def whole_number(rng: Random, _: str) -> str:
    return rng.choice(("0", "1", "2", "5", "20", "100", "999999999999999", "9" * 25, "9" * 5000))


PODS: Final = tuple(
    each["metadata"]["name"]
    for scenario in bundled_scenarios.scenarios().values()
    for each in scenario.manifests
    if each["kind"] == "Pod" and "name" in each["metadata"]
)
"""The names of the pods of all scenarios."""

PLACES: Final[dict[str, Filling]] = {
    "seq": whole_number,
    "namespace": lambda rng, _: rng.choice(("default", "default", "default", *values.NAMESPACES)),
    "pod": lambda rng, _: rng.choice(("fuzz", "fuzz", *PODS, *values.NAMES)),
    "node": lambda rng, _: rng.choice(("node-1", "node-1", "node-2", "node-3", "fuzz", "canary", "missing")),
    "action": lambda rng, _: rng.choice(
        ("cordon", "uncordon", "drain", "taint", "label", "break", "mend", "press", "relieve", "delete", "a")
    ),
    "kind": lambda rng, _: rng.choice(("pod", "priorityclass", "poddisruptionbudget", "node", "yaml", "a")),
    "resource": lambda rng, _: rng.choice(objects.kinds())[0].id,
    "key": lambda rng, _: rng.choice(("default/", "default/", "")) + rng.choice(values.NAMES),
}
"""The values of the parameters of the paths, by their names."""


class Page:
    """A path of the pages."""

    def __init__(self, route: str, name: str) -> None:
        self.route = route
        self.name = name

    def path(self, rng: Random, base: str) -> str:
        """The path with a value for each of its parameters."""

        def filled(match: re.Match[str]) -> str:
            converter, place = match[1], match[2]
            if converter != "int" and rng.random() < 0.03:
                return quote(values.text(rng)[:300], safe="/" if converter == "path" else "")
            if place == "number" and converter == "slug":
                return rng.choice(("a", "0", "0123456789abcdef", "9" * 30))
            if place in PLACES:
                return PLACES[place](rng, base)
            return whole_number(rng, base) if converter == "int" else self.named(rng, base)

        path = "/" + re.sub(r"<(\w+):(\w+)>", filled, self.route)
        return path if rng.random() > 0.02 else path.rstrip("/") + rng.choice(("", "//", "/a/", "/..", "%00"))

    def named(self, rng: Random, base: str) -> str:
        """The name of a sandbox, or of an idea."""
        if self.route.startswith("ideas/"):
            return rng.choice(fields.ideas())
        if self.name in ("delete-sandbox", "start-over"):
            return rng.choice(fields.MADE)
        return base.rpartition("/")[2] if rng.random() < 0.98 else rng.choice(fields.MADE)


@cache
def pages() -> list[Page]:
    return [Page(str(each.pattern), each.name or "") for each in urlpatterns]


@cache
def weights() -> list[int]:
    """The weight of each page: pages with many fields are requested more often, and the import, which starts
    a process, less often."""
    return [1 if page.name == "bring" else 6 if page.name in RICH else 2 for page in pages()]


def request(rng: Random, number: int, base: str) -> Request:
    """``base``: the path of the sandbox, "/s/fuzz-0"."""
    page = rng.choices(pages(), weights())[0]
    path = page.path(rng, base)
    asked = fields.query(rng, page.name)
    if asked:
        path += "?" + urlencode(asked, errors="replace")
    if rng.random() < 0.02:
        path += rng.choice(("?", "?a", "?%", "?%ff=%00", "?" + "a=b&" * 1500, "?q=%u1234"))
    method, body = "GET", b""
    headers = [("Cookie", cookies(rng))]
    if rng.random() < (0.75 if page.name in fields.POSTED else 0.03):
        method = "POST"
        headers += [("X-CSRFToken", CSRF)] if rng.random() < 0.95 else []
        more, body = fields.form(rng, page.name, base)
        headers += more
    elif rng.random() < 0.03:
        method = rng.choice(("HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "FUZZ"))
    if rng.random() < 0.5:
        headers.append(("HX-Request", "true"))
    if rng.random() < 0.2:
        headers.append(("Accept-Language", rng.choice(LANGUAGES)))
    if rng.random() < 0.03:
        headers.append(rng.choice(ODD_HEADERS))
    return Request(number, method, path, headers, body)


def cookies(rng: Random) -> str:
    """With the CSRF token mostly."""
    if rng.random() < 0.02:
        return rng.choice(COOKIES)
    token = f"csrftoken={CSRF}"
    return token if rng.random() < 0.8 else f"{token}; {rng.choice(COOKIES)}"


def socket(rng: Random, number: int, base: str) -> Request:
    """A websocket of a live page, with invalid messages, or one at another address."""
    path = f"{base}/live/"
    if rng.random() < 0.3:
        path = rng.choice(
            (
                "/s/missing/live/",
                "/",
                f"{base}/",
                f"{base}/live",
                "/s/a%20b/live/",
                "/live/",
                f"{base}/live/a",
            )
        )
    if rng.random() < 0.5:
        path += "?" + urlencode(
            {rng.choice(("lang", "group", "q")): values.text(rng)[:1000]}, errors="replace"
        )
    messages = [
        rng.choice((*MESSAGES, json.dumps({"group": values.text(rng), "q": values.text(rng)[:500]})))
        for _ in range(rng.randrange(3))
    ]
    return Request(number, "GET", path, answer="socket", messages=messages)

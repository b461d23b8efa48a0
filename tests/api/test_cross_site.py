"""Origins that may write by the API of a browser's session, beside the server's own."""

from typing import Any

import pytest
from django.test import RequestFactory

from schedviz.api.cross_site import CrossSite, refuse_cross_site

TRUSTED = ["https://schedviz.example.com", "https://*.school.example:8443"]


def sent_from(origin: str) -> None:
    headers = {"Origin": origin, "Sec-Fetch-Site": "same-site", "Host": "localhost"}
    refuse_cross_site(RequestFactory().post("/s/a/api/v1/nodes", headers=headers))


@pytest.mark.parametrize(
    "origin",
    ["https://schedviz.example.com", "https://a.school.example:8443", "https://school.example:8443"],
)
def test_a_trusted_origin_may_write(origin: str, settings: Any) -> None:
    settings.CSRF_TRUSTED_ORIGINS = TRUSTED
    sent_from(origin)


@pytest.mark.parametrize(
    "origin",
    [
        "http://schedviz.example.com",
        "https://schedviz.example.com:8443",
        "https://evil-schedviz.example.com",
        "https://evilschool.example:8443",
        "https://a.school.example",
        "null",
        "http://[",
        "",
    ],
)
def test_no_other_origin_may(origin: str, settings: Any) -> None:
    settings.CSRF_TRUSTED_ORIGINS = TRUSTED
    with pytest.raises(CrossSite):
        sent_from(origin)

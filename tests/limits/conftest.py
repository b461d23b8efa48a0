"""Limits of a test's own, with nothing counted yet."""

import pytest
from django.conf import settings

from schedviz.limit_settings import LimitName
from schedviz.limits import rates, requester
from schedviz.limits.buckets import Buckets
from tests.access.conftest import owners, scene

__all__ = ["limits", "owners", "scene"]


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch) -> dict[LimitName, int]:
    """All limits are off, and the test sets those that it reaches. The buckets are not refilled meanwhile."""
    at_most = dict.fromkeys(settings.LIMITS, 0)
    monkeypatch.setattr(settings, "LIMITS", at_most)
    for name in rates.BUCKETS:
        monkeypatch.setitem(rates.BUCKETS, name, Buckets(clock=lambda: 0.0))
    monkeypatch.setattr(requester.CONFIRMED, "_until", type(requester.CONFIRMED._until)())
    return at_most

"""Templates: each one compiles, also those that few pages show."""

from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template

TEMPLATES: Path = settings.BASE_DIR / "templates"


@pytest.mark.parametrize(
    "path", sorted(TEMPLATES.rglob("*.*")), ids=lambda path: str(path.relative_to(TEMPLATES))
)
def test_every_template_compiles(path: Path) -> None:
    get_template(str(path.relative_to(TEMPLATES)))

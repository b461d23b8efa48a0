"""The screens, colours and languages in which each page is taken."""

from typing import Any, Final, NamedTuple


class Variant(NamedTuple):
    name: str
    """The end of the file's name."""
    options: dict[str, Any]
    """Options of Playwright's ``Browser.new_context``."""


PROJECTOR: Final = {"width": 1280, "height": 720}
PHONE: Final = {"width": 390, "height": 844}

VARIANTS: Final = (
    Variant("light", {"viewport": PROJECTOR}),
    Variant("1920", {"viewport": {"width": 1920, "height": 1080}}),
    Variant("phone", {"viewport": PHONE, "is_mobile": True, "has_touch": True}),
    Variant("dark", {"viewport": PROJECTOR, "color_scheme": "dark"}),
    Variant("chinese", {"viewport": PROJECTOR, "locale": "zh-CN"}),
)
OF_DOCUMENTS: Final = tuple(each for each in VARIANTS if each.name in ("light", "dark"))
"""Those of a page that only a document shows."""

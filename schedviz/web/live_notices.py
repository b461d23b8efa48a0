"""The notices that a hub puts into open pages: what stands still, and what is refused."""

from typing import Literal

from django.utils import translation
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from schedviz.store import Trouble
from schedviz.web.parts.parts import Parts
from schedviz.web.trouble import trouble_text

Away = Trouble | Literal["worker"] | None
"""The reason for which all sandboxes stand still: Redis does not answer, or no worker is alive; None = they
do not."""


def notice(text: str, away: str = "") -> SafeString:
    """Return the element of the notice. away: why all sandboxes stand still, for the scripts."""
    return format_html(
        '<div id="trouble" role="alert" data-away="{}" hx-swap-oob="true">{}</div>', away, text
    )


def away_notice(language: str, away: Away) -> Parts:
    """Return the notice while Redis or all workers are away; empty when they are there again."""
    with translation.override(language):
        if away is None:
            return {"trouble": notice("")}
        if away == "worker":
            text = gettext(
                "No worker is running, so simulated time has stopped in all sandboxes. It continues "
                "automatically when a worker runs."
            )
            return {"trouble": notice(text, "worker")}
        return {"trouble": notice(trouble_text(away).banner, "redis")}


def too_many_looks(language: str) -> Parts:
    """Return the message to a viewer whose filter is refused."""
    with translation.override(language):
        return {"trouble": notice(gettext("Too many people are filtering this sandbox. Try again later."))}

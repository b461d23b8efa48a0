"""The texts of the pages while Redis does not serve."""

from typing import NamedTuple

from django.utils.translation import gettext

from schedviz.store import Trouble


class TroubleText(NamedTuple):
    title: str
    heading: str
    text: str
    """The text of the error page."""
    banner: str
    """The text of the banner on a live page."""


def trouble_text(trouble: Trouble) -> TroubleText:
    """The texts for a trouble, in the active language."""
    match trouble:
        case Trouble.AWAY:
            return TroubleText(
                gettext("Redis is unavailable"),
                gettext("Redis does not answer"),
                gettext("All sandboxes live in Redis."),
                gettext("Redis does not answer. This page goes on by itself when it is back."),
            )
        case Trouble.FULL:
            return TroubleText(
                gettext("Redis is out of memory"),
                gettext("Redis is out of memory"),
                gettext(
                    "Nothing was stored. Delete sandboxes that are not needed, or give Redis more memory "
                    "(its setting maxmemory); the sandboxes go on by themselves then."
                ),
                gettext(
                    "Redis is out of memory. Nothing is stored, and all sandboxes stand still, until it has "
                    "memory again; then they go on by themselves."
                ),
            )
        case Trouble.READ_ONLY:
            return TroubleText(
                gettext("Redis stores nothing"),
                gettext("Redis stores nothing"),
                gettext(
                    "Nothing was stored: Redis cannot write its file (is its disk full?), or it is a "
                    "replica. When it stores again, the sandboxes go on by themselves."
                ),
                gettext(
                    "Redis stores nothing: it cannot write its file, or it is a replica. All sandboxes stand "
                    "still until it stores again; then they go on by themselves."
                ),
            )

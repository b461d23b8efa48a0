"""The bundled scenarios in the active language."""

from django.utils.translation import gettext
from msgspec.structs import replace

from schedviz.bundled_scenarios import scenarios
from schedviz.store import Meta
from simulator.scenario import Scenario


def offered() -> list[Scenario]:
    """Return all scenarios, with title and summary in the active language."""
    return [
        replace(each, title=gettext(each.title), summary=gettext(each.summary))
        for each in scenarios().values()
    ]


def translated_meta(meta: Meta) -> Meta:
    """Return ``meta`` with title and summary of a bundled scenario in the active language. The title of a
    branch names what was changed in it, or else the event at which it was branched."""
    if meta.scenario:
        meta = replace(meta, title=gettext(meta.title), summary=gettext(meta.summary))
    if meta.origin:
        origin = meta.origin
        text = gettext("%(title)s, from event %(seq)s on")
        if origin.change:
            text = gettext("%(title)s, what if: %(change)s")
        values = {"title": meta.title or origin.sandbox, "seq": origin.seq, "change": origin.change}
        meta = replace(meta, title=text % values)
    return meta

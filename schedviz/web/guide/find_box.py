"""The box above the board: about the visitor's own act, or the end of the scenario."""

from django.http import HttpRequest

from schedviz.cache import Current
from schedviz.web.act import is_ending_closed, read_act
from schedviz.web.guide.box import GuideBox, present_box
from schedviz.web.guide.endings import EndingView, present_ending


def find_box(request: HttpRequest, source: Current, embed: object) -> GuideBox | EndingView | None:
    """Return the box above the board: about the visitor's act, or the end of the scenario. In a frame it is
    only about the end."""
    meta = source.meta()
    box = None if embed else present_box(source, meta, read_act(request, meta.created))
    if box is None and not is_ending_closed(request, meta.created):
        return present_ending(source, meta)
    return box

"""The result of a level beside its par."""

import msgspec
from django.utils.translation import gettext

from schedviz.lessons.lesson import Par
from schedviz.lessons.result import Result


class ResultView(msgspec.Struct, frozen=True):
    """One number of a result."""

    title: str
    value: int | None
    """The value of the result; None = there is no result yet."""
    par: int

    @property
    def reached(self) -> bool:
        return self.value is not None and self.value <= self.par


def present_results(par: Par | None, result: Result | Par | None) -> list[ResultView]:
    """Return the results that the par of a level counts; none for other lessons."""
    titles = {
        "victims": gettext("pods evicted"),
        "nodes": gettext("nodes with pods"),
        "edits": gettext("changed objects"),
    }
    return [
        ResultView(title, getattr(result, field) if result else None, best)
        for field, title in titles.items()
        if par is not None and (best := getattr(par, field)) is not None
    ]

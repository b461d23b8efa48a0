"""Says when a request changes a sandbox in which another visitor hides the answers of Predict, and how to end
that: the right answer would change after the question was asked."""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext

from schedviz.access.asker import asker_of
from schedviz.access.rights import Right
from schedviz.api.refused import is_review
from schedviz.cache import read_ahead
from schedviz.rooms.access import has_rights
from schedviz.rooms.room import is_reserved
from schedviz.routes import Route, is_of_api
from schedviz.store.default import default_store
from schedviz.web.predict.viewer import read_holds


def find_refusal(request: HttpRequest, route: Route, named: dict[str, Any]) -> str:
    """Return the message for a request that a hold refuses; "" = none does. Only the presenter may change the
    sandbox. The API does not know who that is."""
    if "name" not in named or not route.is_change(request):
        return ""
    if "path" in named and is_review(request, named["path"]):
        return ""
    hold = default_store().hold(named["name"])
    # The views of these paths write before anything else could make what is read here outdated.
    stored = read_ahead(named["name"]) if "path" in named else None
    held = hold.token() if stored is None else hold.token_in(stored)
    if not held:
        return ""
    if is_of_api(request):
        return (
            "a presenter hides the answers of Predict in this sandbox: it can be changed when they are not "
            "hidden any more. The presenter and the owner of the sandbox end that in its panel Predict"
        )
    return "" if held in read_holds(request) else refusal_text(request, named["name"])


def refusal_text(request: HttpRequest, sandbox: str) -> str:
    """Return the message of a refusal; it says who can end the hold."""
    text = gettext(
        "A presenter hides the answers of Predict in this sandbox. Until they are shown, only the "
        "presenter can change the sandbox or step, pause and resume it."
    )
    return f"{text} {_ending(request, sandbox)}"


def may_end_hold(request: HttpRequest, sandbox: str) -> bool:
    """Whether the visitor may end the hold of another one: the owner and the teacher may. Where all own a
    sandbox, only the presenter may."""
    return asker_of(request).right == Right.OWN and has_rights(sandbox)


def _ending(request: HttpRequest, sandbox: str) -> str:
    if may_end_hold(request, sandbox):
        return gettext("You can end that: open Predict, then For an audience, then Stop hiding the answers.")
    if is_reserved(sandbox):
        return gettext("The presenter and the teacher can end that in Predict.")
    if has_rights(sandbox):
        return gettext("The presenter and the owner of the sandbox can end that in Predict.")
    return gettext("It also ends three hours after the last guess.")

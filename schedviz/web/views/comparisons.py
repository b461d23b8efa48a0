"""The pages of comparisons: the form, and for each comparison its progress and its result."""

from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from schedviz.comparisons.order import Order, Orders, TooManyComparisons
from schedviz.store.default import default_store
from schedviz.web import comparison_form as wishes
from schedviz.web import scenarios
from schedviz.web.presenters import comparison_result as view
from schedviz.web.views.page import is_htmx


@require_http_methods(["GET", "HEAD", "POST"])
def comparison_form(request: HttpRequest) -> HttpResponse:
    """The form, filled in from the address where that says something; see
    :func:`schedviz.web.comparison_form.parse_comparison` for its fields."""
    if request.method != "POST":
        return _form(request, {})
    posted = {name: str(value) for name, value in request.POST.items()}
    try:
        wish = wishes.parse_comparison(default_store(), posted)
        order = Orders(default_store()).ask(wish)
    except wishes.InvalidField as invalid:
        return _form(request, {invalid.field: str(invalid)})
    except TooManyComparisons:
        return _form(request, {"": gettext("Others are comparing just now. Try again in a minute.")})
    return redirect("comparison", order.id)


@require_safe
def comparison_page(request: HttpRequest, number: str) -> HttpResponse:
    """The result or the progress of a comparison. A request of htmx gets the progress only, and a header that
    reloads the page when the comparison is finished."""
    order = _find(number)
    if is_htmx(request):
        if order.finished:
            return HttpResponse(headers={"HX-Refresh": "true"})
        return render(request, "compare/progress.html", _comparison_context(order))
    context = _comparison_context(order)
    if order.result is not None:
        context["view"] = view.present_comparison(order.result)
    return render(request, "compare/result.html", context)


@require_POST
def stop_comparison(request: HttpRequest, number: str) -> HttpResponse:
    order = _find(number)
    if not order.finished:
        Orders(default_store()).stop(order)
    return redirect("comparison", order.id)


def _find(number: str) -> Order:
    order = Orders(default_store()).read(number)
    if order is None:
        raise Http404(gettext("This comparison is not kept any more. Make it again."))
    return order


def _comparison_context(order: Order) -> dict[str, Any]:
    wish = order.wish
    title = wish.name or gettext("pasted manifests")
    if wish.source == "scenario":
        title = next((each.title for each in scenarios.offered() if each.name == wish.name), title)
    return {
        "order": order,
        "title": title,
        "percent": int(order.done * 100),
        "sides": [("A", wishes.preset_label(wish.a), wish.a), ("B", wishes.preset_label(wish.b), wish.b)],
        "again": urlencode(
            {"workload": f"{wish.source}:{wish.name}", "a": wish.a.preset, "b": wish.b.preset}
        ),
    }


def _form(request: HttpRequest, errors: dict[str, str]) -> HttpResponse:
    given = request.POST if request.method == "POST" else request.GET
    sides = [
        {
            "name": name,
            "title": name.upper(),
            "chosen": given.get(name, preset),
            "yaml": given.get(f"{name}_yaml", ""),
            "seed": given.get(f"{name}_seed", ""),
            "error": errors.get(name, ""),
            "yaml_error": errors.get(f"{name}_yaml", ""),
            "seed_error": errors.get(f"{name}_seed", ""),
        }
        for name, preset in (("a", wishes.OWN), ("b", "packing"))
    ]
    context = {
        "scenarios": scenarios.offered(),
        "sandboxes": sorted(meta.name for meta in default_store().sandboxes()),
        "presets": wishes.PRESETS,
        "workload": given.get("workload", f"scenario:{scenarios.FIRST}"),
        "text": given.get("text", ""),
        "until": given.get("until", wishes.DEFAULT_DURATION),
        "sides": sides,
        "errors": errors,
    }
    status = HTTPStatus.UNPROCESSABLE_ENTITY if errors else HTTPStatus.OK
    return render(request, "compare/form.html", context, status=status)

"""Shared solutions of levels: a learner shares one, and all visitors who have its address see it."""

from http import HTTPStatus
from typing import Final

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language, gettext

from schedviz.lessons.catalogue import lessons
from schedviz.lessons.situation import situation_of
from schedviz.lessons.solutions import (
    AUTHOR_AT_MOST,
    KEPT_SECONDS,
    Solution,
    Solutions,
    goal_step,
    is_solved,
    solution_key,
    solution_of,
)
from schedviz.limits.requester import requester_of, whose_of
from schedviz.rooms.room import clean_name
from schedviz.store.default import default_store
from schedviz.web.download.views import draw_picture
from schedviz.web.lessons.result import present_results
from schedviz.web.lessons.visit import find_visit
from schedviz.web.sources import find_present

KEPT_DAYS: Final = KEPT_SECONDS // 86_400


def share_solution(request: HttpRequest, name: str) -> HttpResponse:
    """Store the solution of a level, as its sandbox is now. Field ``author``: a name, or nothing."""
    source, store = find_present(name), default_store()
    visit = find_visit(request, source)
    if visit is None or visit.watched or visit.lesson.par is None:
        raise Http404(gettext("“%(name)s” is not your sandbox of a lesson.") % {"name": name})
    situation = situation_of(source, visit.progress)
    if not is_solved(visit.lesson, situation):
        return render(request, "lessons/not_solved.html", {"name": name}, status=HTTPStatus.CONFLICT)
    solution = solution_of(
        visit.lesson,
        visit.progress,
        situation,
        author=clean_name(request.POST.get("author", ""), AUTHOR_AT_MOST),
        made=store.wall(),
        picture=draw_picture(source).encode(),
    )
    key = solution_key(visit.learner, visit.progress)
    Solutions(store.redis).add(key, solution, whose_of(requester_of(request)))
    return redirect("solution", key)


def solution_page(request: HttpRequest, token: str) -> HttpResponse:
    solution = _find(token)
    lesson = lessons().get(solution.lesson)
    if lesson is None:
        raise Http404(gettext("The level of this solution was deleted."))
    language = get_language() or "en"
    text = lesson.text(language)
    goal = goal_step(lesson)
    context = {
        "token": token,
        "solution": solution,
        "lesson": lesson.name,
        "text": text,
        "language": language if language in lesson.texts else "en",
        "goals": [text.steps[goal.id].checks[check.id] for check in goal.checks],
        "results": present_results(lesson.par, solution.result),
        "days": KEPT_DAYS,
        "link": request.build_absolute_uri(),
    }
    return render(request, "lessons/solution.html", context)


def solution_picture(request: HttpRequest, token: str) -> HttpResponse:
    """Return the nodes and their pods, as SVG."""
    return HttpResponse(_find(token).picture, content_type="image/svg+xml")


def _find(token: str) -> Solution:
    solution = Solutions(default_store().redis).find(token[:100])
    if solution is None:
        raise Http404(gettext("This solution does not exist, or was deleted."))
    return solution

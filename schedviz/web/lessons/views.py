"""The lessons: their list, the learner's sandbox of each, the panel beside its live page, the handout and the
teacher's notes."""

from urllib.parse import quote

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext

from schedviz.lessons.catalogue import lessons
from schedviz.lessons.evaluate import go_to_step, guess
from schedviz.lessons.learners import Learners
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.offline import NotReached
from schedviz.lessons.play import play_actions
from schedviz.lessons.progress import Progress
from schedviz.lessons.restart import carry_out, restart_step
from schedviz.lessons.situation import situation_of
from schedviz.lessons.undo import undo
from schedviz.lessons.uploads import is_upload
from schedviz.limits.requester import new_record
from schedviz.rooms.create_sandboxes import start_sandbox
from schedviz.rooms.notify import notify_teacher
from schedviz.rooms.room_store import Rooms
from schedviz.rooms.together import Wait, find_wait, is_collected
from schedviz.store import Store
from schedviz.store.default import default_store
from schedviz.web.answers import is_htmx
from schedviz.web.lessons.handout import present_handout
from schedviz.web.lessons.learner import known_learner, learner, write_learner
from schedviz.web.lessons.list import numbers, present_lessons
from schedviz.web.lessons.notes import present_notes
from schedviz.web.lessons.upload_views import upload_bounds, uploaded_page
from schedviz.web.lessons.visit import (
    Current,
    Visit,
    begin_lesson,
    find_begun,
    find_visit,
    look_at_lesson,
    may_undo,
    with_result,
)
from schedviz.web.reasons.faults import explain_refusal
from schedviz.web.sources import address, find_present
from simulator.apiserver.status import StatusError


def lesson_list(request: HttpRequest) -> HttpResponse:
    return render_list(request)


def start_lesson(request: HttpRequest, name: str) -> HttpResponse:
    """Open the learner's sandbox of the lesson; create it if there is none. Field ``again``: create it again,
    and begin with the first step. GET: the page of an uploaded lesson; others are in the list."""
    if request.method != "POST":
        lesson = find_lesson(name)
        if is_upload(name):
            return uploaded_page(request, lesson)
        return redirect(f"{reverse('lessons')}#lesson-{name}")
    lesson, identifier, store = find_lesson(name), learner(request), default_store()
    found = None if "again" in request.POST else find_begun(store, lesson, identifier)
    try:
        sandbox = found or begin_lesson(store, lesson, identifier, new_record(request))
    except StatusError as refused:
        return render_list(request, explain_refusal(refused), refused.code)
    response = redirect("sandbox", sandbox)
    write_learner(request, response, identifier)
    return response


def handout(request: HttpRequest, name: str) -> HttpResponse:
    lesson = find_lesson(name)
    number = numbers(lessons().values()).get(name, 0)
    return render(request, "lessons/handout.html", {"paper": present_handout(lesson, number), "name": name})


def teacher_notes(request: HttpRequest, name: str) -> HttpResponse:
    lesson = find_lesson(name)
    if lesson.notes is None:
        raise Http404(gettext("The lesson “%(name)s” has no notes for teachers.") % {"name": name})
    page = present_notes(lesson, lesson.notes, numbers(lessons().values()).get(name, 0))
    return render(request, "lessons/notes.html", {"paper": page, "name": name})


def lesson_panel(request: HttpRequest, name: str) -> HttpResponse:
    """Render the panel. GET with ``shown``: 204 if it has not changed since. POST: ``do`` = guess (with
    ``pick``), next, back, undo, again (restart the step), reset or solution, at the step ``step``."""
    source = find_present(name)
    visit = find_visit(request, source)
    if visit is None:
        raise Http404(gettext("“%(name)s” is not your sandbox of a lesson.") % {"name": name})
    if request.method == "POST":
        try:
            reload = act(request, visit, source)
        except (StatusError, ValueError, NotReached) as refused:
            text = refused.message if isinstance(refused, StatusError) else str(refused)
            return HttpResponseBadRequest(text, "text/plain", headers={"X-Trouble": quote(text)})
        if not is_htmx(request):
            return redirect("sandbox", name)
        if reload:
            return HttpResponse(status=204, headers={"HX-Refresh": "true"})
        source = find_present(name)
        visit = find_visit(request, source) or visit
    panel = look_at_lesson(visit, source)
    if request.method != "POST" and request.GET.get("shown") == panel.shown:
        return HttpResponse(status=204)
    return render(request, "lessons/panel.html", {"lesson": panel, "base": address(source.sandbox)})


def act(request: HttpRequest, visit: Visit, source: Current) -> bool:
    """Do what was posted. Returns whether the page must be loaded again, because its sandbox was created
    again. What was posted at another step changes nothing. Raises StatusError, ValueError, NotReached."""
    lesson, store = visit.lesson, default_store()
    now, step, do = store.wall(), request.POST.get("step", ""), request.POST.get("do", "")
    if step != lesson.steps[visit.progress.step].id:
        return False
    if visit.watched and do != "solution":
        raise ValueError(gettext("Only the learner can do this."))
    if do == "reset":
        restart(request, store, visit)
        return True
    if do == "undo":
        if may_undo(visit, situation_of(source, visit.progress)):
            undo(store, source.sandbox)
        return True
    if do == "again" and visit.owns_sandbox:
        restart_step(store, visit.learner, lesson, visit.progress)
        return True
    if do == "solution":
        return solve(store, visit, source)

    room = visit.state

    def change(progress: Progress) -> Progress:
        if lesson.steps[progress.step].id != step:
            return progress
        if do == "next" and room and (wait := find_wait(room, lesson, progress)):
            raise ValueError(say_wait(wait))
        match do:
            case "guess":
                return guess(
                    lesson,
                    progress,
                    request.POST.getlist("pick"),
                    now,
                    collected=bool(room and is_collected(room, lesson, progress.step)),
                )
            case "next" if progress.step + 1 < len(lesson.steps):
                after = go_to_step(lesson, progress, progress.step + 1, now)
                return with_result(lesson, progress, after, situation_of(source, progress))
            case "back" if progress.step:
                return go_to_step(lesson, progress, progress.step - 1, now)
        return progress

    Learners(store.redis).update(visit.learner, lesson, change)
    if visit.room:
        notify_teacher(visit.room[0])
    return False


def say_wait(wait: Wait) -> str:
    if wait == "lock":
        return gettext("The teacher has locked this step.")
    return gettext("The teacher collects the answers: wait until the answer is revealed.")


def solve(store: Store, visit: Visit, source: Current) -> bool:
    """Carry out the solution of the step. Returns whether the sandbox was created again for it. Raises
    StatusError, ValueError, NotReached."""
    if not visit.may_solve:
        raise ValueError(gettext("Only the teacher shows the solution, because all share this sandbox."))
    if visit.watched:
        play_actions(source.sandbox, visit.lesson.steps[visit.progress.step].solution)
        return False
    restarted = carry_out(store, visit.learner, visit.lesson, visit.progress, may_restart=visit.owns_sandbox)
    if visit.room:
        notify_teacher(visit.room[0])
    return restarted


def restart(request: HttpRequest, store: Store, visit: Visit) -> None:
    """Begin the lesson again, in a new cluster. A cluster that a room shares stays. Raises StatusError."""
    if visit.room is None:
        begin_lesson(store, visit.lesson, visit.learner, new_record(request))
    elif visit.owns_sandbox:
        start_sandbox(store, Rooms(store).find(visit.room[0]), visit.room[1], visit.lesson.name)


def render_list(request: HttpRequest, error: str = "", status: int = 200) -> HttpResponse:
    store, identifier = default_store(), known_learner(request)
    progress = Learners(store.redis).all_progress(identifier) if identifier else {}
    uploaded = [known for name in progress if is_upload(name) and (known := lessons().get(name))]
    found = present_lessons(lessons().values(), progress, store.names(), uploaded)
    context = {"lessons": found, "error": error, **upload_bounds()}
    return render(request, "lessons/index.html", context, status=status)


def find_lesson(name: str) -> Lesson:
    try:
        return lessons()[name]
    except KeyError:
        raise Http404(gettext("There is no lesson “%(name)s”.") % {"name": name}) from None

"""The upload of a lesson, and the page of an uploaded lesson."""

from collections.abc import Sequence
from http import HTTPStatus
from threading import BoundedSemaphore
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language, gettext

from schedviz.lessons.kept import Full
from schedviz.lessons.lesson import Lesson
from schedviz.lessons.mistakes import LessonError, Mistake
from schedviz.lessons.unpack import FILE_BYTES, UPLOAD_BYTES, names_of_texts, refusal, unpack
from schedviz.lessons.uploads import KEPT_SECONDS, Uploads
from schedviz.limits.rates import count_upload
from schedviz.limits.requester import requester_of, whose_of
from schedviz.store.default import default_store
from schedviz.store.exceeded import LimitExceeded
from schedviz.web.limits import text_of, with_time

KEPT_DAYS: Final = KEPT_SECONDS // 86_400
AT_ONCE: Final = 1
"""Number of lessons that a web process reads at the same time; each takes up to some seconds of a core."""
WAIT_SECONDS: Final = 10.0

_turns = BoundedSemaphore(AT_ONCE)


def upload_lesson(request: HttpRequest) -> HttpResponse:
    """Render the form. Field ``files``: a zip of a lesson's folder, or its files."""
    if request.method != "POST":
        return _form(request)
    given = request.FILES.getlist("files")
    if not _turns.acquire(timeout=WAIT_SECONDS):
        error = gettext("Other lessons are being read. Try again in a minute.")
        return _form(request, error=error, status=HTTPStatus.TOO_MANY_REQUESTS)
    try:
        if sum(each.size or 0 for each in given) > UPLOAD_BYTES:
            raise refusal("", f"larger than {UPLOAD_BYTES >> 10} KiB")
        files = unpack([(each.name or "", each.read()) for each in given])
        store = default_store()
        requester = requester_of(request)
        lesson = Uploads(store.redis).add(
            files, store.wall(), lambda: count_upload(requester), whose_of(requester)
        )
    except LessonError as wrong:
        return _form(request, wrong.mistakes, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except Full:
        error = gettext("Too many lessons were uploaded and used today. Try again tomorrow.")
        return _form(request, error=error, status=HTTPStatus.TOO_MANY_REQUESTS)
    except LimitExceeded as exceeded:
        error = text_of(exceeded.limit, exceeded.retry_after_seconds)
        return with_time(_form(request, error=error, status=HTTPStatus.TOO_MANY_REQUESTS), exceeded)
    finally:
        _turns.release()
    return redirect("start-lesson", lesson.name)


def uploaded_page(request: HttpRequest, lesson: Lesson) -> HttpResponse:
    language = get_language() or "en"
    context = {
        "name": lesson.name,
        "text": lesson.text(language),
        "language": language if language in lesson.texts else "en",
        "minutes": lesson.minutes,
        "steps": len(lesson.steps),
        "link": request.build_absolute_uri(reverse("start-lesson", args=[lesson.name])),
        "days": KEPT_DAYS,
    }
    return render(request, "lessons/uploaded.html", context)


def upload_bounds() -> dict[str, object]:
    """Return the bounds that the form prints, and the names of the files of texts."""
    return {"file_kib": FILE_BYTES >> 10, "days": KEPT_DAYS, "texts": names_of_texts()[1:]}


def _form(
    request: HttpRequest,
    mistakes: Sequence[Mistake] = (),
    error: str = "",
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    context = {"mistakes": mistakes, "error": error, **upload_bounds()}
    return render(request, "lessons/upload.html", context, status=status)
